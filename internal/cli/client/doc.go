// Package client holds the command-line tools that talk to a running cluster, from
// topics to the performance tests. They use public client libraries only, so they work
// against any Kafka, and behave as the tools of Apache Kafka 4.4 do: flags, output,
// exit codes.
//
// Each tool is one function
//
//	Topics(args []string, io IO) (exit int)
//
// that keeps no state between calls. Its files begin with its name.
//
// What tools share:
//
//	tool.go            streams, command lines, errors, connections
//	door.go            a way into a cluster: by brokers, or by controllers
//	output.go          tables, and JSON for programs
//	why.go             topics why and groups why: what a node tells on its admin listener
//	flag_tables.go     what shells complete
//	java_order.go      the order in which Apache's tools print maps
//	java_date.go       times as Java writes them
//	topic_filter.go    expressions that choose topics
//	uuid.go            ids as users type them
//	wait_topic.go      a topic that the cluster may have to make first
//
// Topics and their records:
//
//	topics.go              topics: options and actions; topics_describe.go and
//	                       topics_json.go its output, topics_why.go topics why
//	get_offsets.go         get-offsets
//	delete_records.go      delete-records
//	console_producer.go    console-producer; line_reader.go how it reads lines
//	console_consumer.go    console-consumer; console_consumer_group.go what it commits,
//	                       formatter.go how it prints records, formatter_internal.go
//	                       those of internal topics
//
// Configurations:
//
//	configs.go             configs: options and actions; configs_args.go its arguments,
//	                       configs_describe.go and configs_json.go its output,
//	                       configs_admin.go what it asks
//	client_metrics.go      client-metrics
//
// Groups:
//
//	consumer_groups.go     consumer-groups: options and actions; a file for each action:
//	                       consumer_groups_list.go, consumer_groups_describe.go,
//	                       consumer_groups_delete.go, consumer_groups_reset.go;
//	                       consumer_groups_plan.go: CSV, dates and durations;
//	                       consumer_groups_json.go: groups for programs
//	groups.go              groups; groups_why.go groups why
//	group_admin.go         what the tools for groups ask brokers
//
// Transactions:
//
//	transactions.go        transactions: options and what coordinators know;
//	                       transactions_hanging.go what partitions know
//
// The cluster:
//
//	cluster.go             cluster
//	api_versions.go        broker-api-versions
//	features.go            features
//	metadata_quorum.go     metadata-quorum; quorum_members.go who is a voter
//	log_dirs.go            log-dirs
//
// Measuring and testing:
//
//	perf_producer.go       producer-perf-test; perf_producer_options.go its command line,
//	                       perf_payload.go its records, perf_stats.go its figures
//	perf_consumer.go       consumer-perf-test
//	e2e_latency.go         e2e-latency
//	verifiable_producer.go, verifiable_consumer.go   tell of each record in JSON
package client

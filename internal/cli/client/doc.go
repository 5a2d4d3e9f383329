// Package client holds the command-line tools that talk to a running cluster, from
// topics to the performance tests. They use public
// client libraries only, so they work against any Kafka, and behave as the tools
// of Apache Kafka 4.4 do: flags, output, exit codes.
//
// Each tool is one function
//
//	Topics(args []string, io IO) (exit int)
//
// that keeps no state between calls.
//
//	tool.go            what tools share: streams, errors, connection
//	topics.go          topics: options and actions; topics_describe.go, topics_json.go its output
//	why.go             topics why and groups why: what a node tells on its admin
//	                   listener; topics_why.go, groups_why.go what is printed of it
//	get_offsets.go     get-offsets
//	delete_records.go  delete-records
//	log_dirs.go        log-dirs
//	door.go            a way into a cluster: by brokers, or by controllers
//	output.go          tables, and JSON for programs
//	api_versions.go    broker-api-versions
//	cluster.go         cluster
//	features.go        features
//	metadata_quorum.go, quorum_members.go  metadata-quorum
//	perf_producer.go, perf_producer_options.go, perf_payload.go, perf_stats.go  producer-perf-test
//	perf_consumer.go, java_date.go         consumer-perf-test
//	e2e_latency.go     e2e-latency
//	verifiable_producer.go, verifiable_consumer.go  the two that print JSON for test programs
//	formatter_internal.go  console-consumer's formatters of internal topics
//	flag_tables.go     what shells complete
//	socket.go          sizes of sockets' buffers
//	topic_filter.go    expressions that choose topics
//	uuid.go            ids as users type them
//	wait_topic.go      a topic that the cluster may have to make first
//	console_producer.go, line_reader.go    console-producer and how it reads lines
//	console_consumer.go, formatter.go      console-consumer and how it prints records
//	console_consumer_group.go              console-consumer as a member of a group
//	consumer_groups.go     consumer-groups: options and actions, and a file for each:
//	                       consumer_groups_list.go, consumer_groups_describe.go,
//	                       consumer_groups_delete.go, consumer_groups_reset.go;
//	                       consumer_groups_plan.go: CSV, dates and durations,
//	                       consumer_groups_json.go: groups for programs
//	groups.go              groups
//	configs.go             configs: options and actions; configs_args.go its arguments,
//	                       configs_describe.go, configs_json.go its output,
//	                       configs_admin.go what it asks
//	client_metrics.go      client-metrics
//	group_admin.go         what the tools for groups ask brokers
//	java_order.go          the order in which Apache's tools print maps
package client

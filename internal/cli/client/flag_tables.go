package client

import (
	"barnabas/internal/cli/argparse"
	"barnabas/internal/cli/completion"
	"barnabas/internal/cli/options"
)

// Completion has, by name, what a shell completes of the tools in this package.
func Completion() map[string]completion.Command {
	out := map[string]completion.Command{}
	for name, set := range map[string]*options.Set{
		"topics": topicsOptions(), "console-producer": consoleProducerOptions(), "console-consumer": consoleConsumerOptions(),
		"consumer-groups": consumerGroupsOptions(), "groups": groupsOptions(), "configs": configsOptions(),
		"client-metrics": clientMetricsOptions(), "get-offsets": getOffsetsOptions(), "delete-records": deleteRecordsOptions(),
		"log-dirs": logDirsOptions(), "broker-api-versions": brokerAPIVersionsOptions(), "consumer-perf-test": consumerPerfOptions(),
		"e2e-latency": e2eLatencyOptions(),
	} {
		out[name] = completion.OfSet(set)
	}
	for name, tool := range map[string]*argparse.Tool{
		"cluster": clusterTool(), "features": featuresTool(), "metadata-quorum": metadataQuorumTool(), "transactions": transactionsTool(),
		"producer-perf-test": producerPerfTool(), "verifiable-producer": verifiableProducerTool(), "verifiable-consumer": verifiableConsumerTool(),
	} {
		out[name] = completion.OfTool(tool)
	}
	for _, name := range []string{"topics", "groups"} {
		c, why := out[name], completion.OfSet(whyOptions())
		why.Name = "why"
		c.Commands = append(c.Commands, why)
		out[name] = c
	}
	return out
}

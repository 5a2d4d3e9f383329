package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
)

func topicsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server to connect to", Help: "The Kafka server to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "command config property file", Help: "Properties for the admin client."},
		options.Option{Name: "list", Help: "List all topics."},
		options.Option{Name: "create", Help: "Create a new topic."},
		options.Option{Name: "delete", Help: "Delete a topic."},
		options.Option{Name: "alter", Help: "Raise the number of partitions of a topic."},
		options.Option{Name: "describe", Help: "Print the details of topics."},
		options.Option{Name: "topic", Argument: options.Required, Value: "topic", Help: "The topic; a regular expression except with --create."},
		options.Option{Name: "topic-id", Argument: options.Required, Value: "topic-id", Help: "The topic to describe, by id."},
		options.Option{Name: "config", Argument: options.Required, Many: true, Value: "name=value", Help: "A configuration of the topic to create."},
		options.Option{Name: "delete-config", Argument: options.Required, Value: "name", Help: "Not supported; use the configs tool.", Deprecated: true},
		options.Option{Name: "partitions", Argument: options.Required, Value: "# of partitions", Help: "The number of partitions to create or alter to."},
		options.Option{Name: "replication-factor", Argument: options.Required, Value: "replication factor", Help: "The replication factor of the topic to create."},
		options.Option{Name: "replica-assignment", Argument: options.Required, Value: "broker:broker,broker:broker,...", Help: "The replicas of each partition."},
		options.Option{Name: "under-replicated-partitions", Help: "With --describe: only partitions that lack replicas."},
		options.Option{Name: "unavailable-partitions", Help: "With --describe: only partitions without a live leader."},
		options.Option{Name: "under-min-isr-partitions", Help: "With --describe: only partitions below min.insync.replicas."},
		options.Option{Name: "at-min-isr-partitions", Help: "With --describe: only partitions at min.insync.replicas."},
		options.Option{Name: "topics-with-overrides", Help: "With --describe: only topics with configurations of their own."},
		options.Option{Name: "if-exists", Help: "With --alter, --delete, --describe: no error if the topic does not exist."},
		options.Option{Name: "if-not-exists", Help: "With --create: no error if the topic exists."},
		options.Option{Name: "exclude-internal", Help: "With --list, --describe: leave internal topics out."},
		options.Option{Name: "partition-size-limit-per-response", Argument: options.Required, Value: "maximum number of partitions per response", Help: "With --describe: partitions asked for at once."},
		outputOption,
	)
}

// topicActions are the options of which exactly one is given.
var topicActions = []string{"list", "describe", "create", "alter", "delete"}

// Topics is kafka-topics, with one action more: "topics why TOPIC".
func Topics(args []string, o IO) int {
	if len(args) > 0 && args[0] == "why" {
		return why("topic", &topicWhy{}, args[1:], o)
	}
	set := topicsOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	action, err := checkTopicsOptions(set)
	if err != nil {
		return usageExit(set, o, err)
	}
	if !set.Has("bootstrap-server") {
		fmt.Fprintln(o.Stderr, "--bootstrap-server must be specified")
		return 1
	}
	if err := runTopics(set, action, o); err != nil {
		fmt.Fprintf(o.Stdout, "Error while executing topic command : %s\n", err)
		o.logf("ERROR", "org.apache.kafka.tools.TopicCommand", "%s: %s\n", exception(err), err)
		return 1
	}
	return 0
}

// onlyWith lists, for options that belong to some actions, those actions.
var onlyWith = map[string][]string{
	"config": {"create", "alter"}, "partitions": {"create", "alter"}, "replication-factor": {"create"},
	"replica-assignment": {"create", "alter"}, "if-not-exists": {"create"}, "if-exists": {"alter", "delete", "describe"},
	"under-replicated-partitions": {"describe"}, "unavailable-partitions": {"describe"}, "under-min-isr-partitions": {"describe"},
	"at-min-isr-partitions": {"describe"}, "topics-with-overrides": {"describe"}, "exclude-internal": {"list", "describe"},
	"partition-size-limit-per-response": {"describe"}, "topic-id": {"describe"}, "o": {"list", "describe"},
}

func checkTopicsOptions(set *options.Set) (string, error) {
	action, ok := set.OneOf(topicActions...)
	if !ok {
		return "", fmt.Errorf("Command must include exactly one action: --list, --describe, --create, --alter or --delete")
	}
	if action != "list" && action != "describe" && !set.Has("topic") {
		return "", missingArgument(set, "topic")
	}
	if set.Has("delete-config") {
		return "", fmt.Errorf("Option \"[delete-config]\" is not supported; the configs tool changes configurations of topics.")
	}
	if action == "alter" {
		if set.Has("config") {
			return "", fmt.Errorf(`Option combination "[[bootstrap-server], [config]]" can't be used with option "[alter]" (To alter topic configurations, the kafka-configs tool can be used.)`)
		}
		if !set.Has("partitions") {
			return "", missingArgument(set, "partitions")
		}
	}
	if action == "create" && set.Has("replica-assignment") {
		for _, other := range []string{"partitions", "replication-factor"} {
			if set.Has(other) {
				return "", fmt.Errorf(`Option "[replica-assignment]" can't be used with option "[%s]"`, other)
			}
		}
	}
	for _, name := range set.Given() {
		if actions, ok := onlyWith[name]; ok && !slices.Contains(actions, action) {
			return "", fmt.Errorf(`Option "[%s]" can't be used with option "[%s]"`, action, name)
		}
	}
	return action, nil
}

func runTopics(set *options.Set, action string, o IO) error {
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	if err != nil {
		return err
	}
	ctx, cl, done, err := connectAdmin(set, o, 0)
	if err != nil {
		return err
	}
	defer done()
	t := topicsTool{ctx: ctx, cl: cl, set: set, o: o, asJSON: asJSON}
	switch action {
	case "list":
		return t.list()
	case "describe":
		return t.describe()
	case "create":
		return t.create()
	case "alter":
		return t.alter()
	}
	return t.delete()
}

// topicsTool is one run of the tool.
type topicsTool struct {
	ctx context.Context
	cl  *kgo.Client
	set *options.Set
	o   IO

	asJSON bool
}

// names lists the cluster's topics that --topic allows, sorted.
func (t topicsTool) names() ([]string, error) {
	listed, err := kadm.NewClient(t.cl).ListTopicsWithInternal(t.ctx)
	if err != nil {
		return nil, err
	}
	filter, err := topicFilter(t.set.Get("topic"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range listed.Sorted() {
		if filter(d.Topic) && !(t.set.Has("exclude-internal") && kafka.IsInternalTopic(d.Topic)) {
			names = append(names, d.Topic)
		}
	}
	return names, nil
}

// mustMatch is names, but no match is an error unless --if-exists is given.
func (t topicsTool) mustMatch() ([]string, error) {
	names, err := t.names()
	if err == nil && len(names) == 0 && t.set.Has("topic") && !t.set.Has("if-exists") {
		err = illegalArgument("Topic '%s' does not exist as expected", t.set.Get("topic"))
	}
	return names, err
}

func (t topicsTool) list() error {
	names, err := t.names()
	if t.asJSON && err == nil {
		return printJSON(t.o, append([]string{}, names...))
	}
	for _, n := range names {
		fmt.Fprintln(t.o.Stdout, n)
	}
	return err
}

func (t topicsTool) create() error {
	topic := t.set.Get("topic")
	if strings.ContainsAny(topic, "._") {
		fmt.Fprintln(t.o.Stdout, "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. To avoid issues it is best to use either, but not both.")
	}
	req, err := t.createRequest(topic)
	if err != nil {
		return err
	}
	resp, err := req.RequestWith(t.ctx, t.cl)
	if err != nil {
		return err
	}
	for _, r := range resp.Topics {
		if kafka.ErrorCode(r.ErrorCode) == kafka.ErrTopicAlreadyExists && t.set.Has("if-not-exists") {
			return nil
		}
		if err := codeError(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.o.Stdout, "Created topic %s.\n", topic)
	return nil
}

func (t topicsTool) createRequest(topic string) (*kmsg.CreateTopicsRequest, error) {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(adminTimeout.Milliseconds())
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, -1, -1
	partitions, given, err := t.set.Int("partitions", 32)
	switch {
	case err != nil:
		return nil, err
	case given && partitions < 1:
		return nil, illegalArgument("The partitions must be greater than 0")
	case given:
		rt.NumPartitions = int32(partitions)
	}
	factor, given, err := t.set.Int("replication-factor", 32)
	switch {
	case err != nil:
		return nil, err
	case given && (factor < 1 || factor > 32767):
		return nil, illegalArgument("The replication factor must be between 1 and 32767 inclusive")
	case given:
		rt.ReplicationFactor = int16(factor)
	}
	if rt.Configs, err = topicConfigs(t.set.All("config")); err != nil {
		return nil, err
	}
	if t.set.Has("replica-assignment") {
		if rt.ReplicaAssignment, err = replicaAssignment(t.set.Get("replica-assignment")); err != nil {
			return nil, err
		}
	}
	req.Topics = append(req.Topics, rt)
	return req, nil
}

func topicConfigs(pairs []string) ([]kmsg.CreateTopicsRequestTopicConfig, error) {
	var out []kmsg.CreateTopicsRequestTopicConfig
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, illegalArgument("requirement failed: Invalid topic config: all configs to be added must be in the format \"key=val\".")
		}
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = strings.TrimSpace(name), kmsg.StringPtr(strings.TrimSpace(value))
		out = append(out, c)
	}
	return out, nil
}

// replicaAssignment reads "1:2,2:1": the replicas of partition 0, of 1, ...
func replicaAssignment(text string) ([]kmsg.CreateTopicsRequestTopicReplicaAssignment, error) {
	var out []kmsg.CreateTopicsRequestTopicReplicaAssignment
	for i, part := range strings.Split(text, ",") {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition = int32(i)
		for _, word := range strings.Split(part, ":") {
			id, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
			if err != nil {
				return nil, &failure{"java.lang.NumberFormatException", fmt.Sprintf("For input string: %q", strings.TrimSpace(word))}
			}
			if slices.Contains(a.Replicas, int32(id)) {
				return nil, &failure{"org.apache.kafka.tools.AdminCommandFailedException", fmt.Sprintf("Partition replica lists may not contain duplicate entries: %d", id)}
			}
			a.Replicas = append(a.Replicas, int32(id))
		}
		if i > 0 && len(a.Replicas) != len(out[0].Replicas) {
			return nil, illegalArgument("Partition %d has different replication factor: %v", i, a.Replicas)
		}
		out = append(out, a)
	}
	return out, nil
}

func (t topicsTool) alter() error {
	names, err := t.mustMatch()
	if err != nil {
		return err
	}
	partitions, _, err := t.set.Int("partitions", 32)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = int32(adminTimeout.Milliseconds())
	for _, n := range names {
		rt := kmsg.NewCreatePartitionsRequestTopic()
		rt.Topic, rt.Count = n, int32(partitions)
		if rt.Assignment, err = t.addedReplicas(n); err != nil {
			return err
		}
		req.Topics = append(req.Topics, rt)
	}
	if len(req.Topics) == 0 {
		return nil
	}
	resp, err := req.RequestWith(t.ctx, t.cl)
	if err != nil {
		return err
	}
	for _, r := range resp.Topics {
		if err := codeError(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

// addedReplicas are the replicas of the partitions that --replica-assignment
// names beyond those that the topic has.
func (t topicsTool) addedReplicas(topic string) ([]kmsg.CreatePartitionsRequestTopicAssignment, error) {
	if !t.set.Has("replica-assignment") {
		return nil, nil
	}
	all, err := replicaAssignment(t.set.Get("replica-assignment"))
	if err != nil {
		return nil, err
	}
	details, err := kadm.NewClient(t.cl).ListTopicsWithInternal(t.ctx, topic)
	if err != nil {
		return nil, err
	}
	var out []kmsg.CreatePartitionsRequestTopicAssignment
	for _, a := range all[min(len(all), len(details[topic].Partitions)):] {
		p := kmsg.NewCreatePartitionsRequestTopicAssignment()
		p.Replicas = a.Replicas
		out = append(out, p)
	}
	return out, nil
}

func (t topicsTool) delete() error {
	names, err := t.mustMatch()
	if err != nil || len(names) == 0 {
		return err
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = int32(adminTimeout.Milliseconds())
	for _, n := range names {
		rt := kmsg.NewDeleteTopicsRequestTopic()
		rt.Topic = kmsg.StringPtr(n)
		req.Topics = append(req.Topics, rt)
		req.TopicNames = append(req.TopicNames, n)
	}
	resp, err := req.RequestWith(t.ctx, t.cl)
	if err != nil {
		return err
	}
	var failed []error
	for _, r := range resp.Topics {
		failed = append(failed, codeError(r.ErrorCode, r.ErrorMessage))
	}
	return errors.Join(failed...)
}

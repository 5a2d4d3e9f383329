package controller

import (
	"maps"
	"slices"
	"strings"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreateTopics serves CreateTopics v2-v7.
//
//	v4 -1 for the default number of partitions and of replicas (KIP-464)
//	v5 the answer has the topic's configuration (KIP-525)
//	v7 the answer has the topic id
//
// The context's Authorize is asked for CREATE of the cluster, else of each topic,
// and for DESCRIBE_CONFIGS of each topic before its configuration is told.
func (c *Controller) CreateTopics(ctx Context, req *kmsg.CreateTopicsRequest, done func(*kmsg.CreateTopicsResponse)) {
	answer := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	wanted, refused := screenCreations(&ctx, req.Topics)
	if len(wanted) == 0 {
		answer.Topics = refused
		done(answer)
		return
	}
	c.submit(operation{
		name:     "create topics",
		deadline: ctx.deadline(milliseconds(req.TimeoutMillis)),
		decide: func(a *active) (decision, *refusal) {
			records, rows, whole := a.createTopics(&ctx, wanted)
			if whole != nil {
				return decision{}, whole
			}
			answer.Topics = append(rows, refused...)
			if req.ValidateOnly {
				records = nil
			}
			return decision{records: records, growing: true, answer: func() {
				c.logCreations(&ctx, req, rows)
				done(answer)
			}}, nil
		},
		refuse: func(r refusal) {
			answer.Topics = nil
			for _, t := range req.Topics {
				answer.Topics = append(answer.Topics, refusedTopic(t.Topic, &r))
			}
			done(answer)
		},
	})
}

func refusedTopic(name string, r *refusal) kmsg.CreateTopicsResponseTopic {
	row := kmsg.NewCreateTopicsResponseTopic()
	row.Topic, row.ErrorCode, row.ErrorMessage = name, int16(r.code), r.text()
	row.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
	return row
}

// screenCreations takes out what can be refused without looking at the cluster.
func screenCreations(ctx *Context, topics []kmsg.CreateTopicsRequestTopic) (wanted []*kmsg.CreateTopicsRequestTopic, refused []kmsg.CreateTopicsResponseTopic) {
	count := map[string]int{}
	for i := range topics {
		count[topics[i].Topic]++
	}
	all := ctx.may(kmsg.ACLOperationCreate, "")
	var later []kmsg.CreateTopicsResponseTopic // behind the duplicates, as Apache Kafka
	for i := range topics {
		t := &topics[i]
		switch {
		case count[t.Topic] > 1:
			refused = append(refused, refusedTopic(t.Topic, refuse(kafka.ErrInvalidRequest, "Duplicate topic name.")))
			count[t.Topic] = -1
		case count[t.Topic] < 0: // told already
		case t.Topic == kafka.ClusterMetadataTopic:
			later = append(later, refusedTopic(t.Topic, refuse(kafka.ErrInvalidRequest, "Creation of internal topic %s is prohibited.", t.Topic)))
		case !all && !ctx.may(kmsg.ACLOperationCreate, t.Topic):
			later = append(later, refusedTopic(t.Topic, refuse(kafka.ErrTopicAuthorizationFailed, "Authorization failed.")))
		default:
			wanted = append(wanted, t)
		}
	}
	return wanted, append(refused, later...)
}

// createTopics decides on each topic for itself; only limits of the request as a
// whole refuse all.
func (a *active) createTopics(ctx *Context, topics []*kmsg.CreateTopicsRequestTopic) (records []metarec.Message, rows []kmsg.CreateTopicsResponseTopic, whole *refusal) {
	total := 0
	for _, t := range topics {
		total += max(a.partitionsOf(t), 0)
		if total > maxRecords {
			return nil, nil, refuse(kafka.ErrPolicyViolation, "Excessively large number of partitions per request.")
		}
	}
	for _, t := range topics {
		made, row, refused := a.createTopic(ctx, t)
		if refused != nil {
			rows = append(rows, refusedTopic(t.Topic, refused))
			continue
		}
		records, rows = append(records, made...), append(rows, row)
		if len(records) > maxRecords {
			return nil, nil, tooManyRecords()
		}
	}
	return records, rows, nil
}

// partitionsOf is how many partitions a request for a topic makes.
func (a *active) partitionsOf(t *kmsg.CreateTopicsRequestTopic) int {
	switch {
	case len(t.ReplicaAssignment) > 0:
		return len(t.ReplicaAssignment)
	case t.NumPartitions == -1:
		return a.o.Config.Topics.NumPartitions
	}
	return int(t.NumPartitions)
}

func (a *active) createTopic(ctx *Context, t *kmsg.CreateTopicsRequestTopic) ([]metarec.Message, kmsg.CreateTopicsResponseTopic, *refusal) {
	row := kmsg.NewCreateTopicsResponseTopic()
	if refused := a.checkNewName(t.Topic); refused != nil {
		return nil, row, refused
	}
	configs, refused := a.checkConfigs(t)
	if refused != nil {
		return nil, row, refused
	}
	replicas, refused := a.replicasOf(t)
	if refused == nil {
		refused = checkFolders(t.Topic, len(replicas))
	}
	if refused != nil {
		return nil, row, refused
	}
	id, err := kafka.RandomUUID(a.o.Entropy)
	if err != nil {
		return nil, row, refuse(kafka.ErrUnknownServerError, "%v", err)
	}
	records := []metarec.Message{&metarec.TopicRecord{Name: t.Topic, TopicID: id}}
	records = append(records, a.configRecords(t.Topic, configs)...)
	for number, ids := range replicas {
		records = append(records, a.newPartition(id, int32(number), ids, a.activeOf(ids)))
	}
	row.Topic, row.TopicID = t.Topic, id
	row.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
	if ctx.may(kmsg.ACLOperationDescribeConfigs, t.Topic) {
		row.Configs = a.describeConfigs(configs)
		row.NumPartitions, row.ReplicationFactor = int32(len(replicas)), int16(len(replicas[0]))
	} else {
		row.ConfigErrorCode = int16(kafka.ErrTopicAuthorizationFailed)
	}
	return records, row, nil
}

func (a *active) checkNewName(name string) *refusal {
	if a.image.Topics.ByName(name) != nil {
		return refuse(kafka.ErrTopicAlreadyExists, "Topic '%s' already exists.", name)
	}
	if key, ok := collisionKey(name); ok && len(a.colliding[key]) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(a.colliding[key])))
		return refuse(kafka.ErrInvalidTopicException, "Topic '%s' collides with existing topic: %s", name, first)
	}
	if err := kafka.CheckTopicName(name); err != nil {
		return refuse(kafka.ErrInvalidTopicException, "%s", err)
	}
	return nil
}

// maxFolderName is the longest name of a file that file systems take, in bytes.
const maxFolderName = 255

// checkFolders refuses partitions whose folder could not be made: the longest topic
// names leave room for five digits. (Apache Kafka creates the topic, and a broker
// that fails to make the folder takes its log directory offline.)
func checkFolders(topic string, partitions int) *refusal {
	last := kafka.TopicPartition{Topic: topic, Partition: int32(partitions - 1)}
	if n := len(last.String()); n > maxFolderName {
		return refuse(kafka.ErrInvalidPartitions, "Partition %d would need a folder with a name of %d bytes; %d are possible.", last.Partition, n, maxFolderName)
	}
	return nil
}

// checkConfigs returns what is to be set on the topic.
func (a *active) checkConfigs(t *kmsg.CreateTopicsRequestTopic) (map[string]string, *refusal) {
	wanted := make(map[string]*string, len(t.Configs))
	set := make(map[string]string, len(t.Configs))
	var nulls []string
	for _, c := range t.Configs {
		if c.Value == nil {
			nulls = append(nulls, c.Name)
			continue
		}
		wanted[c.Name], set[c.Name] = c.Value, *c.Value
	}
	if len(nulls) > 0 {
		return nil, refuse(kafka.ErrInvalidConfig, "Null value not supported for topic configs: %s", strings.Join(nulls, ","))
	}
	for _, value := range set {
		if len(value) > maxConfigValue {
			return nil, refuse(kafka.ErrInvalidConfig, "The configuration value cannot be added because it exceeds the maximum value size of %d bytes.", maxConfigValue)
		}
	}
	config, _ := a.resolved()
	if err := config.ValidateTopic(wanted, nil); err != nil {
		return nil, refuse(kafka.ErrInvalidConfig, "%s", err)
	}
	return set, nil
}

// maxConfigValue is the length of the longest value of a configuration.
const maxConfigValue = 32767

// configRecords sets a new topic's configuration. Another min.insync.replicas
// makes who is eligible to lead uncertain, also where nobody can be yet.
func (a *active) configRecords(topic string, configs map[string]string) (records []metarec.Message) {
	clear := false
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		value := configs[name]
		records = append(records, &metarec.ConfigRecord{ResourceType: int8(image.TopicResource), ResourceName: topic, Name: name, Value: &value})
		clear = clear || name == minInsyncReplicas
	}
	if clear && a.image.Features.ELREnabled() {
		records = append(records, &metarec.ClearElrRecord{TopicName: topic})
	}
	return records
}

func (a *active) describeConfigs(configs map[string]string) []kmsg.CreateTopicsResponseTopicConfig {
	config, _ := a.resolved()
	entries := config.TopicSources(configs)
	out := make([]kmsg.CreateTopicsResponseTopicConfig, 0, len(entries))
	for _, e := range entries {
		row := kmsg.NewCreateTopicsResponseTopicConfig()
		row.Name, row.Value, row.Source = e.Name, e.Value, int8(e.Source)
		out = append(out, row)
	}
	return out
}

// replicasOf returns the replicas of each partition: those that the client chose,
// or placed ones. Each list has an active broker.
func (a *active) replicasOf(t *kmsg.CreateTopicsRequestTopic) (replicaLists, *refusal) {
	if len(t.ReplicaAssignment) > 0 {
		return a.chosenReplicas(t)
	}
	partitions, replicas := a.partitionsOf(t), int(t.ReplicationFactor)
	switch {
	case t.ReplicationFactor < -1 || t.ReplicationFactor == 0:
		return nil, refuse(kafka.ErrInvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	case t.NumPartitions < -1 || t.NumPartitions == 0:
		return nil, refuse(kafka.ErrInvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	case replicas == -1:
		replicas = a.o.Config.Topics.DefaultReplicationFactor
	}
	lists, err := a.place(partitions, replicas)
	if err != nil {
		return nil, refuse(kafka.ErrInvalidReplicationFactor, "Unable to replicate the partition %d time(s): %s", replicas, err)
	}
	if refused := a.needActive(lists, replicas); refused != nil {
		return nil, refused
	}
	return lists, nil
}

// needActive refuses placed partitions that nobody could lead.
func (a *active) needActive(lists replicaLists, replicas int) *refusal {
	for _, ids := range lists {
		if len(a.activeOf(ids)) == 0 {
			return refuse(kafka.ErrInvalidReplicationFactor, "Unable to replicate the partition %d time(s): All brokers are currently fenced or in controlled shutdown.", replicas)
		}
	}
	return nil
}

func (a *active) chosenReplicas(t *kmsg.CreateTopicsRequestTopic) (replicaLists, *refusal) {
	switch {
	case t.ReplicationFactor != -1:
		return nil, refuse(kafka.ErrInvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
	case t.NumPartitions != -1:
		return nil, refuse(kafka.ErrInvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
	}
	const code = kafka.ErrInvalidReplicaAssignment
	byNumber := map[int32][]kafka.BrokerID{}
	replicas := 0
	for _, as := range t.ReplicaAssignment {
		if _, twice := byNumber[as.Partition]; twice {
			return nil, refuse(code, "Found multiple manual partition assignments for partition %d", as.Partition)
		}
		ids := brokerIDs(as.Replicas)
		if refused := a.checkAssignment(ids, replicas); refused != nil {
			return nil, refused
		}
		if len(a.activeOf(ids)) == 0 {
			return nil, noneActive(as.Partition)
		}
		byNumber[as.Partition], replicas = ids, len(ids)
	}
	lists := make(replicaLists, len(byNumber))
	for i := range lists {
		ids, ok := byNumber[int32(i)]
		if !ok {
			return nil, refuse(code, "partitions should be a consecutive 0-based integer sequence")
		}
		lists[i] = ids
	}
	return lists, nil
}

func noneActive(partition int32) *refusal {
	return refuse(kafka.ErrInvalidReplicaAssignment, "All brokers specified in the manual partition assignment for partition %d are fenced or in controlled shutdown.", partition)
}

func (c *Controller) logCreations(ctx *Context, req *kmsg.CreateTopicsRequest, rows []kmsg.CreateTopicsResponseTopic) {
	for _, row := range rows {
		if row.ErrorCode == 0 && !req.ValidateOnly {
			c.o.Logger.Info("topic created", "topic", row.Topic, "id", kafka.UUID(row.TopicID), "principal", ctx.Principal, "client_id", ctx.ClientID)
		}
	}
}

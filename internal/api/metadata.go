package api

import (
	"strconv"

	"barnabas/internal/controller"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadata serves Metadata v0-v13: v1 controller, null for all topics; v4 auto
// creation on request; v5 offline replicas; v7 leader epochs; v8 authorized
// operations; v10 topic ids in answers, v12 in requests; v13 a top-level error.
func (b *Broker) metadata(c *call) {
	m := metadataAnswer{b: b, c: c, req: c.Msg.(*kmsg.MetadataRequest), img: b.Image(), resp: kmsg.NewPtrMetadataResponse()}
	m.resp.AuthorizedOperations = noOperations
	if m.malformed() {
		m.refuseAll()
		c.ReplyMessage(m.resp)
		return
	}
	m.cluster()
	switch ids := m.ids(); {
	case m.req.Topics == nil || m.req.Version == 0 && len(m.req.Topics) == 0:
		m.all()
	case len(ids) > 0:
		for _, id := range ids {
			m.askedByID(id)
		}
	default:
		m.asked()
	}
	c.ReplyMessage(m.resp)
}

// metadataAnswer is an answer in the making.
type metadataAnswer struct {
	b    *Broker
	c    *call
	req  *kmsg.MetadataRequest
	img  *image.Image
	resp *kmsg.MetadataResponse
}

// cluster fills in what does not depend on topics.
func (m *metadataAnswer) cluster() {
	m.b.alive(m.img, m.c.conn, func(br *image.Broker, at address) {
		n := kmsg.NewMetadataResponseBroker()
		n.NodeID, n.Host, n.Port, n.Rack = int32(br.ID), at.host, at.port, br.Rack
		m.resp.Brokers = append(m.resp.Brokers, n)
	})
	m.resp.ClusterID = &m.b.ClusterID
	m.resp.ControllerID = int32(m.b.someBroker(m.img))
	if m.req.Version >= 8 && m.req.Version <= 10 && m.req.IncludeClusterAuthorizedOperations {
		m.resp.AuthorizedOperations = 0
		if m.c.mayCluster(kmsg.ACLOperationDescribe) {
			m.resp.AuthorizedOperations = m.c.clusterOperations()
		}
	}
}

// malformed says whether the request uses ids where its version has none.
func (m *metadataAnswer) malformed() bool {
	for i := range m.req.Topics {
		t := &m.req.Topics[i]
		if m.req.Version < 12 && m.req.Version >= 10 && (t.Topic == nil || t.TopicID != [16]byte{}) {
			return true
		}
	}
	return false
}

// ids are the topic ids of the request, each once. If there is one, names do not
// count. A topic with neither counts as an unknown id.
func (m *metadataAnswer) ids() []kafka.UUID {
	var ids []kafka.UUID
	seen := map[kafka.UUID]bool{}
	for i := range m.req.Topics {
		t := &m.req.Topics[i]
		if id := kafka.UUID(t.TopicID); !seen[id] && (!id.IsZero() || t.Topic == nil) {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

func (m *metadataAnswer) refuseAll() {
	for i := range m.req.Topics {
		t := &m.req.Topics[i]
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		m.fail(&name, t.TopicID, kafka.ErrInvalidRequest)
	}
}

// all answers with every topic that the client may describe.
func (m *metadataAnswer) all() {
	for t := range m.img.Topics.All() {
		if m.c.mayTopic(kmsg.ACLOperationDescribe, t.Name) {
			m.topic(t)
		}
	}
}

func (m *metadataAnswer) asked() {
	var missing []string
	seen := map[string]bool{}
	for i := range m.req.Topics {
		q := &m.req.Topics[i]
		if seen[*q.Topic] {
			continue
		}
		seen[*q.Topic] = true
		t := m.img.Topics.ByName(*q.Topic)
		switch {
		case !m.c.mayTopic(kmsg.ACLOperationDescribe, *q.Topic):
			m.fail(q.Topic, kafka.ZeroUUID, kafka.ErrTopicAuthorizationFailed)
		case t != nil:
			m.topic(t)
		case m.b.mayAutoCreate(m.c, m.req):
			missing = append(missing, *q.Topic)
		default:
			m.notThere(q.Topic, notThere(*q.Topic))
		}
	}
	m.create(missing)
}

func (m *metadataAnswer) askedByID(id kafka.UUID) {
	t := m.img.Topics.ByID(id)
	if t == nil || !m.c.mayTopic(kmsg.ACLOperationDescribe, t.Name) {
		code := kafka.ErrUnknownTopicID
		if t != nil {
			code = kafka.ErrTopicAuthorizationFailed
		}
		m.fail(nil, id, code)
		return
	}
	m.topic(t)
}

// notThere is the error for a topic that does not exist.
func notThere(name string) kafka.ErrorCode {
	if kafka.CheckTopicName(name) != nil {
		return kafka.ErrInvalidTopicException
	}
	return kafka.ErrUnknownTopicOrPartition
}

func (m *metadataAnswer) fail(name *string, id kafka.UUID, code kafka.ErrorCode) {
	t := kmsg.NewMetadataResponseTopic()
	t.ErrorCode, t.Topic, t.TopicID, t.AuthorizedOperations = int16(code), name, id, noOperations
	t.IsInternal = name != nil && kafka.IsInternalTopic(*name)
	m.resp.Topics = append(m.resp.Topics, t)
}

// notThere answers for a topic that the client may describe, were it there.
func (m *metadataAnswer) notThere(name *string, code kafka.ErrorCode) {
	m.fail(name, kafka.ZeroUUID, code)
	m.resp.Topics[len(m.resp.Topics)-1].AuthorizedOperations = m.operations(*name)
}

// operations are what the client may do with the topic, if it wants to know.
func (m *metadataAnswer) operations(topic string) int32 {
	if m.req.Version >= 8 && m.req.IncludeTopicAuthorizedOperations {
		return m.c.topicOperations(topic)
	}
	return noOperations
}

func (m *metadataAnswer) topic(t *image.Topic) {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic, out.TopicID, out.IsInternal = &t.Name, t.ID, kafka.IsInternalTopic(t.Name)
	out.AuthorizedOperations = m.operations(t.Name)
	for id, p := range t.All() {
		o := kmsg.NewMetadataResponseTopicPartition()
		o.Partition, o.Leader, o.LeaderEpoch = id, int32(p.Leader), int32(p.LeaderEpoch)
		o.Replicas, o.ISR = ids(p.Replicas), ids(p.ISR)
		o.OfflineReplicas = m.b.offlineReplicas(m.img, p, m.c)
		o.ErrorCode = int16(m.leaderError(p))
		if o.ErrorCode != 0 {
			o.Leader = int32(kafka.NoBroker)
		}
		out.Partitions = append(out.Partitions, o)
	}
	m.resp.Topics = append(m.resp.Topics, out)
}

// leaderError says why clients cannot use the leader of a partition.
func (m *metadataAnswer) leaderError(p *image.Partition) kafka.ErrorCode {
	if p.Leader == kafka.NoBroker {
		return kafka.ErrLeaderNotAvailable
	}
	if _, _, ok := m.b.leaderEndpoint(m.img, p.Leader, m.c.conn); ok {
		return kafka.ErrNone
	}
	if m.req.Version >= 6 && m.img.Cluster.Broker(p.Leader) != nil {
		return kafka.ErrListenerNotFound
	}
	return kafka.ErrLeaderNotAvailable
}

// offlineReplicas are replicas on brokers that are not alive for the client, or
// in directories that are offline.
func (o *Options) offlineReplicas(img *image.Image, p *image.Partition, c *call) []int32 {
	out := []int32{}
	for _, id := range p.Replicas {
		b := img.Cluster.Broker(id)
		if b == nil || b.Fenced {
			out = append(out, int32(id))
			continue
		}
		if _, ok := b.Endpoint(c.conn.Listener()); !ok {
			out = append(out, int32(id))
			continue
		}
		if dir, ok := p.Directory(id); ok && !dir.Reserved() && !b.HasDirectory(dir) {
			out = append(out, int32(id))
		}
	}
	return out
}

func (b *Broker) mayAutoCreate(c *call, req *kmsg.MetadataRequest) bool {
	return b.Config.Topics.AutoCreateEnable && (req.Version < 4 || req.AllowAutoTopicCreation)
}

// create asks the controller for topics that are not there. The client is told
// that they are unknown, and asks again.
func (m *metadataAnswer) create(topics []string) {
	var wanted []string
	for i := range topics {
		name := topics[i]
		code := notThere(name)
		if code == kafka.ErrUnknownTopicOrPartition && !m.c.mayCluster(kmsg.ACLOperationCreate) && !m.c.mayTopic(kmsg.ACLOperationCreate, name) {
			m.fail(&name, kafka.ZeroUUID, kafka.ErrTopicAuthorizationFailed)
			continue
		}
		if code == kafka.ErrUnknownTopicOrPartition {
			wanted = append(wanted, name)
		}
		m.notThere(&name, code)
	}
	ctx := controller.Context{Principal: m.c.conn.Principal(), ClientID: m.c.Header.ClientID, Received: m.c.Arrived}
	m.b.createOnDemand(ctx, wanted)
}

// createOnDemand asks the controller for topics that somebody needs, but for those
// that it was asked for already. It does not wait.
func (b *Broker) createOnDemand(ctx controller.Context, topics []string) {
	var asked []string
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = 7
	req.TimeoutMillis = 30_000
	for _, name := range topics {
		if b.autoCreate.begin(name, ctx.Received) {
			asked = append(asked, name)
			req.Topics = append(req.Topics, b.newTopic(name))
		}
	}
	if len(asked) == 0 {
		return
	}
	b.Controller.CreateTopics(ctx, req, func(resp *kmsg.CreateTopicsResponse) {
		b.autoCreate.end(asked)
		for _, t := range resp.Topics {
			if code := kafka.ErrorCode(t.ErrorCode); code != kafka.ErrNone && code != kafka.ErrTopicAlreadyExists {
				b.Log.Info("auto creation of a topic failed", "topic", t.Topic, "error", code)
			}
		}
	})
}

// newTopic is the shape of a topic that is created because someone asked for it.
// Internal topics have shapes of their own.
func (b *Broker) newTopic(name string) kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, -1, -1
	set := func(partitions, factor int, configs ...string) {
		t.NumPartitions, t.ReplicationFactor = int32(partitions), int16(factor)
		for i := 0; i < len(configs); i += 2 {
			c := kmsg.NewCreateTopicsRequestTopicConfig()
			c.Name, c.Value = configs[i], &configs[i+1]
			t.Configs = append(t.Configs, c)
		}
	}
	it := &b.Config.InternalTopics
	switch name {
	case kafka.ConsumerOffsetsTopic:
		set(it.OffsetsPartitions, it.OffsetsReplicationFactor, "cleanup.policy", "compact", "compression.type", "producer",
			"segment.bytes", strconv.Itoa(it.OffsetsSegmentBytes))
	case kafka.TransactionStateTopic:
		set(it.TransactionPartitions, it.TransactionReplication, "cleanup.policy", "compact", "compression.type", "uncompressed",
			"min.insync.replicas", strconv.Itoa(it.TransactionMinISR), "segment.bytes", strconv.Itoa(it.TransactionSegmentBytes),
			"unclean.leader.election.enable", "false")
	case kafka.ShareGroupStateTopic:
		set(it.ShareStatePartitions, it.ShareStateReplicationFactor, "cleanup.policy", "delete", "compression.type", "producer",
			"min.insync.replicas", strconv.Itoa(it.ShareStateMinISR), "segment.bytes", strconv.Itoa(it.ShareStateSegmentBytes),
			"retention.ms", "-1")
	}
	return t
}

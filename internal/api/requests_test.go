package api_test

import (
	"reflect"

	"barnabas/internal/kafka"
	"barnabas/internal/record"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// target is what the requests of a test are about.
type target struct {
	cluster string
	topic   string
	id      kafka.UUID
}

// secret is the value of a record that must not be seen by everyone.
const secret = "a secret value"

// requests makes requests of a key and version that name all they can name.
func (g target) requests(key kmsg.Key, version int16) []kmsg.Request {
	r := kmsg.RequestForKey(int16(key))
	r.SetVersion(version)
	switch r := r.(type) {
	case *kmsg.ProduceRequest:
		return g.produce(version)
	case *kmsg.FetchRequest:
		g.fetch(r)
	case *kmsg.MetadataRequest:
		return g.metadata(version)
	case *kmsg.DeleteTopicsRequest:
		return g.deleteTopics(version)
	case *kmsg.InitProducerIDRequest:
		r.ProducerID, r.ProducerEpoch, r.TransactionTimeoutMillis = -1, -1, 60_000
		transactional := *r
		transactional.TransactionalID = kmsg.StringPtr("tx")
		return []kmsg.Request{r, &transactional}
	case *kmsg.DescribeTopicPartitionsRequest:
		r.ResponsePartitionLimit = 100
		named := *r
		named.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: g.topic}}
		return []kmsg.Request{r, &named}
	default:
		g.fill(r)
	}
	return []kmsg.Request{r}
}

// fill names the target in a request that has one way to do so.
func (g target) fill(r kmsg.Request) {
	switch r := r.(type) {
	case *kmsg.OffsetCommitRequest:
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.TopicID, t.Partitions = g.topic, g.id, append(t.Partitions, p)
		r.Group, r.Generation, r.Topics = "g", -1, append(r.Topics, t)
	case *kmsg.OffsetFetchRequest:
		r.Group, r.Topics = "g", []kmsg.OffsetFetchRequestTopic{{Topic: g.topic, Partitions: []int32{0}}}
		of := kmsg.NewOffsetFetchRequestGroup()
		of.Group, of.Topics = "g", []kmsg.OffsetFetchRequestGroupTopic{{Topic: g.topic, TopicID: g.id, Partitions: []int32{0}}}
		r.Groups = append(r.Groups, of)
	case *kmsg.JoinGroupRequest:
		r.Group, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis, r.ProtocolType = "g", 10_000, 10_000, "consumer"
		r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	case *kmsg.SyncGroupRequest:
		r.Group, r.ProtocolType, r.Protocol = "g", kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	case *kmsg.HeartbeatRequest:
		r.Group = "g"
	case *kmsg.LeaveGroupRequest:
		r.Group, r.Members = "g", []kmsg.LeaveGroupRequestMember{{MemberID: "m"}}
	case *kmsg.ConsumerGroupHeartbeatRequest:
		r.Group, r.MemberID, r.SubscribedTopicNames = "g", "m", []string{g.topic}
		r.RebalanceTimeoutMillis, r.Topics = 1000, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	case *kmsg.ConsumerGroupDescribeRequest:
		r.Groups = []string{"g"}
	case *kmsg.DescribeGroupsRequest:
		r.Groups, r.IncludeAuthorizedOperations = []string{"g"}, true
	case *kmsg.DeleteGroupsRequest:
		r.Groups = []string{"g"}
	case *kmsg.OffsetDeleteRequest:
		r.Group = "g"
		r.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: g.topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}}
	case *kmsg.FindCoordinatorRequest:
		r.CoordinatorKey, r.CoordinatorKeys = "g", []string{"g"}
	case *kmsg.ListOffsetsRequest:
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp, r.ReplicaID = -1, -1
		r.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: g.topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
	case *kmsg.OffsetForLeaderEpochRequest:
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		r.ReplicaID = -1
		r.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: g.topic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{p}}}
	case *kmsg.DeleteRecordsRequest:
		r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: g.topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: -1}}}}
		r.TimeoutMillis = 30_000
	case *kmsg.DescribeLogDirsRequest:
		r.Topics = []kmsg.DescribeLogDirsRequestTopic{{Topic: g.topic, Partitions: []int32{0}}}
	case *kmsg.DescribeProducersRequest:
		r.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: g.topic, Partitions: []int32{0}}}
	case *kmsg.DescribeConfigsRequest:
		for _, o := range g.configured() {
			r.Resources = append(r.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: o.kind, ResourceName: o.name})
		}
	case *kmsg.AlterConfigsRequest:
		for _, o := range g.configured() {
			r.Resources = append(r.Resources, kmsg.AlterConfigsRequestResource{ResourceType: o.kind, ResourceName: o.name})
		}
	case *kmsg.IncrementalAlterConfigsRequest:
		for _, o := range g.configured() {
			r.Resources = append(r.Resources, kmsg.IncrementalAlterConfigsRequestResource{ResourceType: o.kind, ResourceName: o.name})
		}
	case *kmsg.ApiVersionsRequest:
		r.ClientSoftwareName, r.ClientSoftwareVersion, r.NodeID = "test", "1", -1
	case *kmsg.CreateTopicsRequest:
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = "new", 1, 1
		r.Topics, r.TimeoutMillis, r.ValidateOnly = append(r.Topics, t), 30_000, true
	case *kmsg.CreatePartitionsRequest:
		r.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: g.topic, Count: 5}}
		r.TimeoutMillis, r.ValidateOnly = 30_000, true
	case *kmsg.DescribeClusterRequest:
		r.IncludeClusterAuthorizedOperations = true
	case *kmsg.UnregisterBrokerRequest:
		r.BrokerID = 77
	case *kmsg.AlterPartitionRequest:
		r.Topics = []kmsg.AlterPartitionRequestTopic{{TopicID: g.id, Partitions: []kmsg.AlterPartitionRequestTopicPartition{kmsg.NewAlterPartitionRequestTopicPartition()}}}
	case *kmsg.BrokerRegistrationRequest:
		r.BrokerID, r.ClusterID = 1, g.cluster
	default:
		g.fillTransactional(r)
	}
}

// fillTransactional is fill for requests about transactions.
func (g target) fillTransactional(r kmsg.Request) {
	switch r := r.(type) {
	case *kmsg.AddPartitionsToTxnRequest:
		r.TransactionalID, r.Topics = "tx", []kmsg.AddPartitionsToTxnRequestTopic{{Topic: g.topic, Partitions: []int32{0}}}
		t := kmsg.NewAddPartitionsToTxnRequestTransaction()
		t.TransactionalID, t.Topics = "tx", []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: g.topic, Partitions: []int32{0}}}
		r.Transactions = append(r.Transactions, t)
	case *kmsg.TxnOffsetCommitRequest:
		p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		t := kmsg.NewTxnOffsetCommitRequestTopic()
		t.Topic, t.TopicID, t.Partitions = g.topic, g.id, append(t.Partitions, p)
		r.TransactionalID, r.Group, r.Topics = "tx", "g", append(r.Topics, t)
	case *kmsg.AddOffsetsToTxnRequest:
		r.TransactionalID, r.Group = "tx", "g"
	case *kmsg.EndTxnRequest:
		r.TransactionalID = "tx"
	case *kmsg.WriteTxnMarkersRequest:
		m := kmsg.NewWriteTxnMarkersRequestMarker()
		m.Topics = []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: g.topic, Partitions: []int32{0}}}
		r.Markers = append(r.Markers, m)
	case *kmsg.DescribeTransactionsRequest:
		r.TransactionalIDs = []string{"tx"}
	}
}

// configResource names what has a configuration.
type configResource struct {
	kind kmsg.ConfigResourceType
	name string
}

// configured is one of each kind.
func (g target) configured() []configResource {
	return []configResource{{kmsg.ConfigResourceTypeTopic, g.topic}, {kmsg.ConfigResourceTypeBroker, "1"}, {kmsg.ConfigResourceTypeBroker, ""},
		{kmsg.ConfigResourceTypeBrokerLogger, "1"}, {kmsg.ConfigResourceTypeClientMetrics, "m"}, {kmsg.ConfigResourceTypeGroupConfig, "g"}}
}

func (g target) produce(version int16) []kmsg.Request {
	made := func(o record.BatchOptions) *kmsg.ProduceRequest {
		r := at(version, kmsg.NewPtrProduceRequest())
		b := record.NewBuilder(o)
		b.Append(record.Record{Timestamp: 1_700_000_000_000, Value: []byte(secret)})
		bytes, err := b.Build()
		if err != nil {
			panic(err)
		}
		r.Acks, r.TimeoutMillis = -1, 30_000
		r.Topics = []kmsg.ProduceRequestTopic{{Topic: g.topic, TopicID: g.id, Partitions: []kmsg.ProduceRequestTopicPartition{{Records: bytes}}}}
		return r
	}
	plain := made(record.BatchOptions{})
	producer := &record.Producer{ID: 7}
	idempotent := made(record.BatchOptions{Producer: producer})
	transactional := made(record.BatchOptions{Producer: producer, Transactional: true})
	named := made(record.BatchOptions{Producer: producer, Transactional: true})
	named.TransactionID = kmsg.StringPtr("tx")
	return []kmsg.Request{plain, idempotent, transactional, named}
}

func (g target) fetch(r *kmsg.FetchRequest) {
	r.ReplicaID, r.ReplicaState.ID, r.ReplicaState.Epoch = -1, -1, -1
	r.MinBytes, r.MaxBytes, r.SessionEpoch = 1, 1<<20, -1
	p := kmsg.NewFetchRequestTopicPartition()
	p.PartitionMaxBytes = 1 << 20
	r.Topics = []kmsg.FetchRequestTopic{{Topic: g.topic, TopicID: g.id, Partitions: []kmsg.FetchRequestTopicPartition{p}}}
}

func (g target) metadata(version int16) []kmsg.Request {
	byName := metadata(version, g.topic)
	byName.IncludeClusterAuthorizedOperations, byName.IncludeTopicAuthorizedOperations = true, true
	byName.AllowAutoTopicCreation = false
	all := at(version, kmsg.NewPtrMetadataRequest())
	if version < 12 {
		return []kmsg.Request{byName, all}
	}
	byID := at(version, kmsg.NewPtrMetadataRequest())
	byID.Topics = []kmsg.MetadataRequestTopic{{TopicID: g.id}}
	return []kmsg.Request{byName, all, byID}
}

func (g target) deleteTopics(version int16) []kmsg.Request {
	byName, byID := at(version, kmsg.NewPtrDeleteTopicsRequest()), at(version, kmsg.NewPtrDeleteTopicsRequest())
	byName.TimeoutMillis, byID.TimeoutMillis = 30_000, 30_000
	byName.TopicNames = []string{g.topic}
	byName.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &g.topic}}
	byID.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: g.id}}
	if version < 6 {
		return []kmsg.Request{byName}
	}
	return []kmsg.Request{byName, byID}
}

// codes are the error codes of an answer, the innermost ones: of partitions, where
// there are any, else of topics, else of the whole.
func codes(v reflect.Value) []kafka.ErrorCode {
	var own, inner []kafka.ErrorCode
	for i := range v.NumField() {
		field := v.Field(i)
		switch {
		case v.Type().Field(i).Name == "ErrorCode":
			own = append(own, kafka.ErrorCode(field.Int()))
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			for j := range field.Len() {
				inner = append(inner, codes(field.Index(j))...)
			}
		}
	}
	if len(inner) > 0 {
		return inner
	}
	return own
}

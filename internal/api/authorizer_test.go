package api_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"barnabas/internal/api"
	"barnabas/internal/kafka"
	"barnabas/internal/security"
	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// rule says what is allowed.
type rule func(op kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool

// gate allows everything until it has a rule.
type gate struct{ rule atomic.Pointer[rule] }

func (g *gate) Allows(_ security.Client, op kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool {
	r := g.rule.Load()
	return r == nil || (*r)(op, resource, name)
}

// allow sets the rule.
func (g *gate) allow(r rule) { g.rule.Store(&r) }

// topicRule allows an operation on one topic.
func topicRule(op kmsg.ACLOperation, topic string) rule {
	return func(o kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool {
		return o == op && resource == kmsg.ACLResourceTypeTopic && name == topic
	}
}

func nothing(kmsg.ACLOperation, kmsg.ACLResourceType, string) bool { return false }

// table is the table of a kind of listener.
type table struct {
	listener string
	served   []wire.API
	// refused are the codes with which a request is refused; ErrNone is for
	// requests that are for everybody.
	refused map[kmsg.Key][]kafka.ErrorCode
}

func tables() []table {
	const (
		none    = kafka.ErrNone
		topic   = kafka.ErrTopicAuthorizationFailed
		cluster = kafka.ErrClusterAuthorizationFailed
		group   = kafka.ErrGroupAuthorizationFailed
		tx      = kafka.ErrTransactionalIDAuthorizationFailed
	)
	return []table{
		{"PLAINTEXT", api.NewBroker(api.Options{}).Served().List(), map[kmsg.Key][]kafka.ErrorCode{
			kmsg.Produce: {topic, tx}, kmsg.Fetch: {topic}, kmsg.ListOffsets: {topic}, kmsg.Metadata: {topic}, kmsg.ApiVersions: {none},
			kmsg.CreateTopics: {topic}, kmsg.DeleteTopics: {topic}, kmsg.InitProducerID: {cluster, tx}, kmsg.OffsetForLeaderEpoch: {topic},
			kmsg.DescribeConfigs: {topic, cluster, group}, kmsg.CreatePartitions: {topic}, kmsg.DescribeCluster: {none}, kmsg.DescribeProducers: {topic},
			kmsg.UnregisterBroker: {cluster}, kmsg.DescribeTopicPartitions: {topic}, kmsg.AlterConfigs: {topic, cluster, group},
			kmsg.IncrementalAlterConfigs: {topic, cluster, group}, kmsg.ListConfigResources: {cluster},
			kmsg.DescribeQuorum: {cluster}, kmsg.UpdateFeatures: {cluster}, kmsg.UnregisterController: {cluster},
			kmsg.GetTelemetrySubscriptions: {none}, kmsg.PushTelemetry: {none, kafka.ErrInvalidRequest},
			kmsg.OffsetCommit: {group}, kmsg.OffsetFetch: {group}, kmsg.JoinGroup: {group}, kmsg.Heartbeat: {group}, kmsg.LeaveGroup: {group},
			kmsg.SyncGroup: {group}, kmsg.DescribeGroups: {group}, kmsg.ListGroups: {none}, kmsg.DeleteGroups: {group}, kmsg.OffsetDelete: {group},
			kmsg.ConsumerGroupHeartbeat: {group}, kmsg.ConsumerGroupDescribe: {group},
			kmsg.FindCoordinator: {group}, kmsg.DeleteRecords: {topic}, kmsg.DescribeLogDirs: {cluster},
			kmsg.AddPartitionsToTxn: {tx, cluster}, kmsg.AddOffsetsToTxn: {tx}, kmsg.TxnOffsetCommit: {tx}, kmsg.EndTxn: {tx}, kmsg.WriteTxnMarkers: {cluster},
			kmsg.DescribeTransactions: {tx}, kmsg.ListTransactions: {none},
		}},
		{"CONTROLLER", api.NewController(api.Options{}).Served().List(), map[kmsg.Key][]kafka.ErrorCode{
			kmsg.ApiVersions: {none}, kmsg.CreateTopics: {topic}, kmsg.DeleteTopics: {topic}, kmsg.CreatePartitions: {topic},
			kmsg.AlterPartition: {cluster}, kmsg.DescribeCluster: {cluster}, kmsg.BrokerRegistration: {cluster}, kmsg.BrokerHeartbeat: {cluster},
			kmsg.UnregisterBroker: {cluster}, kmsg.AllocateProducerIDs: {cluster}, kmsg.AssignReplicasToDirs: {cluster},
			kmsg.DescribeConfigs: {topic, cluster, group}, kmsg.AlterConfigs: {topic, cluster, group}, kmsg.IncrementalAlterConfigs: {topic, cluster, group},
			kmsg.DescribeQuorum: {cluster}, kmsg.UpdateFeatures: {cluster}, kmsg.UnregisterController: {cluster},
		}},
	}
}

// TestWhoMayDoNothingLearnsNothing sends every request in every version to a node
// that allows nothing any more.
func TestWhoMayDoNothingLearnsNothing(t *testing.T) {
	g := &gate{}
	n := start(t, g)
	c := n.conn("PLAINTEXT")
	to := target{cluster: n.ClusterID(), topic: "classified"}
	to.id = c.create(to.topic, 1)
	produced := ask[*kmsg.ProduceResponse](c, to.produce(12)[0])
	if code := produced.Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("produce: error %d", code)
	}
	g.allow(nothing)
	for _, table := range tables() {
		c := n.conn(table.listener)
		for _, a := range table.served {
			want, ok := table.refused[a.Key]
			if !ok {
				t.Errorf("%s: nobody has said how it is refused", a.Name)
			}
			for version := a.Min; version <= a.Max; version++ {
				for _, req := range to.requests(a.Key, version) {
					resp, b := c.exchange(req)
					checkRefused(t, req, resp, want)
					checkSilent(t, to, req, resp, b)
				}
			}
		}
	}
}

// checkRefused checks that whatever has an error code in the answer has one of
// those.
func checkRefused(t *testing.T, req kmsg.Request, resp kmsg.Response, want []kafka.ErrorCode) {
	t.Helper()
	got := codes(reflect.ValueOf(resp).Elem())
	if len(got) == 0 && named(req) {
		t.Errorf("%s %d: no error", kmsg.NameForKey(req.Key()), req.GetVersion())
	}
	for _, code := range got {
		top := code == kafka.ErrNone && len(got) == 1 && !named(req)
		if !slices.Contains(want, code) && !top {
			t.Errorf("%s %d: %s, want one of %v", kmsg.NameForKey(req.Key()), req.GetVersion(), code, want)
		}
	}
}

// named says whether the request names something: what names nothing may be
// answered with nothing.
func named(req kmsg.Request) bool {
	switch r := req.(type) {
	case *kmsg.MetadataRequest:
		return len(r.Topics) > 0
	case *kmsg.DescribeTopicPartitionsRequest:
		return len(r.Topics) > 0
	case *kmsg.DescribeLogDirsRequest:
		return r.Version >= 3 // before, the answer has no place for an error
	}
	return true
}

// checkSilent checks that the answer has nothing of the topic that the request has
// not, and no operations.
func checkSilent(t *testing.T, to target, req kmsg.Request, resp kmsg.Response, answer []byte) {
	t.Helper()
	asked := req.AppendTo(nil)
	for what, b := range map[string][]byte{"name": []byte(to.topic), "id": to.id[:], "record": []byte(secret)} {
		if bytes.Contains(answer, b) && !bytes.Contains(asked, b) {
			t.Errorf("%s %d tells the topic's %s", kmsg.NameForKey(req.Key()), req.GetVersion(), what)
		}
	}
	for _, bits := range operations(reflect.ValueOf(resp).Elem()) {
		if bits > 0 {
			t.Errorf("%s %d: authorized operations %b", kmsg.NameForKey(req.Key()), req.GetVersion(), bits)
		}
	}
}

// operations are all bit fields of authorized operations in an answer.
func operations(v reflect.Value) []int64 {
	var all []int64
	for i := range v.NumField() {
		field := v.Field(i)
		switch {
		case strings.HasSuffix(v.Type().Field(i).Name, "AuthorizedOperations"):
			all = append(all, field.Int())
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			for j := range field.Len() {
				all = append(all, operations(field.Index(j))...)
			}
		}
	}
	return all
}

// TestUnauthorizedProduceWithoutAcksEndsTheConnection: there is no answer that
// could say so.
func TestUnauthorizedProduceWithoutAcksEndsTheConnection(t *testing.T) {
	g := &gate{}
	n := start(t, g)
	to := target{topic: "classified"}
	to.id = n.conn("PLAINTEXT").create(to.topic, 1)
	g.allow(nothing)
	c := n.conn("PLAINTEXT")
	r := to.produce(12)[0].(*kmsg.ProduceRequest)
	r.Acks = 0
	if _, err := c.Write(kmsg.NewRequestFormatter().AppendRequest(nil, r, 1)); err != nil {
		t.Fatal(err)
	}
	c.awaitEnd()
}

// TestOneOperationAllowsWhatItIsFor allows one operation on the topic, and nothing
// else, and sends what needs it and what does not.
func TestOneOperationAllowsWhatItIsFor(t *testing.T) {
	g := &gate{}
	n := start(t, g)
	to := target{cluster: n.ClusterID(), topic: "classified"}
	to.id = n.conn("PLAINTEXT").create(to.topic, 1)
	all := []kmsg.Key{kmsg.Produce, kmsg.Fetch, kmsg.ListOffsets, kmsg.Metadata, kmsg.OffsetForLeaderEpoch, kmsg.CreatePartitions,
		kmsg.DescribeProducers, kmsg.DescribeTopicPartitions, kmsg.DeleteRecords}
	// Deletion comes last: it takes the offset away that Fetch asks for.
	for _, right := range []struct {
		op      kmsg.ACLOperation
		allowed []kmsg.Key
	}{
		{kmsg.ACLOperationRead, []kmsg.Key{kmsg.Fetch, kmsg.DescribeProducers}},
		{kmsg.ACLOperationWrite, []kmsg.Key{kmsg.Produce}},
		{kmsg.ACLOperationDescribe, []kmsg.Key{kmsg.ListOffsets, kmsg.Metadata, kmsg.OffsetForLeaderEpoch, kmsg.DescribeTopicPartitions}},
		{kmsg.ACLOperationAlter, []kmsg.Key{kmsg.CreatePartitions}},
		{kmsg.ACLOperationDelete, []kmsg.Key{kmsg.DeleteRecords}},
	} {
		c := n.conn("PLAINTEXT")
		g.allow(topicRule(right.op, to.topic))
		for _, key := range all {
			api, _ := wire.Lookup(int16(key))
			requests := to.requests(key, api.Max)
			req := requests[0]
			if key == kmsg.DescribeTopicPartitions {
				req = requests[1]
			}
			resp, _ := c.exchange(req)
			want := []kafka.ErrorCode{kafka.ErrTopicAuthorizationFailed}
			if slices.Contains(right.allowed, key) {
				want = []kafka.ErrorCode{kafka.ErrNone}
			}
			if got := uniq(codes(reflect.ValueOf(resp).Elem())); !slices.Equal(got, want) {
				t.Errorf("%v allows %s: %v, want %v", right.op, api.Name, got, want)
			}
		}
	}
}

func uniq(list []kafka.ErrorCode) []kafka.ErrorCode {
	slices.Sort(list)
	return slices.Compact(list)
}

// TestTransactionsNeedTheRightToTheirId: without it, or without an id, the whole
// request is refused.
func TestTransactionsNeedTheRightToTheirId(t *testing.T) {
	g := &gate{}
	n := start(t, g)
	to := target{topic: "classified"}
	c := n.conn("PLAINTEXT")
	to.id = c.create(to.topic, 1)
	write := topicRule(kmsg.ACLOperationWrite, to.topic)
	withID := func(op kmsg.ACLOperation, r kmsg.ACLResourceType, name string) bool {
		return write(op, r, name) || op == kmsg.ACLOperationWrite && r == kmsg.ACLResourceTypeTransactionalId && name == "tx"
	}
	const refused = kafka.ErrTransactionalIDAuthorizationFailed
	for _, may := range []struct {
		what string
		rule rule
		want [4]kafka.ErrorCode // plain, idempotent, transactional without id, with id
	}{
		{"the topic", write, [4]kafka.ErrorCode{0, 0, refused, refused}},
		{"the topic and the id", withID, [4]kafka.ErrorCode{0, 0, refused, kafka.ErrNotEnoughReplicas}},
	} {
		g.allow(may.rule)
		for i, req := range to.produce(13) {
			got := kafka.ErrorCode(ask[*kmsg.ProduceResponse](c, req).Topics[0].Partitions[0].ErrorCode)
			if got != may.want[i] {
				t.Errorf("who may write %s, request %d: %s, want %s", may.what, i, got, may.want[i])
			}
		}
	}
}

// TestIdsForWhoMayWriteSomewhere: a producer id needs the right to write to one
// topic, or that of idempotent writing (KIP-679).
func TestIdsForWhoMayWriteSomewhere(t *testing.T) {
	g := &gate{}
	n := start(t, g)
	n.conn("PLAINTEXT").create("a", 1)
	c := n.conn("PLAINTEXT")
	for _, rule := range []struct {
		what string
		may  bool
		rule rule
	}{
		{"nothing", false, nothing},
		{"write to a topic", true, topicRule(kmsg.ACLOperationWrite, "a")},
		{"write to a topic that is not there", false, topicRule(kmsg.ACLOperationWrite, "b")},
		{"idempotent write", true, func(op kmsg.ACLOperation, r kmsg.ACLResourceType, name string) bool {
			return op == kmsg.ACLOperationIdempotentWrite && r == kmsg.ACLResourceTypeCluster && name == security.ClusterName
		}},
	} {
		g.allow(rule.rule)
		r := at(4, kmsg.NewPtrInitProducerIDRequest())
		r.ProducerID, r.ProducerEpoch = -1, -1
		want := kafka.ErrNone
		if !rule.may {
			want = kafka.ErrClusterAuthorizationFailed
		}
		if got := kafka.ErrorCode(ask[*kmsg.InitProducerIDResponse](c, r).ErrorCode); got != want {
			t.Errorf("who may %s: %s, want %s", rule.what, got, want)
		}
	}
}

// TestAutoCreationNeedsTheRightToCreate on the topic or on the cluster.
func TestAutoCreationNeedsTheRightToCreate(t *testing.T) {
	g := &gate{}
	n := start(t, g)
	c := n.conn("PLAINTEXT")
	codeOf := func(name string) kafka.ErrorCode {
		r := metadata(9, name)
		r.AllowAutoTopicCreation = true
		return kafka.ErrorCode(ask[*kmsg.MetadataResponse](c, r).Topics[0].ErrorCode)
	}
	describe := func(op kmsg.ACLOperation, _ kmsg.ACLResourceType, _ string) bool {
		return op == kmsg.ACLOperationDescribe
	}
	g.allow(describe)
	if got := codeOf("mine"); got != kafka.ErrTopicAuthorizationFailed {
		t.Errorf("who may only describe: %s", got)
	}
	create := topicRule(kmsg.ACLOperationCreate, "mine")
	g.allow(func(op kmsg.ACLOperation, r kmsg.ACLResourceType, name string) bool {
		return describe(op, r, name) || create(op, r, name)
	})
	if got := codeOf("yours"); got != kafka.ErrTopicAuthorizationFailed {
		t.Errorf("who may create another topic: %s", got)
	}
	eventually(t, "created", func() bool { return codeOf("mine") == kafka.ErrNone })
}

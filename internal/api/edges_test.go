package api_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestEdges has answers that Apache Kafka 4.4 gave to requests that are easily
// answered otherwise.
func TestEdges(t *testing.T) {
	n := start(t, nil)
	c := n.conn("PLAINTEXT")
	to := target{cluster: n.ClusterID(), topic: "a"}
	to.id = c.create(to.topic, 2)
	c.create(kafka.ShareGroupStateTopic, 1)
	fetch := func(version int16, change func(*kmsg.FetchRequest)) kmsg.Request {
		r := at(version, kmsg.NewPtrFetchRequest())
		to.fetch(r)
		change(r)
		return r
	}
	produce := func(change func(*kmsg.ProduceRequest)) kmsg.Request {
		r := to.produce(12)[0].(*kmsg.ProduceRequest)
		change(r)
		return r
	}
	offsets := func(partitions ...int32) *kmsg.ListOffsetsRequest {
		r := at(7, kmsg.NewPtrListOffsetsRequest())
		r.ReplicaID = -1
		r.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: to.topic}}
		for _, partition := range partitions {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = partition, -1
			r.Topics[0].Partitions = append(r.Topics[0].Partitions, p)
		}
		return r
	}
	const (
		none    = kafka.ErrNone
		unknown = kafka.ErrUnknownTopicOrPartition
		invalid = kafka.ErrInvalidRequest
	)
	for _, test := range []struct {
		what string
		req  kmsg.Request
		want []kafka.ErrorCode // the innermost codes
	}{
		{"Fetch: a negative leader epoch is none", fetch(12, func(r *kmsg.FetchRequest) { r.Topics[0].Partitions[0].CurrentLeaderEpoch = -2 }), []kafka.ErrorCode{none}},
		{"Fetch: an empty name is a name", fetch(12, func(r *kmsg.FetchRequest) { r.Topics[0].Topic = "" }), []kafka.ErrorCode{unknown}},
		{"Fetch: unknown isolation level", fetch(12, func(r *kmsg.FetchRequest) { r.IsolationLevel = 2 }), []kafka.ErrorCode{invalid}},
		{"ListOffsets: partitions named twice", offsets(0, 1, 0, 0), []kafka.ErrorCode{invalid, none}},
		{"ListOffsets: unknown isolation level", func() kmsg.Request { r := offsets(0); r.IsolationLevel = -1; return r }(), []kafka.ErrorCode{invalid}},
		{"Produce: a topic without partitions", produce(func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions = nil }), nil},
		{"Produce: null records", produce(func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Records = nil }), []kafka.ErrorCode{kafka.ErrInvalidRecord}},
		{"Produce: acks 2", produce(func(r *kmsg.ProduceRequest) { r.Acks = 2 }), []kafka.ErrorCode{kafka.ErrInvalidRequiredAcks}},
		{"Produce: an internal topic", produce(func(r *kmsg.ProduceRequest) { r.Topics[0].Topic = kafka.ShareGroupStateTopic }), []kafka.ErrorCode{kafka.ErrInvalidTopicException}},
		{"Produce: a partition that an internal topic has not", produce(func(r *kmsg.ProduceRequest) {
			r.Topics[0].Topic, r.Topics[0].Partitions[0].Partition = kafka.ShareGroupStateTopic, 5
		}), []kafka.ErrorCode{unknown}},
		{"Produce: a transactional id without a transactional batch", produce(func(r *kmsg.ProduceRequest) { r.TransactionID = kmsg.StringPtr("tx") }), []kafka.ErrorCode{none}},
		{"DescribeConfigs: no keys are all keys", func() kmsg.Request {
			r := at(4, kmsg.NewPtrDescribeConfigsRequest())
			r.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: to.topic, ConfigNames: []string{}}}
			return r
		}(), []kafka.ErrorCode{none}},
	} {
		resp, _ := c.exchange(test.req)
		if got := codes(reflect.ValueOf(resp).Elem()); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.what, got, test.want)
		}
		if d, ok := resp.(*kmsg.DescribeConfigsResponse); ok && len(d.Resources[0].Configs) < 30 {
			t.Errorf("%s: %d keys", test.what, len(d.Resources[0].Configs))
		}
	}
}

// TestDescribingHasALimit: any name of a group has an answer, which is much larger
// than the name.
func TestDescribingHasALimit(t *testing.T) {
	n := start(t, nil)
	c := n.conn("PLAINTEXT")
	r := at(4, kmsg.NewPtrDescribeConfigsRequest())
	for i := range 1100 {
		r.Resources = append(r.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeGroupConfig, ResourceName: fmt.Sprint("g", i)})
	}
	for i := range 100 {
		r.Resources = append(r.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: strings.Repeat("0", i) + "1"})
	}
	var groups, refused, brokers int
	for _, row := range ask[*kmsg.DescribeConfigsResponse](c, r).Resources {
		switch {
		case row.ResourceType == kmsg.ConfigResourceTypeBroker:
			brokers++
		case row.ErrorCode == 0 && len(row.Configs) == 21:
			groups++
		default:
			refused++
		}
	}
	if groups != 1000 || refused != 100 || brokers != 8 {
		t.Errorf("%d groups, %d refused, %d brokers", groups, refused, brokers)
	}
}

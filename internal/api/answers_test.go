package api_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestEveryRequestIsAnswered sends what the tables serve, in each version. Each
// answer is one that the codec reads to its end, and none is an error of ours.
func TestEveryRequestIsAnswered(t *testing.T) {
	n := start(t, nil)
	to := target{cluster: n.ClusterID(), topic: "a"}
	to.id = n.conn("PLAINTEXT").create(to.topic, 1)
	for _, table := range tables() {
		c := n.conn(table.listener)
		for _, a := range table.served {
			about := to
			if a.Key == kmsg.DeleteTopics {
				about = target{topic: "nosuch", id: kafka.UUID{9}}
			}
			for version := a.Min; version <= a.Max; version++ {
				for _, req := range about.requests(a.Key, version) {
					resp, b := c.exchange(req)
					if again := resp.AppendTo(nil); !bytes.Equal(again, b) {
						t.Errorf("%s %d: answer of\n%x, read as\n%x", a.Name, version, b, again)
					}
					if slices.Contains(codes(reflect.ValueOf(resp).Elem()), kafka.ErrUnknownServerError) {
						t.Errorf("%s %d: %s", a.Name, version, kafka.ErrUnknownServerError)
					}
				}
			}
		}
	}
}

// TestBrokersAreToldAtTheAddressAtWhichTheClientCame, where a listener is on all
// addresses and nothing is advertised.
func TestBrokersAreToldAtTheAddressAtWhichTheClientCame(t *testing.T) {
	n := start(t, nil, "listeners=PLAINTEXT://:0,CONTROLLER://127.0.0.1:0")
	port := n.Address("PLAINTEXT").Port()
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		c := dial(t, addrPort(host, port))
		m := ask[*kmsg.MetadataResponse](c, metadata(9))
		if len(m.Brokers) != 1 || m.Brokers[0].Host != host || m.Brokers[0].Port != int32(port) {
			t.Errorf("Metadata by %s: %+v, want port %d", host, m.Brokers, port)
		}
		d := ask[*kmsg.DescribeClusterResponse](c, at(2, kmsg.NewPtrDescribeClusterRequest()))
		if len(d.Brokers) != 1 || d.Brokers[0].Host != host || d.Brokers[0].Port != int32(port) {
			t.Errorf("DescribeCluster by %s: %+v, want port %d", host, d.Brokers, port)
		}
	}
}

func TestBrokersAreToldAsAdvertised(t *testing.T) {
	n := start(t, nil, "advertised.listeners=PLAINTEXT://kafka.example:1234,CONTROLLER://c.example:99")
	c := n.conn("PLAINTEXT")
	if m := ask[*kmsg.MetadataResponse](c, metadata(9)); len(m.Brokers) != 1 || m.Brokers[0].Host != "kafka.example" || m.Brokers[0].Port != 1234 {
		t.Errorf("%+v", m.Brokers)
	}
	r := at(2, kmsg.NewPtrDescribeClusterRequest())
	r.EndpointType = 2
	d := ask[*kmsg.DescribeClusterResponse](n.conn("CONTROLLER"), r)
	if len(d.Brokers) != 1 || d.Brokers[0].Host != "c.example" || d.Brokers[0].Port != 99 {
		t.Errorf("controllers: %+v", d.Brokers)
	}
}

// TestPagesOfTopics goes through topics of 2, 3 and 1 partitions in pages of each
// size: all pages together are all partitions, and no page is too large.
func TestPagesOfTopics(t *testing.T) {
	n := start(t, nil, "max.request.partition.size.limit=4")
	c := n.conn("PLAINTEXT")
	sizes := map[string]int32{"a": 2, "b": 3, "c": 1}
	var want []string
	for _, name := range []string{"a", "b", "c"} {
		c.create(name, sizes[name])
		for p := range sizes[name] {
			want = append(want, name+string(rune('0'+p)))
		}
	}
	for _, named := range []bool{false, true} {
		for limit := int32(-1); limit <= 7; limit++ {
			most := max(1, min(4, int(limit)))
			r := at(0, kmsg.NewPtrDescribeTopicPartitionsRequest())
			r.ResponsePartitionLimit = limit
			if named {
				r.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "c"}, {Topic: "a"}, {Topic: "b"}}
			}
			var got []string
			for pages := 0; pages < 10; pages++ {
				resp := ask[*kmsg.DescribeTopicPartitionsResponse](c, r)
				before := len(got)
				for _, topic := range resp.Topics {
					for _, p := range topic.Partitions {
						got = append(got, *topic.Topic+string(rune('0'+p.Partition)))
					}
				}
				if len(got)-before > most {
					t.Errorf("limit %d: a page of %d partitions", limit, len(got)-before)
				}
				if resp.NextCursor == nil {
					break
				}
				r.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: resp.NextCursor.Topic, Partition: resp.NextCursor.Partition}
			}
			if !slices.Equal(got, want) {
				t.Errorf("named %v, limit %d: %v, want %v", named, limit, got, want)
			}
		}
	}
}

// TestMetadataByVersion has the places where versions of Metadata differ.
func TestMetadataByVersion(t *testing.T) {
	n := start(t, nil)
	c := n.conn("PLAINTEXT")
	id := c.create("a", 1)
	byID := func(version int16) kmsg.MetadataResponse {
		r := metadata(version)
		r.Topics = append(r.Topics, kmsg.MetadataRequestTopic{TopicID: id})
		return *ask[*kmsg.MetadataResponse](c, r)
	}
	if r := ask[*kmsg.MetadataResponse](c, metadata(0)); len(r.Topics) != 1 {
		t.Errorf("version 0, no topics are all: %+v", r.Topics)
	}
	if r := ask[*kmsg.MetadataResponse](c, metadata(1)); len(r.Topics) != 0 {
		t.Errorf("version 1, no topics are none: %+v", r.Topics)
	}
	for _, version := range []int16{10, 11} {
		if r := byID(version); r.Topics[0].ErrorCode != int16(kafka.ErrInvalidRequest) || len(r.Brokers) > 0 {
			t.Errorf("version %d has no ids: %+v", version, r)
		}
	}
	for _, version := range []int16{12, 13} {
		if r := byID(version); r.Topics[0].ErrorCode != 0 || *r.Topics[0].Topic != "a" || len(r.Topics[0].Partitions) != 1 {
			t.Errorf("version %d has ids: %+v", version, r.Topics)
		}
	}
	old := ask[*kmsg.MetadataResponse](c, metadata(3, "new")) // allows creation without saying so
	if code := kafka.ErrorCode(old.Topics[0].ErrorCode); code != kafka.ErrUnknownTopicOrPartition {
		t.Errorf("version 3, a topic that is to come: %s", code)
	}
	eventually(t, "the topic comes", func() bool {
		return ask[*kmsg.MetadataResponse](c, metadata(3, "new")).Topics[0].ErrorCode == 0
	})
	no := metadata(4, "newer")
	no.AllowAutoTopicCreation = false
	for range 20 {
		if code := kafka.ErrorCode(ask[*kmsg.MetadataResponse](c, no).Topics[0].ErrorCode); code != kafka.ErrUnknownTopicOrPartition {
			t.Fatalf("version 4, a topic that is not wanted: %s", code)
		}
	}
}

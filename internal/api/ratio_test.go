package api_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/record"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// How often the test repeats an element, and how large an answer may be: so many times
// the request, and what the code's own bound on repetitions lets through besides.
const (
	repetitions = 5000
	fairRatio   = 40
	fairRest    = 2 << 20
)

// TestAnswersAreNotMuchLargerThanRequests repeats each list of each request thousands
// of times and weighs the answer: no request of a megabyte makes an answer of a
// gigabyte. What is described is large: a group with a subscription, an offset with
// metadata, a partition with many producers.
func TestAnswersAreNotMuchLargerThanRequests(t *testing.T) {
	n := start(t, nil, "group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=1")
	to := target{cluster: n.ClusterID(), topic: "a"}
	to.id = n.conn("PLAINTEXT").create(to.topic, 1)
	to.furnish(n.conn("PLAINTEXT"))
	worst := map[string]float64{}
	for _, table := range tables() {
		c := n.conn(table.listener)
		for _, a := range table.served {
			if a.Key == kmsg.Produce || a.Key == kmsg.DeleteTopics || a.Key == kmsg.DeleteGroups || a.Key == kmsg.OffsetDelete || a.Key == kmsg.LeaveGroup {
				continue // they change what the others describe; their answers have a code for each name
			}
			for _, req := range to.requests(a.Key, a.Max) {
				for _, list := range lists(reflect.ValueOf(req).Elem()) {
					old := reflect.ValueOf(list.Interface())
					list.Set(repeated(list, repetitions))
					question := len(req.AppendTo(nil))
					_, answer := c.exchange(req)
					list.Set(old)
					ratio := float64(len(answer)) / float64(question)
					worst[a.Name] = max(worst[a.Name], ratio)
					if len(answer) > fairRatio*question+fairRest {
						t.Errorf("%s: a request of %d bytes has an answer of %d", a.Name, question, len(answer))
					}
				}
			}
		}
	}
	var lines []string
	for name, ratio := range worst {
		lines = append(lines, fmt.Sprintf("%8.1f %s", ratio, name))
	}
	slices.Sort(lines)
	t.Log("bytes of an answer for one of the request:\n" + strings.Join(lines, "\n"))
}

// furnish makes what is described large.
func (g target) furnish(c *conn) {
	c.t.Helper()
	c.coordinated("g")
	j := at(9, kmsg.NewPtrJoinGroupRequest())
	g.fill(j)
	j.SessionTimeoutMillis, j.Protocols[0].Metadata = 300_000, make([]byte, 100_000)
	j.MemberID = ask[*kmsg.JoinGroupResponse](c, j).MemberID
	joined := ask[*kmsg.JoinGroupResponse](c, j)
	s := at(5, kmsg.NewPtrSyncGroupRequest())
	g.fill(s)
	s.MemberID, s.Generation = joined.MemberID, joined.Generation
	s.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: make([]byte, 100_000)}}
	if synced := ask[*kmsg.SyncGroupResponse](c, s); synced.ErrorCode != 0 {
		c.t.Fatalf("sync: %s", kafka.ErrorCode(synced.ErrorCode))
	}
	o := at(9, kmsg.NewPtrOffsetCommitRequest())
	g.fill(o)
	o.MemberID, o.Generation = joined.MemberID, joined.Generation
	o.Topics[0].Partitions[0].Metadata = kmsg.StringPtr(strings.Repeat("m", 4096))
	if done := ask[*kmsg.OffsetCommitResponse](c, o); done.Topics[0].Partitions[0].ErrorCode != 0 {
		c.t.Fatalf("commit: %+v", done)
	}
	for id := range 500 {
		b := record.NewBuilder(record.BatchOptions{Producer: &record.Producer{ID: kafka.ProducerID(id)}})
		b.Append(record.Record{Timestamp: 1_700_000_000_000, Value: []byte(secret)})
		bytes, err := b.Build()
		if err != nil {
			c.t.Fatal(err)
		}
		r := g.produce(9)[0].(*kmsg.ProduceRequest)
		r.Topics[0].Partitions[0].Records = bytes
		if done := ask[*kmsg.ProduceResponse](c, r); done.Topics[0].Partitions[0].ErrorCode != 0 {
			c.t.Fatalf("produce: %+v", done)
		}
	}
}

// lists are all slices in a request that have an element, but for bytes.
func lists(v reflect.Value) (all []reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				all = append(all, lists(v.Field(i))...)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 || v.Len() == 0 {
			return nil
		}
		all = append(all, v)
		for i := range v.Len() {
			all = append(all, lists(v.Index(i))...)
		}
	}
	return all
}

func repeated(list reflect.Value, n int) reflect.Value {
	out := reflect.MakeSlice(list.Type(), 0, n*list.Len())
	for range n {
		out = reflect.AppendSlice(out, list)
	}
	return out
}

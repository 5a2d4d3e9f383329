package group

import (
	"fmt"
	"strings"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestProgressChoosesWholeGroups: where not all offsets may be told, those of a group
// are told or left out together, of groups that are alive first, and each time the
// same.
func TestProgressChoosesWholeGroups(t *testing.T) {
	r := newRig(defaults())
	commit := func(group string, partitions int) {
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Version, req.Group, req.Generation = 8, group, -1
		topic := kmsg.NewOffsetCommitRequestTopic()
		topic.Topic = "t"
		for p := range partitions {
			rp := kmsg.NewOffsetCommitRequestTopicPartition()
			rp.Partition, rp.Offset = int32(p), 7
			topic.Partitions = append(topic.Partitions, rp)
		}
		req.Topics = append(req.Topics, topic)
		r.Do(r.Commit(r.Now, req, func(resp *kmsg.OffsetCommitResponse) {
			if code := resp.Topics[0].Partitions[0].ErrorCode; code != 0 {
				t.Fatalf("commit of %s: %v", group, kafka.ErrorCode(code))
			}
		}))
	}
	commit("large", 4)
	for i := range 5 {
		commit(fmt.Sprint("small-", i), 1)
	}
	commit("alive", 3)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 3, "alive", "consumer", 10_000, 10_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	r.Do(r.Join(r.Now, Client{ID: "c"}, join, func(*kmsg.JoinGroupResponse) {}))

	for limit, want := range map[int]string{
		100: "alive/3! large/4 small-0/1 small-1/1 small-2/1 small-3/1 small-4/1; 0 left",
		12:  "alive/3! large/4 small-0/1 small-1/1 small-2/1 small-3/1 small-4/1; 0 left",
		11:  "alive/3! small-0/1 small-1/1 small-2/1 small-3/1 small-4/1; 4 left",
		5:   "alive/3! small-0/1 small-1/1; 7 left",
		2:   "small-0/1 small-1/1; 10 left",
	} {
		counts := map[string]int{}
		left := r.Progress(limit, func(p Progress) {
			if p.Committed != 7 || int(p.Partition) != counts[p.Group] {
				t.Errorf("%+v after %d partitions", p, counts[p.Group])
			}
			counts[p.Group]++
			if p.Members != (p.Group == "alive") {
				t.Errorf("%+v", p)
			}
		})
		var told []string
		for _, group := range []string{"alive", "large", "small-0", "small-1", "small-2", "small-3", "small-4"} {
			if n := counts[group]; n > 0 {
				mark := ""
				if group == "alive" {
					mark = "!"
				}
				told = append(told, fmt.Sprintf("%s/%d%s", group, n, mark))
			}
		}
		if got := fmt.Sprintf("%s; %d left", strings.Join(told, " "), left); got != want {
			t.Errorf("room for %d: %s, want %s", limit, got, want)
		}
	}
}

// TestProgressOfConsumerGroups: a group of the consumer protocol is alive while all of
// its members have what they are to have.
func TestProgressOfConsumerGroups(t *testing.T) {
	r := newRig(defaults())
	r.cluster.set("t", topicID("t"), 2)
	beat := func(id string, epoch int32) int32 {
		req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		req.Version, req.Group, req.MemberID, req.MemberEpoch = 1, "g", id, epoch
		if epoch == 0 {
			req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.Topics = 60_000, []string{"t"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		}
		r.Do(r.ConsumerHeartbeat(r.Now, Client{}, req, func(string) bool { return true }, func(resp *kmsg.ConsumerGroupHeartbeatResponse) {
			if resp.ErrorCode != 0 {
				t.Fatalf("heartbeat of %s: %v", id, kafka.ErrorCode(resp.ErrorCode))
			}
			epoch = resp.MemberEpoch
		}))
		return epoch
	}
	check := func(what string, alive, members bool, state string, size int) {
		t.Helper()
		told := 0
		r.Progress(10, func(p Progress) {
			told++
			if p.Alive != alive || p.Members != members {
				t.Errorf("%s: %+v", what, p)
			}
		})
		if told != 1 {
			t.Errorf("%s: %d offsets", what, told)
		}
		if s, n := r.Membership("g"); s != state || n != size {
			t.Errorf("%s: %s, %d members", what, s, n)
		}
	}
	epoch := beat("a", 0)
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.MemberID, req.Generation = 9, "g", "a", epoch
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.Partitions = "t", []kmsg.OffsetCommitRequestTopicPartition{kmsg.NewOffsetCommitRequestTopicPartition()}
	req.Topics = append(req.Topics, topic)
	r.Do(r.Commit(r.Now, req, func(resp *kmsg.OffsetCommitResponse) {
		if code := resp.Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.Fatal(kafka.ErrorCode(code))
		}
	}))
	check("one", true, true, "Stable", 1)
	beat("b", 0)
	check("two", false, true, "Assigning", 2)
	beat("a", -1)
	beat("b", -1)
	check("none", false, false, "Empty", 0)
	if s, n := r.Membership("other"); s != "" || n != 0 {
		t.Errorf("a group that is not there: %s, %d members", s, n)
	}
}

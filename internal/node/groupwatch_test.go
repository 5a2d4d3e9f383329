package node

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/lag"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/metrics"
)

// why asks /groups/why.
func (n *fixture) why(group string) (report groupReport, status int) {
	n.t.Helper()
	status, body := n.get("/groups/why?group=" + group)
	if status == http.StatusOK {
		if err := json.Unmarshal([]byte(body), &report); err != nil {
			n.t.Fatalf("%s: %v", body, err)
		}
	}
	return report, status
}

// onGroups runs an operation on the only coordinator until it takes it.
func (n *fixture) onGroups(op func(core *group.Core, now time.Time) machine.Decision) {
	n.t.Helper()
	eventually(n.t, "the coordinator takes an operation", func() bool {
		answer := make(chan bool, 1)
		n.groups.Do(0, func(core *group.Core, now time.Time) machine.Decision {
			answer <- true
			return op(core, now)
		}, func(kafka.ErrorCode) { answer <- false })
		return <-answer
	})
}

// joinAndCommit has a group of one member, and an offset that it commits.
func (n *fixture) joinAndCommit(id, topic string, offset int64) {
	n.t.Helper()
	cl, done := n.client()
	defer done()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey, find.CoordinatorKeys = id, []string{id}
	if _, err := find.RequestWith(n.context(), cl); err != nil {
		n.t.Fatal(err)
	}
	joined := make(chan *kmsg.JoinGroupResponse, 1)
	n.onGroups(func(core *group.Core, now time.Time) machine.Decision {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Version, req.Group, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis, req.ProtocolType = 3, id, 30000, 30000, "consumer"
		req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
		return core.Join(now, group.Client{ID: "reader", Host: "/127.0.0.1"}, req, func(r *kmsg.JoinGroupResponse) { joined <- r })
	})
	member := <-joined
	if member.ErrorCode != 0 {
		n.t.Fatalf("join: %+v", member)
	}
	synced := make(chan *kmsg.SyncGroupResponse, 1)
	n.onGroups(func(core *group.Core, now time.Time) machine.Decision {
		req := kmsg.NewPtrSyncGroupRequest()
		req.Group, req.MemberID, req.Generation = id, member.MemberID, member.Generation
		req.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: member.MemberID}}
		return core.Sync(now, req, func(r *kmsg.SyncGroupResponse) { synced <- r })
	})
	if r := <-synced; r.ErrorCode != 0 {
		n.t.Fatalf("sync: %+v", r)
	}
	committed := make(chan *kmsg.OffsetCommitResponse, 1)
	n.onGroups(func(core *group.Core, now time.Time) machine.Decision {
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Version, req.Group, req.MemberID, req.Generation = 8, id, member.MemberID, member.Generation
		req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: offset, LeaderEpoch: -1}}}}
		return core.Commit(now, req, func(r *kmsg.OffsetCommitResponse) { committed <- r })
	})
	if r := <-committed; r.Topics[0].Partitions[0].ErrorCode != 0 {
		n.t.Fatalf("commit: %+v", r)
	}
}

// TestAGroupThatDoesNotMoveIsStuck: a member commits less than there is, and nothing
// more for a minute of samples.
func TestAGroupThatDoesNotMoveIsStuck(t *testing.T) {
	n := start(t, t.TempDir(), "group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=1")
	if _, status := n.why("nobody"); status != http.StatusNotFound {
		t.Errorf("a group that is not there: %d", status)
	}
	n.create("a", 1, nil)
	n.produce("a", 0, 10)
	n.joinAndCommit("g", "a", 4)
	begin := time.Now()
	n.observeGroups(begin)
	n.observeGroups(begin.Add(lag.StuckAfter + time.Second))
	report, status := n.why("g")
	if status != http.StatusOK || report.State != "Stable" || report.Members != 1 || len(report.Rebalances) == 0 {
		t.Fatalf("status %d, %+v", status, report)
	}
	if r := report.Rebalances[0]; r.Cause != "member-joined" || r.Client != "reader" || r.Outcome != "stable" {
		t.Errorf("the last rebalance is %+v", r)
	}
	at := slices.IndexFunc(report.Partitions, func(p partitionReport) bool { return p.Topic == "a" && p.Partition == 0 })
	if at < 0 || report.Partitions[at].Committed != 4 || report.Partitions[at].Lag != 6 || !report.Partitions[at].Stuck {
		t.Errorf("partitions %+v", report.Partitions)
	}
	families := n.scrape()
	n.watch.mu.Lock()
	n.watch.watch.Observe(begin.Add(2*lag.StuckAfter), nil, 6)
	n.watch.mu.Unlock()
	if report, _ := n.why("g"); len(report.Partitions) > 0 || !report.Unwatched {
		t.Errorf("a group for which there is no room: %+v", report)
	}
	wantValue(t, families, metrics.GroupLag, 6, "group", "g")
	wantValue(t, families, metrics.GroupStuck, 1, "group", "g")
}

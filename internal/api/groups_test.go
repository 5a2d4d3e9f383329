package api_test

import (
	"slices"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// coordinated waits until the group has a coordinator that serves.
func (c *conn) coordinated(group string) {
	c.t.Helper()
	f := at(6, kmsg.NewPtrFindCoordinatorRequest())
	f.CoordinatorKeys = []string{group}
	d := at(5, kmsg.NewPtrDescribeGroupsRequest())
	d.Groups = []string{group}
	eventually(c.t, "a coordinator", func() bool {
		return ask[*kmsg.FindCoordinatorResponse](c, f).Coordinators[0].ErrorCode == 0 &&
			ask[*kmsg.DescribeGroupsResponse](c, d).Groups[0].ErrorCode == 0
	})
}

// TestGroupOfOneThroughAllVersions joins, is assigned, commits, leaves and is
// deleted with each version of the requests that there is.
func TestGroupOfOneThroughAllVersions(t *testing.T) {
	n := start(t, nil, "group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=3")
	c := n.conn("PLAINTEXT")
	to := target{topic: "t"}
	to.id = c.create("t", 1)
	c.coordinated("g")
	for v := int16(0); v <= 9; v++ {
		j := at(v, kmsg.NewPtrJoinGroupRequest())
		to.fill(j)
		joined := ask[*kmsg.JoinGroupResponse](c, j)
		if kafka.ErrorCode(joined.ErrorCode) == kafka.ErrMemberIDRequired {
			j.MemberID = joined.MemberID
			joined = ask[*kmsg.JoinGroupResponse](c, j)
		}
		if joined.ErrorCode != 0 || joined.LeaderID != joined.MemberID || len(joined.Members) != 1 {
			t.Fatalf("join %d: %+v", v, joined)
		}
		s := at(min(v, 5), kmsg.NewPtrSyncGroupRequest())
		to.fill(s)
		s.MemberID, s.Generation = joined.MemberID, joined.Generation
		s.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte("mine")}}
		if synced := ask[*kmsg.SyncGroupResponse](c, s); synced.ErrorCode != 0 || string(synced.MemberAssignment) != "mine" {
			t.Fatalf("sync %d: %+v", v, synced)
		}
		h := at(min(v, 4), kmsg.NewPtrHeartbeatRequest())
		h.Group, h.MemberID, h.Generation = "g", joined.MemberID, joined.Generation
		if beat := ask[*kmsg.HeartbeatResponse](c, h); beat.ErrorCode != 0 {
			t.Fatalf("heartbeat %d: %+v", v, beat)
		}
		o := at(max(v, 2), kmsg.NewPtrOffsetCommitRequest())
		to.fill(o)
		o.MemberID, o.Generation, o.Topics[0].Partitions[0].Offset = joined.MemberID, joined.Generation, int64(v)+100
		if done := ask[*kmsg.OffsetCommitResponse](c, o); done.Topics[0].Partitions[0].ErrorCode != 0 {
			t.Fatalf("commit %d: %+v", v, done)
		}
		if got := c.fetched(to, max(v, 1)); got != int64(v)+100 {
			t.Fatalf("fetch %d: %d", v, got)
		}
		l := at(min(v, 5), kmsg.NewPtrLeaveGroupRequest())
		l.Group, l.MemberID, l.Members = "g", joined.MemberID, []kmsg.LeaveGroupRequestMember{{MemberID: joined.MemberID}}
		left := ask[*kmsg.LeaveGroupResponse](c, l)
		if left.ErrorCode != 0 || len(left.Members) > 0 && left.Members[0].ErrorCode != 0 {
			t.Fatalf("leave %d: %+v", v, left)
		}
	}
	if got := c.fetched(to, 10); got != 109 {
		t.Errorf("fetch 10: %d", got)
	}
	d := at(3, kmsg.NewPtrDeleteGroupsRequest())
	d.Groups = []string{"g", "g"}
	if gone := ask[*kmsg.DeleteGroupsResponse](c, d); len(gone.Groups) != 1 || gone.Groups[0].ErrorCode != 0 {
		t.Errorf("delete: %+v", gone)
	}
	if list := ask[*kmsg.ListGroupsResponse](c, at(5, kmsg.NewPtrListGroupsRequest())); len(list.Groups) != 0 {
		t.Errorf("list: %+v", list)
	}
}

// fetched is the offset that OffsetFetch gives of the target.
func (c *conn) fetched(to target, version int16) int64 {
	c.t.Helper()
	r := at(version, kmsg.NewPtrOffsetFetchRequest())
	to.fill(r)
	resp := ask[*kmsg.OffsetFetchResponse](c, r)
	if version < 8 {
		return resp.Topics[0].Partitions[0].Offset
	}
	return resp.Groups[0].Topics[0].Partitions[0].Offset
}

// TestRightsToGroupsAndTopics: what one right allows, and what it does not.
func TestRightsToGroupsAndTopics(t *testing.T) {
	g := &gate{}
	n := start(t, g, "group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=1")
	c := n.conn("PLAINTEXT")
	to := target{topic: "t"}
	to.id = c.create("t", 1)
	c.coordinated("g")
	commit := at(9, kmsg.NewPtrOffsetCommitRequest())
	to.fill(commit)
	fetch := at(9, kmsg.NewPtrOffsetFetchRequest())
	to.fill(fetch)
	remove := at(0, kmsg.NewPtrOffsetDeleteRequest())
	to.fill(remove)
	groupRule := func(op kmsg.ACLOperation, also ...rule) rule {
		return func(o kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool {
			return o == op && resource == kmsg.ACLResourceTypeGroup && name == "g" ||
				slices.ContainsFunc(also, func(r rule) bool { return r(o, resource, name) })
		}
	}
	const none, noTopic, noGroup = kafka.ErrNone, kafka.ErrTopicAuthorizationFailed, kafka.ErrGroupAuthorizationFailed
	read, describe := topicRule(kmsg.ACLOperationRead, "t"), topicRule(kmsg.ACLOperationDescribe, "t")
	for _, may := range []struct {
		what                  string
		rule                  rule
		commit, fetch, remove kafka.ErrorCode
	}{
		{"read the group", groupRule(kmsg.ACLOperationRead), noTopic, noGroup, noGroup},
		{"read the group and the topic", groupRule(kmsg.ACLOperationRead, read), none, noGroup, noGroup},
		{"describe the group", groupRule(kmsg.ACLOperationDescribe), noGroup, noTopic, noGroup},
		{"describe the group and the topic", groupRule(kmsg.ACLOperationDescribe, describe), noGroup, none, noGroup},
		{"delete the group", groupRule(kmsg.ACLOperationDelete), noGroup, noGroup, noTopic},
		{"delete the group, read the topic", groupRule(kmsg.ACLOperationDelete, read), noGroup, noGroup, none},
	} {
		g.allow(may.rule)
		if got := kafka.ErrorCode(ask[*kmsg.OffsetCommitResponse](c, commit).Topics[0].Partitions[0].ErrorCode); got != may.commit {
			t.Errorf("who may %s commits: %s, want %s", may.what, got, may.commit)
		}
		answer := ask[*kmsg.OffsetFetchResponse](c, fetch).Groups[0]
		got := kafka.ErrorCode(answer.ErrorCode)
		if len(answer.Topics) > 0 {
			got = kafka.ErrorCode(answer.Topics[0].Partitions[0].ErrorCode)
		}
		if got != may.fetch {
			t.Errorf("who may %s fetches: %s, want %s", may.what, got, may.fetch)
		}
		deleted := ask[*kmsg.OffsetDeleteResponse](c, remove)
		got = kafka.ErrorCode(deleted.ErrorCode)
		if len(deleted.Topics) > 0 {
			got = kafka.ErrorCode(deleted.Topics[0].Partitions[0].ErrorCode)
		}
		if got != may.remove {
			t.Errorf("who may %s deletes: %s, want %s", may.what, got, may.remove)
		}
	}
	for what, sees := range map[string]struct {
		rule rule
		want int
	}{
		"nothing":            {nothing, 0},
		"describe the group": {groupRule(kmsg.ACLOperationDescribe), 1},
	} {
		g.allow(sees.rule)
		if list := ask[*kmsg.ListGroupsResponse](c, at(5, kmsg.NewPtrListGroupsRequest())); len(list.Groups) != sees.want {
			t.Errorf("who may %s sees %+v", what, list.Groups)
		}
	}
}

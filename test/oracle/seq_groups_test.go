package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupSequences are the requests of members of classic groups, and those about
// groups.
var groupSequences = slices.Concat(
	versions("groups/life", 0, 9, groupLife),
	versions("groups/join-refused", 0, 9, groupJoinRefused),
	versions("groups/sync", 0, 5, groupSync),
	versions("groups/heartbeat", 0, 4, groupHeartbeat),
	versions("groups/leave", 0, 5, groupLeave),
	versions("groups/static", 5, 9, groupStatic),
	versions("groups/two", 4, 9, groupOfTwo),
	versions("groups/describe", 0, 6, groupDescribe),
	versions("groups/delete", 0, 3, groupDelete),
	versions("groups/list", 0, 5, groupList),
)

// versions makes a sequence of each version.
func versions(name string, from, to int16, run func(s *Session, v int16)) []sequence {
	var list []sequence
	for v := from; v <= to; v++ {
		list = append(list, sequence{fmt.Sprintf("%s/%d", name, v), func(s *Session) { run(s, v) }})
	}
	return list
}

// coordinator opens a connection and waits until the group is served.
func (s *Session) coordinator(label, group string) *Conn {
	c := s.Conn(label)
	f := At(4, kmsg.NewPtrFindCoordinatorRequest())
	f.CoordinatorKeys = []string{group}
	d := At(5, kmsg.NewPtrDescribeGroupsRequest())
	d.Groups = []string{group}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if r, ok := c.Ask(f).(*kmsg.FindCoordinatorResponse); !ok || r.Coordinators[0].ErrorCode != 0 {
			continue
		}
		if r, ok := c.Ask(d).(*kmsg.DescribeGroupsResponse); ok && r.Groups[0].ErrorCode == 0 {
			return c
		}
	}
	panic("no coordinator for " + group)
}

func joinAs(v int16, group, member string, protocols ...string) *kmsg.JoinGroupRequest {
	r := At(v, kmsg.NewPtrJoinGroupRequest())
	r.Group, r.MemberID, r.ProtocolType = group, member, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 20_000, 20_000
	for _, p := range protocols {
		r.Protocols = append(r.Protocols, kmsg.JoinGroupRequestProtocol{Name: p, Metadata: []byte("\x00\x00\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff")})
	}
	return r
}

// join joins and comes back with the id that it is given.
func (c *Conn) join(r *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	resp := c.Send(r).(*kmsg.JoinGroupResponse)
	if resp.ErrorCode == 79 {
		r.MemberID = resp.MemberID
		resp = c.Send(r).(*kmsg.JoinGroupResponse)
	}
	return resp
}

func syncAs(v int16, group string, j *kmsg.JoinGroupResponse, assignments ...string) *kmsg.SyncGroupRequest {
	r := At(v, kmsg.NewPtrSyncGroupRequest())
	r.Group, r.Generation, r.MemberID = group, j.Generation, j.MemberID
	r.ProtocolType, r.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for i, a := range assignments {
		id := j.MemberID
		if i < len(j.Members) {
			id = j.Members[i].MemberID
		}
		r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: []byte(a)})
	}
	return r
}

func heartbeatAs(v int16, group, member string, generation int32) *kmsg.HeartbeatRequest {
	r := At(v, kmsg.NewPtrHeartbeatRequest())
	r.Group, r.MemberID, r.Generation = group, member, generation
	return r
}

func leaveAs(v int16, group string, members ...string) *kmsg.LeaveGroupRequest {
	r := At(v, kmsg.NewPtrLeaveGroupRequest())
	r.Group, r.MemberID = group, members[0]
	for _, m := range members {
		r.Members = append(r.Members, kmsg.LeaveGroupRequestMember{MemberID: m})
	}
	return r
}

func describeGroup(v int16, groups ...string) *kmsg.DescribeGroupsRequest {
	r := At(v, kmsg.NewPtrDescribeGroupsRequest())
	r.Groups, r.IncludeAuthorizedOperations = groups, true
	return r
}

func groupLife(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	j := c.join(joinAs(v, g, "", "range", "roundrobin"))
	c.Send(describeGroup(5, g))
	c.Say("before the assignment").Send(heartbeatAs(4, g, j.MemberID, j.Generation))
	c.Say("the same again").Send(joinAs(v, g, j.MemberID, "range", "roundrobin"))
	c.Send(syncAs(min(v, 5), g, j, "mine"))
	c.Send(describeGroup(5, g))
	c.Send(heartbeatAs(4, g, j.MemberID, j.Generation))
	c.Say("an old generation").Send(heartbeatAs(4, g, j.MemberID, j.Generation-1))
	c.Say("the leader again")
	again := c.join(joinAs(v, g, j.MemberID, "range", "roundrobin"))
	c.Send(syncAs(min(v, 5), g, again, "again"))
	c.Say("other protocols").join(joinAs(v, g, j.MemberID, "roundrobin"))
	c.Say("none in common").Send(joinAs(v, g, j.MemberID, "sticky"))
	c.Send(leaveAs(min(v, 5), g, j.MemberID))
	c.Send(describeGroup(5, g))
	c.Say("after it left").Send(joinAs(v, g, j.MemberID, "range"))
}

func groupJoinRefused(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("no group").Send(joinAs(v, "", "", "range"))
	c.Say("an unknown id").Send(joinAs(v, g, "nobody", "range"))
	for _, ms := range []int32{-1, 0, 5_999, 1_800_001} {
		r := joinAs(v, g, "x", "range")
		r.SessionTimeoutMillis = ms
		c.Say("session of %d ms", ms).Send(r)
	}
	c.Say("no protocol").Send(joinAs(v, g, ""))
	r := joinAs(v, g, "", "range")
	r.ProtocolType = ""
	c.Say("no protocol type").Send(r)
	c.Send(describeGroup(5, g))
	j := c.join(joinAs(v, g, "", "range"))
	r = joinAs(v, g, j.MemberID, "range")
	r.ProtocolType = "connect"
	c.Say("another type").Send(r)
	c.Say("an unknown id, a group with members").Send(joinAs(v, g, "nobody", "range"))
	c.Send(leaveAs(5, g, j.MemberID))
}

func groupSync(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	nobody := &kmsg.JoinGroupResponse{MemberID: "nobody", Generation: 1}
	c.Say("no such group").Send(syncAs(v, g, nobody))
	c.Say("no group").Send(syncAs(v, "", nobody))
	j := c.join(joinAs(4, g, "", "range"))
	c.Say("no such member").Send(syncAs(v, g, nobody))
	r := syncAs(v, g, j)
	r.Generation++
	c.Say("another generation").Send(r)
	r = syncAs(v, g, j)
	r.Protocol = kmsg.StringPtr("roundrobin")
	if v >= 5 {
		c.Say("another protocol").Send(r)
		r.Protocol = nil
		c.Say("no protocol").Send(r)
		r = syncAs(v, g, j)
		r.ProtocolType = kmsg.StringPtr("connect")
		c.Say("another type").Send(r)
	}
	c.Say("no assignment").Send(syncAs(v, g, j))
	c.Say("once more").Send(syncAs(v, g, j, "too late"))
	c.Send(leaveAs(5, g, j.MemberID))
	c.Say("an empty group").Send(syncAs(v, g, j))
}

func groupHeartbeat(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("no such group").Send(heartbeatAs(v, g, "nobody", 1))
	c.Say("no group").Send(heartbeatAs(v, "", "nobody", 1))
	j := c.join(joinAs(4, g, "", "range"))
	c.Say("no such member").Send(heartbeatAs(v, g, "nobody", j.Generation))
	c.Say("no member").Send(heartbeatAs(v, g, "", j.Generation))
	c.Say("a later generation").Send(heartbeatAs(v, g, j.MemberID, j.Generation+1))
	c.Send(heartbeatAs(v, g, j.MemberID, j.Generation))
	if v >= 3 {
		r := heartbeatAs(v, g, j.MemberID, j.Generation)
		r.InstanceID = kmsg.StringPtr("i")
		c.Say("an instance that is not there").Send(r)
	}
	c.Send(leaveAs(5, g, j.MemberID))
	c.Say("left").Send(heartbeatAs(v, g, j.MemberID, j.Generation))
}

func groupLeave(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("no such group").Send(leaveAs(v, g, "nobody"))
	c.Say("no group").Send(leaveAs(v, "", "nobody"))
	pending := c.Send(joinAs(4, g, "", "range")).(*kmsg.JoinGroupResponse)
	c.Say("an id that was given").Send(leaveAs(v, g, pending.MemberID))
	c.Say("and is no more").Send(joinAs(4, g, pending.MemberID, "range"))
	j := c.join(joinAs(4, g, "", "range"))
	c.Say("no such member").Send(leaveAs(v, g, "nobody"))
	c.Say("no member").Send(leaveAs(v, g, ""))
	if v >= 3 {
		c.Say("two").Send(leaveAs(v, g, j.MemberID, "nobody"))
		c.Say("none").Send(func() kmsg.Request { r := leaveAs(v, g, "x"); r.Members = nil; return r }())
	} else {
		c.Send(leaveAs(v, g, j.MemberID))
	}
	c.Send(leaveAs(v, g, j.MemberID))
	c.Send(describeGroup(5, g))
}

func groupStatic(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	instance := func(r *kmsg.JoinGroupRequest) *kmsg.JoinGroupRequest {
		r.InstanceID = kmsg.StringPtr("i")
		return r
	}
	j := c.join(instance(joinAs(v, g, "", "range")))
	r := syncAs(5, g, j, "mine")
	r.InstanceID = kmsg.StringPtr("i")
	c.Send(r)
	again := c.Say("restarted").join(instance(joinAs(v, g, "", "range")))
	c.Say("its assignment").Send(syncAs(5, g, again))
	h := heartbeatAs(4, g, j.MemberID, j.Generation)
	c.Say("the old id").Send(h)
	h.InstanceID = kmsg.StringPtr("i")
	c.Say("the old id, as the instance").Send(h)
	r.MemberID = j.MemberID
	c.Say("the old id").Send(r)
	c.Say("the old id").Send(instance(joinAs(v, g, j.MemberID, "range")))
	c.Say("a member with an instance that is not there").Send(func() kmsg.Request {
		r := joinAs(v, g, again.MemberID, "range")
		r.InstanceID = kmsg.StringPtr("other")
		return r
	}())
	c.Send(describeGroup(5, g))
	l := leaveAs(5, g, j.MemberID)
	l.Members[0].InstanceID = kmsg.StringPtr("i")
	c.Say("the old id").Send(l)
	l.Members[0].MemberID = ""
	c.Say("by the instance").Send(l)
	c.Say("by the instance").Send(l)
	c.Send(describeGroup(5, g))
}

func groupOfTwo(s *Session, v int16) {
	g := s.Topic("g")
	a, b := s.coordinator("a", g), s.coordinator("b", g)
	first := a.join(joinAs(v, g, "", "range"))
	a.Send(syncAs(5, g, first, "all"))
	second := b.Send(joinAs(v, g, "", "range")).(*kmsg.JoinGroupResponse)
	waits := b.Begin(joinAs(v, g, second.MemberID, "range"))
	for range 500 {
		if r, ok := a.Ask(heartbeatAs(4, g, first.MemberID, first.Generation)).(*kmsg.HeartbeatResponse); ok && r.ErrorCode == 27 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	a.Say("in a rebalance").Send(heartbeatAs(4, g, first.MemberID, first.Generation))
	a.Say("in a rebalance").Send(syncAs(5, g, first))
	leader := a.Ask(joinAs(v, g, first.MemberID, "range")).(*kmsg.JoinGroupResponse)
	s.Note("%d members", len(leader.Members))
	follower := waits().(*kmsg.JoinGroupResponse)
	end := b.Begin(syncAs(5, g, follower))
	leader.Members = nil
	r := syncAs(5, g, leader, "one")
	r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: follower.MemberID, MemberAssignment: []byte("two")})
	time.Sleep(100 * time.Millisecond)
	a.Send(r)
	end()
	b.Say("without news").Send(joinAs(v, g, follower.MemberID, "range"))
	a.Send(leaveAs(5, g, first.MemberID, follower.MemberID))
	a.Send(describeGroup(5, g))
}

func groupDescribe(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("not there").Send(describeGroup(v, g))
	j := c.join(joinAs(4, g, "", "range"))
	c.Say("without an assignment").Send(describeGroup(v, g))
	c.Send(syncAs(5, g, j, "mine"))
	c.Send(describeGroup(v, g))
	r := describeGroup(v, g)
	r.IncludeAuthorizedOperations = false
	c.Say("without operations").Send(r)
	c.Say("nothing").Send(describeGroup(v))
	c.Send(leaveAs(5, g, j.MemberID))
	c.Say("empty").Send(describeGroup(v, g))
}

func groupDelete(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	r := At(v, kmsg.NewPtrDeleteGroupsRequest())
	r.Groups = []string{g}
	c.Say("not there").Send(r)
	j := c.join(joinAs(4, g, "", "range"))
	c.Say("with members").Send(r)
	c.Send(leaveAs(5, g, j.MemberID))
	r.Groups = []string{g, g}
	c.Say("twice").Send(r)
	c.Send(r)
	c.Send(describeGroup(5, g))
	r.Groups = nil
	c.Say("nothing").Send(r)
}

// groupList lists the groups of the sequence, in many states, by filters of states
// and types. Those of other sequences are left out.
func groupList(s *Session, v int16) {
	c := s.coordinator("a", s.Topic("stable"))
	t := c.topic("t", 1)
	c.Send(syncAs(5, s.Topic("stable"), c.join(joinAs(4, s.Topic("stable"), "", "range")), "mine"))
	c.join(joinAs(4, s.Topic("completing"), "", "range"))
	gone := c.join(joinAs(4, s.Topic("empty"), "", "range"))
	c.Send(syncAs(5, s.Topic("empty"), gone, "mine"))
	c.Send(leaveAs(5, s.Topic("empty"), gone.MemberID))
	other := joinAs(4, s.Topic("other"), "", "range")
	other.ProtocolType = "connect"
	worker := c.join(other)
	sync := syncAs(5, s.Topic("other"), worker, "mine")
	sync.ProtocolType = kmsg.StringPtr("connect")
	c.Send(sync)
	c.Send(joinAs(4, s.Topic("pending"), "", "range")) // gets an id, and does not come back
	c.Send(commitTo(8, s.Topic("simple"), t, 0, 1, nil))

	list := func(what string, states, types []string) {
		r := At(v, kmsg.NewPtrListGroupsRequest())
		r.StatesFilter, r.TypesFilter = states, types
		resp, ok := c.Ask(r).(*kmsg.ListGroupsResponse)
		if !ok {
			s.Note("%s: no answer", what)
			return
		}
		s.Note("%s: error %d", what, resp.ErrorCode)
		slices.SortFunc(resp.Groups, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
		for _, g := range resp.Groups {
			if name, ours := strings.CutPrefix(g.Group, s.Topic("")); ours {
				s.Note("%s: %q %q %q", name, g.ProtocolType, g.GroupState, g.GroupType)
			}
		}
	}
	list("all", nil, nil)
	if v >= 4 {
		for _, state := range []string{"Stable", "stable", " Empty ", "EMPTY", "CompletingRebalance", "completing_rebalance", "PreparingRebalance", "Dead", "Assigning", "Unknown", "nosuch", ""} {
			list("state "+state, []string{state}, nil)
		}
		list("two states", []string{"Empty", "Stable"}, nil)
		list("a state that is none, and one", []string{"nosuch", "Stable"}, nil)
	}
	if v >= 5 {
		for _, kind := range []string{"classic", "Classic", " classic ", "consumer", "share", "streams", "unknown", "nosuch", ""} {
			list("type "+kind, nil, []string{kind})
		}
		list("state and type", []string{"Stable"}, []string{"classic"})
		list("state and another type", []string{"Stable"}, []string{"consumer"})
	}
}

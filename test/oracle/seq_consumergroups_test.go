package oracle

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroupSequences are the requests of members of the consumer protocol
// (KIP-848). The servers make a target at once (group.consumer.assignment.interval.ms
// is 0), so that nothing depends on time; seq_consumergroups_life_test.go has the lives
// of groups, this file what is refused.
var consumerGroupSequences = slices.Concat(
	versions("consumergroups/refused", 0, 1, cgRefused),
	versions("consumergroups/no-group", 0, 1, cgNoGroup),
	versions("consumergroups/other-kind", 0, 1, cgOtherKind),
	versions("consumergroups/epochs", 0, 1, cgEpochs),
	versions("consumergroups/owned", 0, 1, cgOwned),
	versions("consumergroups/instances", 0, 1, cgInstances),
	versions("consumergroups/assignors-refused", 0, 1, cgAssignorsRefused),
	versions("consumergroups/ids", 0, 1, cgIDs),
	[]sequence{
		{"consumergroups/regexes-refused", cgRegexesRefused},
		{"consumergroups/long-names", cgLongNames},
		{"consumergroups/classic-requests", cgClassicRequests},
		{"consumergroups/describe-refused/0", func(s *Session) { cgDescribeRefused(s, 0) }},
		{"consumergroups/describe-refused/1", func(s *Session) { cgDescribeRefused(s, 1) }},
	},
	versions("consumergroups/commit-refused", 2, 10, cgCommitRefused),
	versions("consumergroups/fetch-refused", 8, 10, cgFetchRefused),
	consumerGroupLives,
)

// beat is a ConsumerGroupHeartbeat. With epoch 0 it is a full one: of a member that is
// subscribed to nothing unless change says otherwise.
func beat(v int16, group, member string, epoch int32, change ...func(*kmsg.ConsumerGroupHeartbeatRequest)) *kmsg.ConsumerGroupHeartbeatRequest {
	r := At(v, kmsg.NewPtrConsumerGroupHeartbeatRequest())
	r.Group, r.MemberID, r.MemberEpoch = group, member, epoch
	if epoch == 0 {
		r.RebalanceTimeoutMillis, r.SubscribedTopicNames = 60_000, []string{}
		r.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	for _, f := range change {
		f(r)
	}
	return r
}

type beatOption = func(*kmsg.ConsumerGroupHeartbeatRequest)

func topicsOf(topics ...topic) beatOption {
	return func(r *kmsg.ConsumerGroupHeartbeatRequest) {
		r.SubscribedTopicNames = []string{}
		for _, t := range topics {
			r.SubscribedTopicNames = append(r.SubscribedTopicNames, t.name)
		}
	}
}

func namesOf(names ...string) beatOption {
	return func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.SubscribedTopicNames = append([]string{}, names...) }
}

// regexOf subscribes by a regular expression alone.
func regexOf(regex string) beatOption {
	return func(r *kmsg.ConsumerGroupHeartbeatRequest) {
		r.SubscribedTopicNames, r.SubscribedTopicRegex = nil, &regex
	}
}

func instanceOf(id string) beatOption {
	return func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.InstanceID = &id }
}

func assignorOf(name string) beatOption {
	return func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.ServerAssignor = &name }
}

func rackOf(rack string) beatOption {
	return func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.RackID = &rack }
}

func rebalanceOf(ms int32) beatOption {
	return func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.RebalanceTimeoutMillis = ms }
}

// owns says what the member has: partitions of topics in turn; none at all with
// nothing.
func owns(t topic, partitions ...int32) beatOption {
	return func(r *kmsg.ConsumerGroupHeartbeatRequest) {
		if r.Topics == nil {
			r.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		}
		if len(partitions) > 0 {
			r.Topics = append(r.Topics, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: t.id, Partitions: partitions})
		}
	}
}

// describeConsumers describes consumer groups.
func describeConsumers(v int16, groups ...string) *kmsg.ConsumerGroupDescribeRequest {
	r := At(v, kmsg.NewPtrConsumerGroupDescribeRequest())
	r.Groups, r.IncludeAuthorizedOperations = groups, true
	return r
}

func cgRefused(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("no member").Send(beat(v, g, "", 0, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.RebalanceTimeoutMillis = -1 }))
	c.Say("no member, an epoch").Send(beat(v, g, "", 3))
	c.Say("no member leaves").Send(beat(v, g, "", -1))
	c.Say("no group").Send(beat(v, "", "m", 0))
	c.Say("a blank group").Send(beat(v, " ", "m", 0))
	c.Say("no instance").Send(beat(v, g, "m", 0, instanceOf("")))
	c.Say("a blank instance").Send(beat(v, g, "m", 0, instanceOf("  ")))
	c.Say("no rack").Send(beat(v, g, "m", 0, rackOf("")))
	c.Say("no timeout").Send(beat(v, g, "m", 0, rebalanceOf(-1)))
	c.Say("it has something").Send(beat(v, g, "m", 0, owns(topic{id: [16]byte{9}}, 0)))
	c.Say("it does not say what it has").Send(beat(v, g, "m", 0, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.Topics = nil }))
	c.Say("no subscription").Send(beat(v, g, "m", 0, func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.SubscribedTopicNames = nil }))
	c.Say("static leave without an instance").Send(beat(v, g, "m", -2))
	c.Say("an epoch that is none").Send(beat(v, g, "m", -3))
	c.Say("several mistakes").Send(beat(v, "", "", -3, instanceOf(""), rackOf("")))
	c.Say("a timeout of -2").Send(beat(v, g, "m", 0, rebalanceOf(-2)))
	c.Send(describeConsumers(v, g))
}

func cgNoGroup(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("an epoch").Send(beat(v, g, "m", 1))
	c.Say("leaves").Send(beat(v, g, "m", -1))
	c.Say("leaves for a while").Send(beat(v, g, "m", -2, instanceOf("i")))
	c.Say("a static one with an epoch").Send(beat(v, g, "m", 1, instanceOf("i")))
	c.Send(describeConsumers(v, g))
}

func cgOtherKind(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	c.Say("a simple group").Send(commitTo(9, g, t, 0, 5, nil))
	c.Say("an epoch").Send(beat(v, g, "m", 1))
	c.Say("leaves").Send(beat(v, g, "m", -1))
	c.Send(describeConsumers(v, g))
	c.Say("the simple group becomes one").Send(beat(v, g, "m", 0, topicsOf(t)))
	c.Say("its offset").Send(fetchFrom(9, g, &t, 0))
	c.Say("no classic group").Send(describeGroup(6, g))
	other := s.Topic("connect")
	c.coordinated(other)
	j := joinAs(4, other, "", "range")
	j.ProtocolType = "connect"
	c.join(j)
	c.Say("a group of another type").Send(beat(v, other, "m", 0, topicsOf(t)))
	c.Say("leaves it").Send(beat(v, other, "m", -1))
}

// coordinated waits until another group is served.
func (c *Conn) coordinated(group string) { c.s.coordinator("b", group).c.Close() }

func cgEpochs(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 4)
	first := c.Send(beat(v, g, "m", 0, topicsOf(t))).(*kmsg.ConsumerGroupHeartbeatResponse)
	c.Say("the next epoch").Send(beat(v, g, "m", first.MemberEpoch+1))
	c.Say("the one before, nothing said").Send(beat(v, g, "m", first.MemberEpoch-1))
	c.Say("the one before, nothing owned").Send(beat(v, g, "m", first.MemberEpoch-1, owns(t)))
	c.Say("a huge one").Send(beat(v, g, "m", 1<<30))
	c.Say("another member").Send(beat(v, g, "n", first.MemberEpoch))
	c.Say("an unknown one leaves").Send(beat(v, g, "n", -1))
	c.Say("the right one").Send(beat(v, g, "m", first.MemberEpoch))
	c.Say("it begins anew").Send(beat(v, g, "m", 0, topicsOf(t)))
	c.Send(describeConsumers(v, g))
	c.Say("leaves").Send(beat(v, g, "m", -1))
	c.Say("leaves again").Send(beat(v, g, "m", -1))
	c.Say("an epoch after it left").Send(beat(v, g, "m", first.MemberEpoch))
}

func cgOwned(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	m := c.Send(beat(v, g, "m", 0, topicsOf(t))).(*kmsg.ConsumerGroupHeartbeatResponse)
	e := m.MemberEpoch
	c.Say("all of it").Send(beat(v, g, "m", e, owns(t, 0, 1)))
	c.Say("less").Send(beat(v, g, "m", e, owns(t, 0)))
	c.Say("more than there is").Send(beat(v, g, "m", e, owns(t, 0, 1, 7)))
	c.Say("another topic").Send(beat(v, g, "m", e, owns(topic{id: [16]byte{9}}, 0)))
	c.Say("a full request").Send(beat(v, g, "m", e, owns(t, 0, 1), topicsOf(t), rebalanceOf(60_000)))
	c.Say("another subscription raises the epoch").Send(beat(v, g, "m", e, owns(t, 0, 1), topicsOf(t, topic{name: s.Topic("none")})))
	c.Say("the epoch before, of what it has").Send(beat(v, g, "m", e, owns(t, 1)))
	c.Say("the epoch before, of more").Send(beat(v, g, "m", e, owns(t, 1, 2)))
	c.Say("two before").Send(beat(v, g, "m", e-1, owns(t, 1)))
}

func cgInstances(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	c.Say("unknown").Send(beat(v, g, "m", 1, instanceOf("i")))
	m := c.Send(beat(v, g, "m", 0, topicsOf(t), instanceOf("i"))).(*kmsg.ConsumerGroupHeartbeatResponse)
	c.Say("in use").Send(beat(v, g, "n", 0, topicsOf(t), instanceOf("i")))
	c.Say("in use, by the same").Send(beat(v, g, "m", 0, topicsOf(t), instanceOf("i")))
	c.Say("fenced").Send(beat(v, g, "n", m.MemberEpoch, instanceOf("i")))
	c.Say("another instance").Send(beat(v, g, "m", m.MemberEpoch, instanceOf("k")))
	c.Say("without its instance").Send(beat(v, g, "m", m.MemberEpoch))
	c.Say("fenced when it leaves").Send(beat(v, g, "n", -1, instanceOf("i")))
	c.Say("an unknown one leaves").Send(beat(v, g, "m", -2, instanceOf("k")))
	c.Say("leaves for a while").Send(beat(v, g, "m", -2, instanceOf("i")))
	c.Send(describeConsumers(v, g))
	c.Say("goes on").Send(beat(v, g, "m", m.MemberEpoch, instanceOf("i")))
	c.Say("another takes its place").Send(beat(v, g, "n", 0, topicsOf(t), instanceOf("i")))
	c.Say("the first again").Send(beat(v, g, "m", 0, topicsOf(t), instanceOf("i")))
	c.Say("the first goes on").Send(beat(v, g, "m", m.MemberEpoch, instanceOf("i")))
	c.Send(describeConsumers(v, g))
}

func cgAssignorsRefused(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	for _, name := range []string{"", "sticky", "Uniform", "uniform ", "org.apache.kafka.coordinator.group.assignor.UniformAssignor"} {
		c.Say("%q", name).Send(beat(v, g, "m", 0, assignorOf(name)))
	}
	c.Say("of a member that goes on").Send(beat(v, g, "m", 1, assignorOf("sticky")))
	c.Say("of one that leaves").Send(beat(v, g, "m", -1, assignorOf("sticky")))
	c.Say("after other mistakes").Send(beat(v, g, "m", -3, assignorOf("sticky")))
}

func cgIDs(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	for _, id := range []string{"m", " m ", "\u00fc\u20ac", strings.Repeat("x", 32_000)} {
		r := c.Say("%d bytes", len(id)).Send(beat(v, g, id, 0, topicsOf(t))).(*kmsg.ConsumerGroupHeartbeatResponse)
		if r.ErrorCode == 0 {
			c.Send(beat(v, g, id, r.MemberEpoch))
			c.Say("leaves").Send(beat(v, g, id, -1))
		}
	}
	c.Say("a blank one").Send(beat(v, g, "  ", 0, topicsOf(t)))
}

func cgRegexesRefused(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	for _, regex := range []string{"(", ")", "[a", "*", "a**", "a{1001}", `\`, `(?<x`, `\8`, `(?=a)`, `[[:foo:]]`, `x{2,1}`} {
		c.Say("%s", regex).Send(beat(1, g, "m", 0, regexOf(regex)))
	}
	c.Say("an empty one").Send(beat(1, g, "m", 0, regexOf("")))
	c.Say("a member that goes on brings a bad one").Send(beat(1, g, "m", 1, regexOf("(")))
	c.Say("and the same group").Send(beat(1, g, "n", 0, regexOf("[")))
	c.Send(describeConsumers(1, g))
}

func cgLongNames(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("a name of a topic that cannot be").Send(beat(1, g, "m", 0, namesOf(strings.Repeat("x", 300))))
	c.Say("no name").Send(beat(1, g, "m", 2, namesOf("")))
	c.Say("one name twice").Send(beat(1, g, "m", 3, namesOf("a", "a", "b")))
	c.Say("the same in another order").Send(beat(1, g, "m", 4, namesOf("b", "a")))
	c.Send(describeConsumers(1, g))
}

// cgClassicRequests sends what members of classic groups send to a group whose
// members all use the consumer protocol.
func cgClassicRequests(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	m := c.Send(beat(1, g, "m", 0, topicsOf(t))).(*kmsg.ConsumerGroupHeartbeatResponse)
	c.Say("of a member of the other protocol").Send(heartbeatAs(4, g, "m", m.MemberEpoch))
	c.Say("of nobody").Send(heartbeatAs(4, g, "nobody", m.MemberEpoch))
	c.Send(syncAs(5, g, &kmsg.JoinGroupResponse{MemberID: "m", Generation: m.MemberEpoch}))
	c.Send(leaveAs(5, g, "nobody"))
	r := joinAs(9, g, "", "range")
	r.ProtocolType = "connect"
	c.Say("another type").Send(r)
	c.Say("no protocols").Send(joinAs(9, g, ""))
	c.Send(describeGroup(5, g))
	c.Send(describeGroup(6, g))
	c.Say("a member leaves by the other protocol").Send(leaveAs(5, g, "m"))
	c.Send(describeConsumers(1, g))
}

func cgDescribeRefused(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("no group").Send(describeConsumers(v))
	c.Say("a group without a name").Send(describeConsumers(v, ""))
	c.Say("one that is not there").Send(describeConsumers(v, g))
	c.Say("one twice").Send(describeConsumers(v, g, g))
	t := c.topic("t", 1)
	c.Ask(commitTo(9, g, t, 0, 5, nil))
	c.Say("a simple one").Send(describeConsumers(v, g))
	r := describeConsumers(v, g)
	r.IncludeAuthorizedOperations = false
	c.Ask(beat(1, g, "m", 0, topicsOf(t)))
	c.Say("without operations").Send(r)
}

// commitAs is an OffsetCommit of a member.
func commitAs(v int16, group, member string, epoch int32, t topic, partition int32) *kmsg.OffsetCommitRequest {
	r := commitTo(v, group, t, partition, 7, nil)
	r.MemberID, r.Generation = member, epoch
	return r
}

func cgCommitRefused(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 3)
	c.Say("no group").Send(commitAs(v, g, "m", 3, t, 0))
	m := c.Ask(beat(1, g, "m", 0, topicsOf(t))).(*kmsg.ConsumerGroupHeartbeatResponse)
	e := m.MemberEpoch
	c.Say("its epoch").Send(commitAs(v, g, "m", e, t, 0))
	c.Say("a later one").Send(commitAs(v, g, "m", e+1, t, 0))
	c.Say("an earlier one").Send(commitAs(v, g, "m", e-1, t, 0))
	c.Say("no epoch").Send(commitAs(v, g, "m", -1, t, 0))
	c.Say("nobody").Send(commitAs(v, g, "nobody", e, t, 0))
	c.Say("no member").Send(commitTo(v, g, t, 0, 1, nil))
	// The member goes to another epoch and keeps what it has.
	c.Ask(beat(1, g, "m", e, topicsOf(t, topic{name: s.Topic("none")})))
	c.Say("the epoch before, of what it had then").Send(commitAs(v, g, "m", e, t, 1))
	c.Say("the epoch before, of what it has not").Send(commitAs(v, g, "m", e, topic{name: t.name, id: t.id}, 9))
	two := commitAs(v, g, "m", e-1, t, 0)
	two.Topics[0].Partitions = append(two.Topics[0].Partitions, commitAs(v, g, "m", e, t, 2).Topics[0].Partitions...)
	c.Say("two before").Send(two)
	c.Ask(beat(1, g, "m", -1))
	c.Say("an empty group, no member").Send(commitTo(v, g, t, 2, 1, nil))
	c.Say("an empty group, a member").Send(commitAs(v, g, "m", e, t, 2))
	c.Say("what is left").Send(fetchFrom(9, g, &t, 0, 1, 2))
}

func cgFetchRefused(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	m := c.Ask(beat(1, g, "m", 0, topicsOf(t))).(*kmsg.ConsumerGroupHeartbeatResponse)
	c.Ask(commitAs(9, g, "m", m.MemberEpoch, t, 0))
	as := func(member *string, epoch int32) *kmsg.OffsetFetchRequest {
		r := fetchFrom(v, g, &t, 0)
		r.Groups[0].MemberID, r.Groups[0].MemberEpoch = member, epoch
		return r
	}
	c.Say("no member").Send(as(nil, -1))
	c.Say("its epoch").Send(as(kmsg.StringPtr("m"), m.MemberEpoch))
	c.Say("a later one").Send(as(kmsg.StringPtr("m"), m.MemberEpoch+1))
	c.Say("an earlier one").Send(as(kmsg.StringPtr("m"), m.MemberEpoch-1))
	c.Say("no epoch").Send(as(kmsg.StringPtr("m"), -1))
	c.Say("nobody").Send(as(kmsg.StringPtr("nobody"), m.MemberEpoch))
	c.Say("no name").Send(as(kmsg.StringPtr(""), -1))
	c.Say("no member, an epoch").Send(as(nil, m.MemberEpoch))
	stable := as(kmsg.StringPtr("m"), m.MemberEpoch)
	stable.RequireStable = true
	c.Say("stable").Send(stable)
	all := fetchFrom(v, g, nil)
	all.Groups[0].MemberID, all.Groups[0].MemberEpoch = kmsg.StringPtr("m"), m.MemberEpoch
	c.Say("all offsets").Send(all)
}

// awaitBeat sends heartbeats until the answer is as it is to be, which is told.
func (c *Conn) awaitBeat(r *kmsg.ConsumerGroupHeartbeatRequest, done func(*kmsg.ConsumerGroupHeartbeatResponse) bool) *kmsg.ConsumerGroupHeartbeatResponse {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		resp := c.Ask(r).(*kmsg.ConsumerGroupHeartbeatResponse)
		if resp.ErrorCode != 0 || done(resp) {
			return resp
		}
		r.MemberEpoch = resp.MemberEpoch
	}
	check(errors.New("no answer as it is to be"))
	return nil
}

package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroupLives are the lives of groups of the consumer protocol.
var consumerGroupLives = slices.Concat(
	versions("consumergroups/life", 0, 1, cgLife),
	versions("consumergroups/two", 0, 1, cgTwo),
	versions("consumergroups/topics", 0, 1, cgTopics),
	versions("consumergroups/static-life", 0, 1, cgStaticLife),
	assignments("uniform"),
	assignments("range"),
	[]sequence{
		{"consumergroups/heterogeneous", cgHeterogeneous},
		{"consumergroups/assignor-votes", cgAssignorVotes},
		{"consumergroups/subscription", cgSubscription},
		{"consumergroups/revocation", cgRevocation},
		{"consumergroups/rejoin-while-revoking", cgRejoinWhileRevoking},
		{"consumergroups/leave-while-revoking", cgLeaveWhileRevoking},
		{"consumergroups/recreated-topic", cgRecreatedTopic},
		{"consumergroups/topic-to-come", cgTopicToCome},
		{"consumergroups/regex", cgRegex},
		{"consumergroups/regex-and-names", cgRegexAndNames},
		{"consumergroups/regex-changes", cgRegexChanges},
		{"consumergroups/session-expires", cgSessionExpires},
		{"consumergroups/static-session-expires", cgStaticSessionExpires},
		{"consumergroups/revocation-expires", cgRevocationExpires},
		{"consumergroups/configs", cgConfigs},
		{"consumergroups/interval", cgInterval},
		{"consumergroups/list", cgList},
		{"consumergroups/delete", cgDelete},
		{"consumergroups/delete-offsets", cgDeleteOffsets},
		{"consumergroups/offsets", cgOffsets},
		{"consumergroups/taken-by-classic", cgTakenByClassic},
		{"consumergroups/upgrade", cgUpgrade},
		{"consumergroups/upgrade-while-preparing", cgUpgradeWhilePreparing},
		{"consumergroups/upgrade-refused", cgUpgradeRefused},
		{"consumergroups/upgrade-user-data", cgUpgradeUserData},
		{"consumergroups/downgrade", cgDowngrade},
		{"consumergroups/downgrade-by-leave-group", cgDowngradeByLeaveGroup},
		{"consumergroups/mixed", cgMixed},
		{"consumergroups/mixed-static", cgMixedStatic},
		{"consumergroups/static-replaced-by-classic", cgStaticReplacedByClassic},
		{"consumergroups/static-replaces-classic", cgStaticReplacesClassic},
	},
)

// epochOf is a heartbeat whose answer's epoch is wanted.
func (c *Conn) epochOf(r *kmsg.ConsumerGroupHeartbeatRequest) int32 {
	return c.Send(r).(*kmsg.ConsumerGroupHeartbeatResponse).MemberEpoch
}

func cgLife(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 3)
	e := c.epochOf(beat(v, g, "m", 0, topicsOf(t), rackOf("r1")))
	c.Send(describeConsumers(v, g))
	c.Send(beat(v, g, "m", e))
	c.Say("what it has").Send(beat(v, g, "m", e, owns(t, 0, 1, 2)))
	c.Say("another rack").Send(beat(v, g, "m", e, rackOf("r2")))
	c.Say("another timeout").Send(beat(v, g, "m", e, rebalanceOf(1_000)))
	c.Send(describeConsumers(v, g))
	e = c.epochOf(beat(v, g, "m", e, namesOf()))
	e = c.epochOf(beat(v, g, "m", e, owns(t)))
	c.Send(beat(v, g, "m", e))
	c.Say("leaves").Send(beat(v, g, "m", -1))
	c.Send(describeConsumers(v, g))
	c.Say("comes back").Send(beat(v, g, "m", 0, topicsOf(t)))
	c.Send(describeConsumers(v, g))
}

func cgTwo(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 4)
	a := c.epochOf(beat(v, g, "a", 0, topicsOf(t)))
	b := c.epochOf(beat(v, g, "b", 0, topicsOf(t)))
	c.Send(describeConsumers(v, g))
	c.Say("b waits").Send(beat(v, g, "b", b))
	a = c.epochOf(beat(v, g, "a", a))
	c.Say("a has to give back").Send(beat(v, g, "a", a, owns(t, 0, 1, 2, 3)))
	c.Say("b waits still").Send(beat(v, g, "b", b))
	c.Send(describeConsumers(v, g))
	a = c.epochOf(beat(v, g, "a", a, owns(t)))
	b = c.epochOf(beat(v, g, "b", b))
	c.Send(beat(v, g, "a", a))
	c.Send(beat(v, g, "b", b))
	c.Send(describeConsumers(v, g))
	c.Say("b leaves").Send(beat(v, g, "b", -1))
	a = c.epochOf(beat(v, g, "a", a))
	c.Send(beat(v, g, "a", a))
	c.Send(describeConsumers(v, g))
}

func cgTopics(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t, u := c.topic("t", 2), c.topic("u", 1)
	e := c.epochOf(beat(v, g, "m", 0, topicsOf(t, u)))
	r := At(3, kmsg.NewPtrCreatePartitionsRequest())
	r.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: t.name, Count: 4}}
	r.TimeoutMillis = 30_000
	c.Send(r)
	grown := c.awaitBeat(beat(v, g, "m", e), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool { return r.Assignment != nil })
	c.Say("with more partitions").Send(describeConsumers(v, g))
	c.Send(deleteTopics(5, u.name))
	c.awaitGone(u.name)
	after := c.awaitBeat(beat(v, g, "m", grown.MemberEpoch, owns(t, 0, 1, 2, 3)), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool { return r.MemberEpoch != grown.MemberEpoch })
	c.Say("with a topic less").Send(beat(v, g, "m", after.MemberEpoch))
	c.Send(describeConsumers(v, g))
}

func cgStaticLife(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	c.Send(beat(v, g, "a", 0, topicsOf(t), instanceOf("i")))
	c.Say("away").Send(beat(v, g, "a", -2, instanceOf("i")))
	c.Say("away again").Send(beat(v, g, "a", -2, instanceOf("i")))
	c.Send(describeConsumers(v, g))
	b := c.epochOf(beat(v, g, "b", 0, topicsOf(t), instanceOf("i")))
	c.Say("it has what the other had").Send(beat(v, g, "b", b, instanceOf("i")))
	c.Send(describeConsumers(v, g))
	c.Say("away").Send(beat(v, g, "b", -2, instanceOf("i")))
	c.Say("back with another subscription").Send(beat(v, g, "c", 0, namesOf(), instanceOf("i")))
	c.Send(describeConsumers(v, g))
	c.Say("a second one").Send(beat(v, g, "d", 0, topicsOf(t), instanceOf("k")))
	c.Say("for good").Send(beat(v, g, "c", -1, instanceOf("i")))
	c.Send(describeConsumers(v, g))
}

// assignments are groups of some sizes with one topic: the members' ids are the same
// on both servers, and so are what they get.
func assignments(assignor string) (list []sequence) {
	for _, shape := range []struct{ members, partitions int32 }{{1, 5}, {3, 7}, {5, 5}, {8, 3}, {7, 30}} {
		list = append(list, sequence{fmt.Sprintf("consumergroups/%s/%d-members-%d-partitions", assignor, shape.members, shape.partitions), func(s *Session) {
			cgAssign(s, assignor, shape.members, shape.partitions)
		}})
	}
	return list
}

func cgAssign(s *Session, assignor string, members, partitions int32) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", partitions)
	name := func(i int32) string { return strings.Repeat("member-", int(i%3)) + string(rune('a'+i*5%26)) }
	epochs := map[string]int32{}
	for i := range members {
		options := []beatOption{topicsOf(t), assignorOf(assignor)}
		if i%3 == 2 {
			options = append(options, instanceOf("instance-"+string(rune('z'-i))))
		}
		epochs[name(i)] = c.epochOf(beat(1, g, name(i), 0, options...))
	}
	c.converge(g, epochs, t)
	c.Say("all have what they are to have").Send(describeConsumers(1, g))
	c.Say("one leaves").Send(beat(1, g, name(0), -1))
	delete(epochs, name(0))
	c.converge(g, epochs, t)
	c.Say("without it").Send(describeConsumers(1, g))
}

// converge has all members give back what they have to, until the group is stable.
func (c *Conn) converge(g string, epochs map[string]int32, topics ...topic) {
	has := map[string][]beatOption{}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		for _, id := range slices.Sorted(func(yield func(string) bool) {
			for id := range epochs {
				if !yield(id) {
					return
				}
			}
		}) {
			resp := c.Ask(beat(1, g, id, epochs[id], has[id]...)).(*kmsg.ConsumerGroupHeartbeatResponse)
			epochs[id] = resp.MemberEpoch
			if resp.Assignment == nil {
				continue
			}
			has[id] = []beatOption{owns(topic{})}
			for _, t := range resp.Assignment.Topics {
				has[id] = append(has[id], owns(topic{id: t.TopicID}, t.Partitions...))
			}
		}
		d := c.Ask(describeConsumers(1, g)).(*kmsg.ConsumerGroupDescribeResponse)
		if state := d.Groups[0].State; state == "Stable" || state == "Empty" {
			return
		}
	}
	check(errors.New("the group does not settle"))
}

func cgHeterogeneous(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t, u, w := c.topic("t", 6), c.topic("u", 4), c.topic("w", 3)
	epochs := map[string]int32{}
	for id, topics := range map[string][]topic{"a": {t}, "b": {t, u}, "c": {u, w}, "d": {t, u, w}} {
		epochs[id] = c.Ask(beat(1, g, id, 0, topicsOf(topics...), assignorOf("range"))).(*kmsg.ConsumerGroupHeartbeatResponse).MemberEpoch
	}
	c.converge(g, epochs)
	d := c.Ask(describeConsumers(1, g)).(*kmsg.ConsumerGroupDescribeResponse)
	d.Groups[0].Epoch, d.Groups[0].AssignmentEpoch = 0, 0 // members came in any order
	for i := range d.Groups[0].Members {
		d.Groups[0].Members[i].MemberEpoch = 0
	}
	s.Note("range, four subscriptions")
	s.out.answer(d)
}

func cgAssignorVotes(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 6)
	a := c.epochOf(beat(1, g, "a", 0, topicsOf(t)))
	c.Say("the default").Send(describeConsumers(1, g))
	a = c.epochOf(beat(1, g, "a", a, assignorOf("range")))
	c.Say("one vote").Send(describeConsumers(1, g))
	b := c.epochOf(beat(1, g, "b", 0, topicsOf(t), assignorOf("uniform")))
	c.Say("a tie").Send(describeConsumers(1, g))
	c.Send(beat(1, g, "b", b, assignorOf("range")))
	c.Say("two votes").Send(describeConsumers(1, g))
	c.Send(beat(1, g, "a", a))
	c.Say("leaves").Send(beat(1, g, "b", -1))
	c.Send(describeConsumers(1, g))
}

func cgSubscription(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t, u := c.topic("t", 2), c.topic("u", 2)
	e := c.epochOf(beat(1, g, "m", 0, topicsOf(t)))
	e = c.epochOf(beat(1, g, "m", e, topicsOf(u), owns(t, 0, 1)))
	c.Send(describeConsumers(1, g))
	c.Say("it holds them still").Send(beat(1, g, "m", e, owns(t, 0)))
	e = c.epochOf(beat(1, g, "m", e, owns(t)))
	c.Send(beat(1, g, "m", e, owns(u, 0, 1)))
	c.Send(describeConsumers(1, g))
	c.Say("both, nothing said").Send(beat(1, g, "m", e, topicsOf(t, u)))
	c.Send(describeConsumers(1, g))
}

func cgRevocation(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 6)
	a := c.epochOf(beat(1, g, "a", 0, topicsOf(t)))
	b := c.epochOf(beat(1, g, "b", 0, topicsOf(t)))
	third := c.epochOf(beat(1, g, "c", 0, topicsOf(t)))
	a = c.epochOf(beat(1, g, "a", a))
	c.Say("a says nothing").Send(beat(1, g, "a", a))
	c.Say("a has given some back").Send(beat(1, g, "a", a, owns(t, 0, 1, 2, 3)))
	c.Send(beat(1, g, "b", b))
	c.Send(beat(1, g, "c", third))
	c.Send(describeConsumers(1, g))
	c.Say("while it gives back, it subscribes to nothing").Send(beat(1, g, "a", a, namesOf()))
	c.Send(describeConsumers(1, g))
	a = c.epochOf(beat(1, g, "a", a, owns(t)))
	c.Send(beat(1, g, "b", b))
	c.Send(beat(1, g, "c", third))
	c.Send(beat(1, g, "a", a))
	c.Send(describeConsumers(1, g))
}

func cgRejoinWhileRevoking(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	a := c.epochOf(beat(1, g, "a", 0, topicsOf(t)))
	b := c.epochOf(beat(1, g, "b", 0, topicsOf(t)))
	c.Send(beat(1, g, "a", a))
	c.Send(describeConsumers(1, g))
	c.Say("a begins anew").Send(beat(1, g, "a", 0, topicsOf(t)))
	c.Send(describeConsumers(1, g))
	c.Send(beat(1, g, "b", b))
	c.Send(describeConsumers(1, g))
}

func cgLeaveWhileRevoking(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	a := c.epochOf(beat(1, g, "a", 0, topicsOf(t)))
	b := c.epochOf(beat(1, g, "b", 0, topicsOf(t)))
	c.Send(beat(1, g, "a", a))
	c.Say("a leaves").Send(beat(1, g, "a", -1))
	c.Send(describeConsumers(1, g))
	b = c.epochOf(beat(1, g, "b", b))
	c.Send(beat(1, g, "b", b))
	c.Send(describeConsumers(1, g))
}

func cgRecreatedTopic(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	e := c.epochOf(beat(1, g, "m", 0, topicsOf(t)))
	c.Send(deleteTopics(5, t.name))
	c.awaitGone(t.name)
	again := c.topic("t", 1)
	r := c.awaitBeat(beat(1, g, "m", e, owns(topic{})), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool {
		return r.Assignment != nil && len(r.Assignment.Topics) == 1 && r.Assignment.Topics[0].TopicID == again.id
	})
	c.Send(beat(1, g, "m", r.MemberEpoch, owns(again, 0)))
	d := c.Ask(describeConsumers(1, g)).(*kmsg.ConsumerGroupDescribeResponse)
	d.Groups[0].Epoch, d.Groups[0].AssignmentEpoch, d.Groups[0].Members[0].MemberEpoch = 0, 0, 0 // as often as it was looked
	s.Note("the new topic")
	s.out.answer(d)
}

func cgTopicToCome(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	e := c.epochOf(beat(1, g, "m", 0, namesOf(s.Topic("t"))))
	c.Send(describeConsumers(1, g))
	c.topic("t", 2)
	c.awaitBeat(beat(1, g, "m", e), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool { return r.Assignment != nil })
	c.Say("it has come").Send(describeConsumers(1, g))
}

func cgRegex(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.topic("t-1", 2)
	c.topic("u-1", 1)
	e := c.epochOf(beat(1, g, "m", 0, regexOf(strings.ReplaceAll(s.Topic("t-"), ".", `\.`)+"[0-9]+")))
	r := c.awaitBeat(beat(1, g, "m", e), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool { return r.Assignment != nil })
	c.Send(describeConsumers(1, g))
	c.Say("another member of the same").Send(beat(1, g, "n", 0, regexOf(strings.ReplaceAll(s.Topic("t-"), ".", `\.`)+"[0-9]+")))
	c.Send(beat(1, g, "m", r.MemberEpoch))
	c.Send(describeConsumers(1, g))
	c.Say("leaves").Send(beat(1, g, "n", -1))
	c.Say("no expression any more").Send(beat(1, g, "m", r.MemberEpoch, regexOf("")))
	c.Send(describeConsumers(1, g))
}

func cgRegexAndNames(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.topic("t-1", 2)
	u := c.topic("u", 1)
	e := c.epochOf(beat(1, g, "m", 0, regexOf(".*-t-1"), func(r *kmsg.ConsumerGroupHeartbeatRequest) {
		regex := `.*regex-and-names.*\.t-.`
		r.SubscribedTopicNames, r.SubscribedTopicRegex = []string{u.name}, &regex
	}))
	c.awaitBeat(beat(1, g, "m", e), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool { return r.Assignment != nil })
	d := c.Ask(describeConsumers(1, g)).(*kmsg.ConsumerGroupDescribeResponse)
	s.Note("both")
	s.out.answer(&d.Groups[0].Members[0].TargetAssignment)
}

func cgRegexChanges(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	e := c.epochOf(beat(1, g, "m", 0, regexOf("nothing-matches-.*")))
	c.Send(beat(1, g, "m", e))
	c.Say("names beside it").Send(beat(1, g, "m", e, topicsOf(t)))
	c.Say("a bad one").Send(beat(1, g, "m", e, regexOf("(")))
	c.Send(describeConsumers(1, g))
}

// shortSession gives the group a session of a second.
func (c *Conn) shortSession(g string) {
	c.Send(incremental(1, "group:"+g, "+consumer.session.timeout.ms=1000", "+consumer.heartbeat.interval.ms=500"))
	c.awaitConfig(g, "consumer.session.timeout.ms", "1000")
}

// awaitConfig waits until a group's configuration is seen.
func (c *Conn) awaitConfig(g, key, value string) {
	r := At(4, kmsg.NewPtrDescribeConfigsRequest())
	rr := kmsg.NewDescribeConfigsRequestResource()
	rr.ResourceType, rr.ResourceName, rr.ConfigNames = 32, g, []string{key}
	r.Resources = append(r.Resources, rr)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		d := c.Ask(r).(*kmsg.DescribeConfigsResponse)
		if len(d.Resources) == 1 && len(d.Resources[0].Configs) == 1 && *d.Resources[0].Configs[0].Value == value {
			return
		}
	}
	check(fmt.Errorf("no configuration %s of %s", key, g))
}

// awaitState waits until a consumer group is in a state.
func (c *Conn) awaitState(g, state string) {
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if c.Ask(describeConsumers(1, g)).(*kmsg.ConsumerGroupDescribeResponse).Groups[0].State == state {
			return
		}
	}
	check(fmt.Errorf("group %s does not become %s", g, state))
}

func cgSessionExpires(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	c.shortSession(g)
	e := c.epochOf(beat(1, g, "m", 0, topicsOf(t)))
	c.awaitState(g, "Empty")
	c.Send(describeConsumers(1, g))
	c.Say("too late").Send(beat(1, g, "m", e))
}

func cgStaticSessionExpires(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	c.shortSession(g)
	c.Send(beat(1, g, "m", 0, topicsOf(t), instanceOf("i")))
	c.Send(beat(1, g, "m", -2, instanceOf("i")))
	c.awaitState(g, "Empty")
	c.Send(describeConsumers(1, g))
	c.Say("too late").Send(beat(1, g, "m", -2, instanceOf("i")))
}

func cgRevocationExpires(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	a := c.epochOf(beat(1, g, "a", 0, topicsOf(t), rebalanceOf(1_000)))
	b := c.epochOf(beat(1, g, "b", 0, topicsOf(t), rebalanceOf(1_000)))
	c.Say("it has to give back").Send(beat(1, g, "a", a))
	r := c.awaitBeat(beat(1, g, "b", b), func(r *kmsg.ConsumerGroupHeartbeatResponse) bool {
		return r.Assignment != nil && len(r.Assignment.Topics) == 1 && len(r.Assignment.Topics[0].Partitions) == 2
	})
	c.Send(describeConsumers(1, g))
	c.Say("too late").Send(beat(1, g, "a", a))
	c.Send(beat(1, g, "b", r.MemberEpoch))
}

func cgConfigs(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Say("not longer than the interval").Send(incremental(1, "group:"+g, "+consumer.session.timeout.ms=1000"))
	c.Say("too short").Send(incremental(1, "group:"+g, "+consumer.heartbeat.interval.ms=1"))
	c.Say("too long").Send(incremental(1, "group:"+g, "+consumer.session.timeout.ms=60001"))
	c.Say("too long an interval").Send(incremental(1, "group:"+g, "+consumer.assignment.interval.ms=15001"))
	c.Send(incremental(1, "group:"+g, "+consumer.heartbeat.interval.ms=7000"))
	c.awaitConfig(g, "consumer.heartbeat.interval.ms", "7000")
	c.Say("the interval of the group").Send(beat(1, g, "m", 0))
	c.Send(incremental(1, "group:"+g, "-consumer.heartbeat.interval.ms"))
	c.awaitConfig(g, "consumer.heartbeat.interval.ms", "5000")
	c.Say("the default again").Send(beat(1, g, "m", 0))
}

func cgInterval(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	c.Ask(incremental(1, "group:"+g, "+consumer.assignment.interval.ms=15000"))
	c.awaitConfig(g, "consumer.assignment.interval.ms", "15000")
	c.Say("the first target comes at once").Send(beat(1, g, "a", 0, topicsOf(t)))
	b := c.epochOf(beat(1, g, "b", 0, topicsOf(t)))
	c.Send(beat(1, g, "b", b))
	c.Send(describeConsumers(1, g))
	c.Ask(incremental(1, "group:"+g, "+consumer.assignment.interval.ms=0"))
	c.awaitConfig(g, "consumer.assignment.interval.ms", "0")
	c.Say("without the interval").Send(beat(1, g, "b", b))
	c.Send(describeConsumers(1, g))
	c.Say("all leave").Send(beat(1, g, "a", -1))
	c.Send(beat(1, g, "b", -1))
	c.Send(describeConsumers(1, g))
}

func cgList(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	list := func(what string, states, types []string) {
		r := At(5, kmsg.NewPtrListGroupsRequest())
		r.StatesFilter, r.TypesFilter = states, types
		resp := c.Ask(r).(*kmsg.ListGroupsResponse)
		resp.Groups = slices.DeleteFunc(resp.Groups, func(lg kmsg.ListGroupsResponseGroup) bool { return lg.Group != g })
		s.Note("%s", what)
		s.out.answer(resp)
	}
	e := c.epochOf(beat(1, g, "m", 0, topicsOf(t)))
	list("all", nil, nil)
	list("stable", []string{"Stable"}, nil)
	list("of the type", nil, []string{"Consumer"})
	list("of another", nil, []string{"classic"})
	list("empty", []string{"empty"}, []string{"consumer"})
	c.Ask(beat(1, g, "n", 0, topicsOf(t)))
	c.Ask(beat(1, g, "m", e))
	list("with two", nil, nil)
	c.Ask(beat(1, g, "m", -1))
	list("assigning", []string{"assigning"}, nil)
	c.Ask(beat(1, g, "n", -1))
	list("empty now", []string{"empty"}, []string{"consumer"})
}

func cgDelete(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	r := At(2, kmsg.NewPtrDeleteGroupsRequest())
	r.Groups = []string{g}
	e := c.epochOf(beat(1, g, "m", 0, topicsOf(t)))
	c.Ask(commitAs(9, g, "m", e, t, 0))
	c.Say("with a member").Send(r)
	c.Ask(beat(1, g, "m", -1))
	c.Say("empty").Send(r)
	c.Say("again").Send(r)
	c.Send(describeConsumers(1, g))
	c.Say("its offsets").Send(fetchFrom(9, g, &t, 0))
	c.Say("begins anew").Send(beat(1, g, "m", 0, topicsOf(t)))
}

func cgDeleteOffsets(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t, u := c.topic("t", 1), c.topic("u", 1)
	e := c.epochOf(beat(1, g, "m", 0, topicsOf(t)))
	c.Ask(commitAs(9, g, "m", e, t, 0))
	c.Ask(commitAs(9, g, "m", e, u, 0))
	r := At(0, kmsg.NewPtrOffsetDeleteRequest())
	r.Group = g
	for _, of := range []topic{t, u} {
		r.Topics = append(r.Topics, kmsg.OffsetDeleteRequestTopic{Topic: of.name, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}})
	}
	c.Say("subscribed, and not").Send(r)
	c.Say("what is left").Send(fetchFrom(9, g, nil))
	c.Ask(beat(1, g, "m", -1))
	c.Say("of an empty group").Send(r)
	c.Say("what is left").Send(fetchFrom(9, g, nil))
}

func cgOffsets(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	a := c.epochOf(beat(1, g, "a", 0, topicsOf(t)))
	c.Send(commitAs(9, g, "a", a, t, 0))
	b := c.epochOf(beat(1, g, "b", 0, topicsOf(t)))
	c.Say("b commits what it has not").Send(commitAs(9, g, "b", b, t, 0))
	c.Send(beat(1, g, "a", a))
	c.Say("a commits what it gives back").Send(commitAs(10, g, "a", a, t, 0))
	c.Send(commitAs(10, g, "a", a, t, 1))
	next := c.epochOf(beat(1, g, "a", a, owns(t)))
	c.Say("an old epoch, either").Send(commitAs(10, g, "a", a, t, 0))
	c.Send(commitAs(10, g, "a", a, t, 1))
	c.Send(commitAs(10, g, "a", next, t, 0))
	c.Send(beat(1, g, "b", b))
	c.Say("b with the epoch in which it had none").Send(commitAs(9, g, "b", b-1, t, 0))
	c.Send(commitAs(9, g, "b", b-1, t, 1))
	c.Say("all").Send(fetchFrom(9, g, nil))
}

func cgTakenByClassic(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	c.Send(beat(1, g, "m", 0, topicsOf(t)))
	c.Send(beat(1, g, "m", -1))
	c.Say("an id").Send(joinAs(9, g, "somebody", "range"))
	j := c.join(joinAs(4, g, "", "range"))
	c.Send(describeGroup(6, g))
	c.Send(describeConsumers(1, g))
	c.Send(leaveAs(5, g, j.MemberID))
	c.Say("and back").Send(beat(1, g, "m", 0, topicsOf(t)))
	c.Send(describeConsumers(1, g))
}

// subscriptionTo is what a consumer of the classic protocol sends: version 1, with
// what it has.
func subscriptionTo(owned []int32, topics ...topic) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version = 1
	for _, t := range topics {
		m.Topics = append(m.Topics, t.name)
		if len(owned) > 0 {
			m.OwnedPartitions = append(m.OwnedPartitions, kmsg.ConsumerMemberMetadataOwnedPartition{Topic: t.name, Partitions: owned})
		}
	}
	return m.AppendTo(nil)
}

// classicAssignment is what its leader assigns.
func classicAssignment(userData []byte, t topic, partitions ...int32) string {
	a := kmsg.NewConsumerMemberAssignment()
	a.Version, a.UserData = 1, userData
	a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: t.name, Partitions: partitions}}
	return string(a.AppendTo(nil))
}

// joinClassic is a JoinGroup of a consumer that is subscribed to a topic.
func joinClassic(group, member string, owned []int32, topics ...topic) *kmsg.JoinGroupRequest {
	r := joinAs(9, group, member, "range")
	r.Protocols[0].Metadata = subscriptionTo(owned, topics...)
	return r
}

// classicGroup makes a classic group of one member, which has synced.
func (c *Conn) classicGroup(g string, t topic, assignment string) *kmsg.JoinGroupResponse {
	j := c.join(joinClassic(g, "", nil, t))
	c.Ask(syncAs(5, g, j, assignment))
	return j
}

func cgUpgrade(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 4)
	j := c.classicGroup(g, t, classicAssignment(nil, t, 0, 1, 2, 3))
	n := c.epochOf(beat(1, g, "n", 0, topicsOf(t)))
	c.Send(describeConsumers(1, g))
	c.Say("no classic group any more").Send(describeGroup(6, g))
	c.Say("the classic member has to join again").Send(heartbeatAs(4, g, j.MemberID, j.Generation))
	again := c.Send(joinClassic(g, j.MemberID, []int32{0, 1, 2, 3}, t)).(*kmsg.JoinGroupResponse)
	c.Send(syncAs(5, g, again))
	c.Send(describeConsumers(1, g))
	c.Send(heartbeatAs(4, g, j.MemberID, again.Generation))
	again = c.Say("it has given back").Send(joinClassic(g, j.MemberID, []int32{0, 1}, t)).(*kmsg.JoinGroupResponse)
	c.Send(syncAs(5, g, again))
	c.Send(heartbeatAs(4, g, j.MemberID, again.Generation))
	c.Send(beat(1, g, "n", n))
	c.Send(describeConsumers(1, g))
	c.Say("its epoch").Send(commitAs(8, g, j.MemberID, again.Generation, t, 0))
	c.Say("another").Send(commitAs(8, g, j.MemberID, again.Generation+1, t, 0))
	c.Say("an old one").Send(commitAs(8, g, j.MemberID, 0, t, 0))
}

func cgUpgradeWhilePreparing(s *Session) {
	g := s.Topic("g")
	c, d := s.coordinator("a", g), s.Conn("b")
	t := c.topic("t", 2)
	j := c.classicGroup(g, t, classicAssignment(nil, t, 0, 1))
	second := joinClassic(g, "", nil, t)
	second.MemberID = c.Ask(second).(*kmsg.JoinGroupResponse).MemberID
	end := d.Begin(second)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c.Ask(heartbeatAs(4, g, j.MemberID, j.Generation)).(*kmsg.HeartbeatResponse).ErrorCode == 27 {
			break
		}
	}
	c.Send(beat(1, g, "n", 0, topicsOf(t)))
	end()
	c.Send(heartbeatAs(4, g, j.MemberID, j.Generation))
	c.Send(syncAs(5, g, j))
	c.Send(describeConsumers(1, g))
}

func cgUpgradeRefused(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	r := joinClassic(g, "", nil, t)
	r.Protocols[0].Metadata = []byte("nonsense")
	j := c.join(r)
	c.Ask(syncAs(5, g, j, ""))
	c.Say("what it sent cannot be read").Send(beat(1, g, "n", 0, topicsOf(t)))
	c.Say("it is a classic group still").Send(describeConsumers(1, g))
}

func cgUpgradeUserData(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	j := c.classicGroup(g, t, classicAssignment([]byte("mine"), t, 0, 1))
	c.Send(beat(1, g, "n", 0, topicsOf(t)))
	c.Say("it goes on").Send(heartbeatAs(4, g, j.MemberID, j.Generation))
}

func cgDowngrade(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	j := c.classicGroup(g, t, classicAssignment(nil, t, 0, 1))
	c.Send(beat(1, g, "n", 0, topicsOf(t)))
	c.Say("the last one of the new protocol leaves").Send(beat(1, g, "n", -1))
	c.Send(describeConsumers(1, g))
	c.Say("the classic member").Send(heartbeatAs(4, g, j.MemberID, j.Generation))
	again := c.Send(joinClassic(g, j.MemberID, nil, t)).(*kmsg.JoinGroupResponse)
	c.Send(syncAs(5, g, again, "mine"))
	c.Send(describeGroup(6, g))
}

func cgDowngradeByLeaveGroup(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	j := c.classicGroup(g, t, classicAssignment(nil, t, 0, 1))
	c.Send(beat(1, g, "n", 0, topicsOf(t), instanceOf("i")))
	r := leaveAs(5, g, "")
	r.Members[0].InstanceID = kmsg.StringPtr("i")
	c.Say("an administrator takes it out").Send(r)
	c.Send(describeConsumers(1, g))
	c.Send(joinClassic(g, j.MemberID, nil, t))
}

func cgMixed(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 4)
	n := c.epochOf(beat(1, g, "n", 0, topicsOf(t)))
	c.Say("a classic member with an id of its own").Send(joinClassic(g, "classic", nil, t))
	c.Send(describeConsumers(1, g))
	c.Say("a protocol that the other does not know").Send(joinAs(9, g, "other", "sticky"))
	e := int32(0)
	for _, m := range c.Ask(describeConsumers(1, g)).(*kmsg.ConsumerGroupDescribeResponse).Groups[0].Members {
		if m.MemberID == "classic" {
			e = m.MemberEpoch
		}
	}
	c.Send(heartbeatAs(4, g, "classic", e))
	c.Send(syncAs(5, g, &kmsg.JoinGroupResponse{MemberID: "classic", Generation: e}))
	c.Say("another generation").Send(heartbeatAs(4, g, "classic", e+1))
	c.Send(syncAs(5, g, &kmsg.JoinGroupResponse{MemberID: "classic", Generation: e + 1}))
	n = c.epochOf(beat(1, g, "n", n))
	c.Send(beat(1, g, "n", n, owns(t)))
	c.Say("there is something to get").Send(heartbeatAs(4, g, "classic", e))
	again := c.Send(joinClassic(g, "classic", nil, t)).(*kmsg.JoinGroupResponse)
	r := syncAs(5, g, again)
	r.Protocol = kmsg.StringPtr("sticky")
	c.Say("another protocol").Send(r)
	r = syncAs(5, g, again)
	r.ProtocolType = kmsg.StringPtr("connect")
	c.Say("another type").Send(r)
	c.Send(syncAs(5, g, again))
	c.Send(heartbeatAs(4, g, "classic", again.Generation))
	c.Say("the classic one leaves").Send(leaveAs(5, g, "classic"))
	c.Send(describeConsumers(1, g))
}

func cgMixedStatic(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	c.Send(beat(1, g, "n", 0, topicsOf(t)))
	r := joinClassic(g, "classic", nil, t)
	r.InstanceID = kmsg.StringPtr("i")
	c.Say("an instance that is not there, with an id").Send(r)
	h := heartbeatAs(4, g, "classic", 3)
	h.InstanceID = kmsg.StringPtr("i")
	c.Send(h)
	l := leaveAs(5, g, "")
	l.Members[0].InstanceID = kmsg.StringPtr("i")
	c.Send(l)
	c.Send(describeConsumers(1, g))
}

func cgStaticReplacedByClassic(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	c.Send(beat(1, g, "n", 0, topicsOf(t), instanceOf("i")))
	r := joinClassic(g, "", nil, t)
	r.InstanceID = kmsg.StringPtr("i")
	j := c.Ask(r).(*kmsg.JoinGroupResponse)
	s.Note("the last one of the new protocol is replaced: error %d, generation %d, protocol %s", j.ErrorCode, j.Generation, *j.Protocol)
	d := c.Ask(describeGroup(6, g)).(*kmsg.DescribeGroupsResponse).Groups[0]
	s.Note("state %s, %d members, error %d", d.State, len(d.Members), d.ErrorCode)
	c.Say("the old one").Send(beat(1, g, "n", 2, instanceOf("i")))
}

func cgStaticReplacesClassic(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	r := joinClassic(g, "", nil, t)
	r.InstanceID = kmsg.StringPtr("i")
	j := c.join(r)
	c.Ask(syncAs(5, g, j, classicAssignment(nil, t, 0, 1)))
	c.Say("it takes the place of the classic one").Send(beat(1, g, "n", 0, topicsOf(t), instanceOf("i")))
	c.Send(describeConsumers(1, g))
	h := heartbeatAs(4, g, j.MemberID, j.Generation)
	h.InstanceID = kmsg.StringPtr("i")
	c.Say("the classic one").Send(h)
}

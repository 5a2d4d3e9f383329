package group

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/base/script"
	"barnabas/internal/coordinator/assign"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// setTopics says which topics there are from now on: "t=3 u=0", the number of
// partitions, 0 for none. made=N makes those that come anew with other ids.
func (s *stage) setTopics(c script.Command) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range c.Args {
			if name != "made" && !yield(name) {
				return
			}
		}
	}) {
		n, err := strconv.Atoi(c.Args[name])
		if err != nil {
			panic(err)
		}
		s.cluster.set(name, topicID(name+c.Args["made"]), int32(n))
	}
}

// setConfig changes the configuration of all groups.
func (s *stage) setConfig(c script.Command) {
	s.config.SessionTimeout = duration(c, "session", s.config.SessionTimeout)
	s.config.HeartbeatInterval = duration(c, "heartbeat", s.config.HeartbeatInterval)
	s.config.AssignmentInterval = duration(c, "interval", s.config.AssignmentInterval)
}

// topicOf is the name of a topic by its id.
func topicOf(id kafka.UUID) string { return strings.TrimRight(string(id[:]), "\x00") }

// list is "t:0,1 u:2".
func list(a assign.Assignment) string {
	if len(a) == 0 {
		return "nothing"
	}
	var parts []string
	for _, t := range a {
		var numbers []string
		for _, n := range t.Numbers {
			numbers = append(numbers, strconv.Itoa(int(n)))
		}
		parts = append(parts, topicOf(t.Topic)+":"+strings.Join(numbers, ","))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// request makes a ConsumerGroupHeartbeat. One with epoch 0 is full: topics and an
// empty list of what the member has need not be given.
func (s *stage) request(c script.Command) *kmsg.ConsumerGroupHeartbeatRequest {
	r := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	r.Version, r.Group, r.MemberID, r.MemberEpoch = int16(c.Int("v", 1)), c.Word(0), c.Args["id"], int32(c.Int("epoch", 0))
	r.InstanceID, r.RackID, r.ServerAssignor, r.SubscribedTopicRegex = optional(c, "instance"), optional(c, "rack"), optional(c, "assignor"), optional(c, "regex")
	split := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	}
	if r.MemberEpoch == 0 && !c.Has("bare") {
		r.RebalanceTimeoutMillis, r.Topics = 60_000, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		if r.SubscribedTopicRegex == nil {
			r.SubscribedTopicNames = []string{"t"}
		}
	}
	r.RebalanceTimeoutMillis = int32(duration(c, "rebalance", milliseconds(r.RebalanceTimeoutMillis)).Milliseconds())
	if topics, ok := c.Args["topics"]; ok {
		r.SubscribedTopicNames = append([]string{}, split(topics)...)
	}
	if owned, ok := c.Args["owned"]; ok {
		r.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for _, one := range split(owned) {
			topic, number, _ := strings.Cut(one, ":")
			n, err := strconv.Atoi(number)
			if err != nil {
				panic(err)
			}
			t := kmsg.NewConsumerGroupHeartbeatRequestTopic()
			t.TopicID, t.Partitions = topicID(topic), []int32{int32(n)}
			r.Topics = append(r.Topics, t)
		}
	}
	return r
}

func (s *stage) beat(c script.Command) {
	as, r := s.as(c), s.request(c)
	say := func(resp *kmsg.ConsumerGroupHeartbeatResponse) {
		if resp.ErrorCode != 0 {
			s.say("%s: %s %s", as, kafka.ErrorCode(resp.ErrorCode), text(resp.ErrorMessage))
			return
		}
		line := fmt.Sprintf("%s: %s in epoch %d", as, text(resp.MemberID), resp.MemberEpoch)
		if resp.Assignment != nil {
			var a assign.Assignment
			for _, t := range resp.Assignment.Topics {
				a = append(a, assign.Partitions{Topic: t.TopicID, Numbers: t.Partitions})
			}
			line += " has " + list(a)
		}
		s.say("%s", line)
	}
	if resp := s.settings.CheckConsumerHeartbeat(r); resp != nil {
		say(resp)
		return
	}
	hidden := c.Args["hidden"]
	s.Do(s.ConsumerHeartbeat(s.Now, Client{ID: as, Host: "/127.0.0.1"}, r, func(topic string) bool { return topic != hidden }, say))
}

func (s *stage) describeConsumer(c script.Command) {
	g := s.DescribeConsumer(c.Word(0))
	if g.ErrorCode != 0 {
		s.say("%s %s", kafka.ErrorCode(g.ErrorCode), text(g.ErrorMessage))
		return
	}
	s.say("%s, epoch %d, target of %d, %s", g.State, g.Epoch, g.AssignmentEpoch, g.AssignorName)
	numbers := func(a kmsg.Assignment) string {
		var out assign.Assignment
		for _, t := range a.TopicPartitions {
			out = append(out, assign.Partitions{Topic: t.TopicID, Numbers: t.Partitions})
		}
		return list(out)
	}
	for _, m := range g.Members {
		line := fmt.Sprintf("  %s", m.MemberID)
		if m.InstanceID != nil {
			line += "(" + *m.InstanceID + ")"
		}
		if m.RackID != nil {
			line += " in " + *m.RackID
		}
		if m.MemberType == 0 {
			line += " classic"
		}
		line += fmt.Sprintf(" epoch %d, topics %q %q, has %s", m.MemberEpoch, m.SubscribedTopics, text(m.SubscribedTopicRegex), numbers(m.Assignment))
		if target := numbers(m.TargetAssignment); target != numbers(m.Assignment) {
			line += ", is to have " + target
		}
		s.say("%s", line)
	}
}

// resolveAll answers the questions about regular expressions.
func (s *stage) resolveAll(script.Command) { s.resolve() }

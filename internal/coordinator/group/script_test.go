package group

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"barnabas/internal/base/script"
	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestScripts runs the dialogues of testdata. Member ids are written as what stands
// before the random part and a number: "a#1". Requests have a label (as=...), by
// which their answers are told, whenever they come.
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		s := &stage{rig: newRig(defaults())}
		return s.run
	})
}

// stage is a rig with what was said since the last command.
type stage struct {
	*rig
	out   strings.Builder
	label int
	shown int // records of the log that were shown
}

func (s *stage) say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

var longID = regexp.MustCompile(`-00000000-0000-4000-8000-([0-9a-f]{12})`)

func shortIDs(text string) string {
	return longID.ReplaceAllStringFunc(text, func(m string) string {
		var n int
		fmt.Sscanf(m[len(m)-12:], "%x", &n)
		return fmt.Sprintf("#%d", n)
	})
}

var shortID = regexp.MustCompile(`#(\d+)`)

func longIDs(text string) string {
	return shortID.ReplaceAllStringFunc(text, func(m string) string {
		var n int
		fmt.Sscanf(m, "#%d", &n)
		return fmt.Sprintf("-00000000-0000-4000-8000-%012x", n)
	})
}

// run does one command and gives what was said.
func (s *stage) run(c script.Command) string {
	for k, v := range c.Args {
		c.Args[k] = longIDs(v)
	}
	said, known := s.Command(c)
	if do, ok := commands[c.Name]; ok {
		do(s, c)
	} else if !known {
		return "no such command"
	}
	text := shortIDs(s.out.String() + said)
	s.out.Reset()
	return text
}

var commands = map[string]func(*stage, script.Command){
	"set": (*stage).set, "join": (*stage).join, "sync": (*stage).sync, "heartbeat": (*stage).heartbeat, "leave": (*stage).leave,
	"commit": (*stage).commit, "fetch": (*stage).fetch, "delete": (*stage).delete, "delete-offsets": (*stage).deleteOffsets,
	"describe": (*stage).describe, "list": (*stage).list, "why": (*stage).whyOf, "census": (*stage).census,
	"restart": (*stage).restartCore, "unload": (*stage).unloadCore, "log": (*stage).showLog,
	"topic-deleted": (*stage).topicDeleted, "pending": (*stage).pendingOffset, "end": (*stage).endTransaction, "foreign": (*stage).foreignRecords,
	"topics": (*stage).setTopics, "beat": (*stage).beat, "describe-consumer": (*stage).describeConsumer, "resolve": (*stage).resolveAll, "config": (*stage).setConfig,
}

// set begins anew with other settings.
func (s *stage) set(c script.Command) {
	v := defaults()
	v.MaxSize = int(c.Int("max-size", int64(v.MaxSize)))
	v.InitialRebalanceDelay = time.Duration(c.Int("initial-delay", 3000)) * time.Millisecond
	v.OffsetMetadataMax = int(c.Int("metadata-max", 4096))
	v.Consumer.MaxSize = int(c.Int("consumer-max-size", int64(v.Consumer.MaxSize)))
	if policy, ok := c.Args["policy"]; ok {
		v.Consumer.Upgrade = policy == "upgrade" || policy == "bidirectional"
		v.Consumer.Downgrade = policy == "downgrade" || policy == "bidirectional"
		v.Consumer.Mixed = policy != "disabled"
	}
	if names, ok := c.Args["assignors"]; ok {
		v.Consumer.Assignors = strings.Split(names, ",")
	}
	log, cluster := s.rig.Log, s.rig.cluster
	s.rig = newRig(v)
	s.rig.Log, s.rig.cluster = log, cluster
	s.rig.restart()
}

func duration(c script.Command, key string, or time.Duration) time.Duration {
	text, ok := c.Args[key]
	if !ok {
		return or
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func optional(c script.Command, key string) *string {
	if text, ok := c.Args[key]; ok {
		return &text
	}
	return nil
}

// as is the label of a request.
func (s *stage) as(c script.Command) string {
	if as, ok := c.Args["as"]; ok {
		return as
	}
	s.label++
	return fmt.Sprintf("r%d", s.label)
}

// subscription is what a consumer sends: version 0, topics, no user data.
func subscription(topics string) []byte {
	b := []byte{0, 0}
	list := strings.FieldsFunc(topics, func(r rune) bool { return r == ',' })
	b = binary.BigEndian.AppendUint32(b, uint32(len(list)))
	for _, t := range list {
		b = binary.BigEndian.AppendUint16(b, uint16(len(t)))
		b = append(b, t...)
	}
	return binary.BigEndian.AppendUint32(b, 0xffffffff)
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func (s *stage) join(c script.Command) {
	as := s.as(c)
	r := kmsg.NewPtrJoinGroupRequest()
	r.Version, r.Group, r.MemberID, r.InstanceID = int16(c.Int("v", 9)), c.Word(0), c.Args["id"], optional(c, "instance")
	r.SessionTimeoutMillis = int32(duration(c, "session", 10*time.Second).Milliseconds())
	r.RebalanceTimeoutMillis = int32(duration(c, "rebalance", time.Minute).Milliseconds())
	r.ProtocolType, r.Reason = "consumer", optional(c, "reason")
	if t, ok := c.Args["type"]; ok {
		r.ProtocolType = t
	}
	names := "range"
	if p, ok := c.Args["protocols"]; ok {
		names = p
	}
	topics := "t"
	if t, ok := c.Args["topics"]; ok {
		topics = t
	}
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' }) {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = name, subscription(topics)
		r.Protocols = append(r.Protocols, p)
	}
	s.Do(s.Join(s.Now, Client{ID: as, Host: "/127.0.0.1"}, r, func(resp *kmsg.JoinGroupResponse) {
		if resp.ErrorCode != 0 {
			s.say("%s: join %s, id %q", as, kafka.ErrorCode(resp.ErrorCode), resp.MemberID)
			return
		}
		line := fmt.Sprintf("%s: joined generation %d as %s, %s/%s, leader %s", as, resp.Generation, resp.MemberID, text(resp.ProtocolType), text(resp.Protocol), resp.LeaderID)
		if len(resp.Members) > 0 {
			var ids []string
			for _, m := range resp.Members {
				id := m.MemberID
				if m.InstanceID != nil {
					id += "(" + *m.InstanceID + ")"
				}
				ids = append(ids, id)
			}
			line += ", members " + strings.Join(ids, " ")
		}
		if resp.SkipAssignment {
			line += ", skip assignment"
		}
		s.say("%s", line)
	}))
}

func (s *stage) sync(c script.Command) {
	as := s.as(c)
	r := kmsg.NewPtrSyncGroupRequest()
	r.Version, r.Group, r.Generation, r.MemberID, r.InstanceID = 5, c.Word(0), int32(c.Int("gen", 1)), c.Args["id"], optional(c, "instance")
	r.ProtocolType, r.Protocol = optional(c, "type"), optional(c, "protocol")
	for _, pair := range strings.FieldsFunc(c.Args["assign"], func(r rune) bool { return r == ',' }) {
		id, what, _ := strings.Cut(pair, ":")
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = id, []byte(what)
		r.GroupAssignment = append(r.GroupAssignment, a)
	}
	s.Do(s.Sync(s.Now, r, func(resp *kmsg.SyncGroupResponse) {
		if resp.ErrorCode != 0 {
			s.say("%s: sync %s", as, kafka.ErrorCode(resp.ErrorCode))
			return
		}
		s.say("%s: assigned %q, %s/%s", as, resp.MemberAssignment, text(resp.ProtocolType), text(resp.Protocol))
	}))
}

func (s *stage) heartbeat(c script.Command) {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Group, r.Generation, r.MemberID, r.InstanceID = c.Word(0), int32(c.Int("gen", 1)), c.Args["id"], optional(c, "instance")
	s.say("%s", s.Heartbeat(s.Now, r))
}

func (s *stage) leave(c script.Command) {
	as := s.as(c)
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Version, r.Group = 5, c.Word(0)
	for _, id := range strings.Split(c.Args["id"], ",") {
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID, m.InstanceID, m.Reason = id, optional(c, "instance"), optional(c, "reason")
		r.Members = append(r.Members, m)
	}
	s.Do(s.Leave(s.Now, r, func(resp *kmsg.LeaveGroupResponse) {
		if resp.ErrorCode != 0 {
			s.say("%s: leave %s", as, kafka.ErrorCode(resp.ErrorCode))
			return
		}
		for _, m := range resp.Members {
			s.say("%s: left %s %s", as, strings.TrimSpace(m.MemberID+" "+text(m.InstanceID)), kafka.ErrorCode(m.ErrorCode))
		}
	}))
}

// partitions reads "t:0=5,t:1=7" or "t:0,t:1".
func partitions(text string, each func(topic string, partition int32, offset int64)) {
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		topic, rest, _ := strings.Cut(one, ":")
		var partition int32
		var offset int64
		if _, err := fmt.Sscanf(rest+"=0", "%d=%d", &partition, &offset); err != nil {
			panic(err)
		}
		each(topic, partition, offset)
	}
}

// topicID is the id of a topic in scripts: its name, and a number behind '@' for
// one that was made anew.
func topicID(name string) (id kafka.UUID) {
	copy(id[:], name)
	return id
}

func (s *stage) commit(c script.Command) {
	as := s.as(c)
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version, r.Group, r.Generation, r.MemberID, r.InstanceID = int16(c.Int("v", 9)), c.Word(0), int32(c.Int("gen", -1)), c.Args["id"], optional(c, "instance")
	r.RetentionTimeMillis = c.Int("retention", -1)
	partitions(c.Args["offsets"], func(topic string, partition int32, offset int64) {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = partition, offset, int32(c.Int("epoch", -1)), optional(c, "metadata")
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.Partitions = topic, append(t.Partitions, p)
		if r.Version >= 10 {
			t.TopicID = topicID(topic)
		}
		r.Topics = append(r.Topics, t)
	})
	reply := func(resp *kmsg.OffsetCommitResponse) {
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				s.say("%s: committed %s:%d %s", as, t.Topic, p.Partition, kafka.ErrorCode(p.ErrorCode))
			}
		}
	}
	if id := c.Int("producer", -1); id >= 0 {
		r.RetentionTimeMillis = -1
		s.Do(s.CommitInTransaction(s.Now, TransactionalCommit{
			Offsets: r, ByIDs: c.Int("v", 5) >= 6, Transaction: machine.Transaction{ProducerID: kafka.ProducerID(id)},
		}, reply))
		return
	}
	s.Do(s.Commit(s.Now, r, reply))
}

func (s *stage) fetch(c script.Command) {
	as := s.as(c)
	r := kmsg.NewOffsetFetchRequestGroup()
	r.Group, r.MemberID, r.MemberEpoch = c.Word(0), optional(c, "id"), int32(c.Int("epoch", -1))
	version := int16(c.Int("v", 9))
	partitions(c.Args["offsets"], func(topic string, partition int32, _ int64) {
		t := kmsg.NewOffsetFetchRequestGroupTopic()
		t.Topic, t.Partitions = topic, []int32{partition}
		if version >= 10 {
			t.TopicID = topicID(topic + c.Args["made"])
		}
		r.Topics = append(r.Topics, t)
	})
	s.Do(s.Fetch(version, &r, c.Has("stable"), func(resp *kmsg.OffsetFetchResponseGroup) {
		if resp.ErrorCode != 0 {
			s.say("%s: fetch %s", as, kafka.ErrorCode(resp.ErrorCode))
			return
		}
		if len(resp.Topics) == 0 {
			s.say("%s: no offsets", as)
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				line := fmt.Sprintf("%s: %s:%d at %d epoch %d %q", as, t.Topic, p.Partition, p.Offset, p.LeaderEpoch, text(p.Metadata))
				if p.ErrorCode != 0 {
					line += " " + kafka.ErrorCode(p.ErrorCode).String()
				}
				s.say("%s", line)
			}
		}
	}))
}

func (s *stage) delete(c script.Command) {
	as := s.as(c)
	s.Do(s.Delete(c.Word(0), func(code kafka.ErrorCode) { s.say("%s: delete %s", as, code) }))
}

func (s *stage) deleteOffsets(c script.Command) {
	as := s.as(c)
	r := kmsg.NewPtrOffsetDeleteRequest()
	r.Group = c.Word(0)
	partitions(c.Args["offsets"], func(topic string, partition int32, _ int64) {
		r.Topics = append(r.Topics, kmsg.OffsetDeleteRequestTopic{Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: partition}}})
	})
	s.Do(s.DeleteOffsets(r, func(resp *kmsg.OffsetDeleteResponse) {
		if resp.ErrorCode != 0 {
			s.say("%s: delete offsets %s", as, kafka.ErrorCode(resp.ErrorCode))
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				s.say("%s: deleted %s:%d %s", as, t.Topic, p.Partition, kafka.ErrorCode(p.ErrorCode))
			}
		}
	}))
}

func (s *stage) describe(c script.Command) {
	g := s.Describe(int16(c.Int("v", 6)), c.Word(0))
	if g.ErrorCode != 0 {
		s.say("%s %s", kafka.ErrorCode(g.ErrorCode), text(g.ErrorMessage))
		return
	}
	s.say("%s", strings.TrimSpace(fmt.Sprintf("%s %s %s", g.State, g.ProtocolType, g.Protocol)))
	for _, m := range g.Members {
		s.say("  %s instance %s, client %s at %s, assigned %q", m.MemberID, text(m.InstanceID), m.ClientID, m.ClientHost, m.MemberAssignment)
	}
}

func (s *stage) list(c script.Command) {
	split := func(key string) []string {
		return strings.FieldsFunc(c.Args[key], func(r rune) bool { return r == ',' })
	}
	for _, g := range s.List(split("states"), split("types")) {
		s.say("%s %q %s %s", g.Group, g.ProtocolType, g.GroupState, g.GroupType)
	}
}

func (s *stage) whyOf(c script.Command) {
	list, ok := s.Why(s.Now, c.Word(0))
	if !ok {
		s.say("no such group")
	}
	for _, r := range list {
		line := fmt.Sprintf("after %s, took %s: %s", r.Began.Sub(beginning), r.Took, r.Cause)
		if r.MemberID != "" {
			line += " " + r.MemberID
		}
		if r.Reason != "" {
			line += fmt.Sprintf(" (%s)", r.Reason)
		}
		if r.LostCount > 0 {
			line += fmt.Sprintf(", lost %d: %s", r.LostCount, strings.Join(r.Lost, " "))
		}
		s.say("%s -> %s, generation %d, %d members", line, r.Outcome, r.Generation, r.Members)
	}
}

func (s *stage) census(script.Command) {
	groups, offsets := s.Census()
	var lines []string
	for k, n := range groups {
		lines = append(lines, fmt.Sprintf("%s %s: %d", k.Type, k.State, n))
	}
	sort.Strings(lines)
	for _, l := range lines {
		s.say("%s", l)
	}
	s.say("%d offsets", offsets)
}

func (s *stage) restartCore(script.Command) { s.restart() }

func (s *stage) unloadCore(script.Command) { s.Resign(kafka.ErrNotCoordinator) }

// showLog shows the records since it was last asked for.
func (s *stage) showLog(script.Command) {
	s.shown = min(s.shown, len(s.rig.Log))
	for _, r := range s.rig.Log[s.shown:] {
		key, err := grouprec.DecodeKey(r.Key)
		if err != nil {
			panic(err)
		}
		line := string(grouprec.AppendKeyJSON(nil, key))
		if r.Value == nil {
			s.say("%s tombstone", line)
			continue
		}
		value, version, err := grouprec.DecodeValue(key.Type(), r.Value)
		if err != nil {
			panic(err)
		}
		s.say("%s\n  %s", line, grouprec.AppendValueJSON(nil, value, version))
	}
	s.shown = len(s.rig.Log)
}

func (s *stage) topicDeleted(c script.Command) {
	s.TopicsDeleted(s.Now, map[string]kafka.UUID{c.Word(0): topicID(c.Word(0))})
	s.Pass(0)
}

// put writes a record that another server has written.
func (s *stage) put(key, value grouprec.Message, version int16, producer kafka.ProducerID) {
	r := machine.Replayed{Record: machine.Record{Key: keyOf(key)}, Offset: kafka.Offset(len(s.rig.Log)), Timestamp: s.Now, ProducerID: producer, Transactional: producer >= 0}
	if value != nil {
		r.Value = valueOf(value, version)
	}
	s.rig.Log = append(s.rig.Log, r)
	if err := s.Replay(r); err != nil {
		panic(err)
	}
	s.Registry.Mark(int64(len(s.rig.Log)))
	s.Registry.Commit(int64(len(s.rig.Log)))
}

func (s *stage) pendingOffset(c script.Command) {
	partitions(c.Args["offsets"], func(topic string, partition int32, offset int64) {
		v := grouprec.NewOffsetCommitValue()
		v.Offset, v.CommitTimestamp = kafka.Offset(offset), s.Now.UnixMilli()
		s.put(&grouprec.OffsetCommitKey{Group: c.Word(0), Topic: topic, Partition: partition}, v, 4, kafka.ProducerID(c.Int("producer", 0)))
	})
}

func (s *stage) endTransaction(c script.Command) {
	s.Ended(kafka.ProducerID(c.Int("producer", 0)), 0, c.Has("commit"))
	s.rig.Log = append(s.rig.Log, s.rig.Log[0]) // the marker takes an offset
	s.rig.Log[len(s.rig.Log)-1] = machine.Replayed{Record: machine.Record{Key: keyOf(&grouprec.GroupMetadataKey{Group: "-"})}}
	s.Registry.Mark(int64(len(s.rig.Log)))
	s.Registry.Commit(int64(len(s.rig.Log)))
}

// foreignRecords are what another coordinator leaves of a group of another kind;
// they are loaded with the next restart.
func (s *stage) foreignRecords(c script.Command) {
	group, kind := c.Word(1), c.Word(0)
	add := func(key, value grouprec.Message) {
		s.rig.Log = append(s.rig.Log, machine.Replayed{Record: machine.Record{Key: keyOf(key), Value: valueOf(value, 0)}, ProducerID: kafka.NoProducerID})
	}
	member := c.Args["member"]
	switch kind {
	case "share":
		if member != "" {
			add(&grouprec.ShareGroupMemberMetadataKey{GroupID: group, MemberID: member}, grouprec.NewShareGroupMemberMetadataValue())
		}
		add(&grouprec.ShareGroupMetadataKey{GroupID: group}, grouprec.NewShareGroupMetadataValue())
	case "streams":
		if member != "" {
			add(&grouprec.StreamsGroupMemberMetadataKey{GroupID: group, MemberID: member}, grouprec.NewStreamsGroupMemberMetadataValue())
		}
		add(&grouprec.StreamsGroupMetadataKey{GroupID: group}, grouprec.NewStreamsGroupMetadataValue())
	}
}

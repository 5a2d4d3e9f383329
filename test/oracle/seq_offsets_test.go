package oracle

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetSequences are OffsetCommit, OffsetFetch and OffsetDelete.
var offsetSequences = slices.Concat(
	versions("offsets/commit", 2, 10, offsetsCommit),
	versions("offsets/commit-member", 2, 10, offsetsCommitMember),
	versions("offsets/fetch", 1, 10, offsetsFetch),
	versions("offsets/delete", 0, 0, offsetsDelete),
)

func commitTo(v int16, group string, t topic, partition int32, offset int64, metadata *string) *kmsg.OffsetCommitRequest {
	r := At(v, kmsg.NewPtrOffsetCommitRequest())
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.Metadata, p.LeaderEpoch = partition, offset, metadata, 0
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic, rt.TopicID, rt.Partitions = t.name, t.id, append(rt.Partitions, p)
	r.Group, r.Generation, r.RetentionTimeMillis, r.Topics = group, -1, -1, append(r.Topics, rt)
	return r
}

func fetchFrom(v int16, group string, t *topic, partitions ...int32) *kmsg.OffsetFetchRequest {
	r := At(v, kmsg.NewPtrOffsetFetchRequest())
	r.Group = group
	of := kmsg.NewOffsetFetchRequestGroup()
	of.Group = group
	if t != nil {
		r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: t.name, Partitions: partitions}}
		of.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: t.name, TopicID: t.id, Partitions: partitions}}
	}
	r.Groups = append(r.Groups, of)
	return r
}

func offsetsCommit(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	c.Send(commitTo(v, g, t, 0, 5, kmsg.StringPtr("note")))
	c.Say("no metadata").Send(commitTo(v, g, t, 1, 6, nil))
	c.Say("no such partition").Send(commitTo(v, g, t, 2, 6, nil))
	both := commitTo(v, g, t, 9, 1, nil)
	both.Topics[0].Partitions = append(both.Topics[0].Partitions, commitTo(v, g, t, 0, 7, nil).Topics[0].Partitions...)
	c.Say("one of two").Send(both)
	c.Say("no such topic").Send(commitTo(v, g, topic{name: s.Topic("none"), id: [16]byte{1, 2, 3}}, 0, 1, nil))
	c.Say("long metadata").Send(commitTo(v, g, t, 0, 8, kmsg.StringPtr(strings.Repeat("x", 4096))))
	c.Say("too long metadata").Send(commitTo(v, g, t, 0, 9, kmsg.StringPtr(strings.Repeat("x", 4097))))
	c.Say("a negative offset").Send(commitTo(v, g, t, 1, -1, nil))
	r := commitTo(v, g, t, 0, 10, nil)
	r.Generation, r.MemberID = 3, "m"
	c.Say("a member of a group without").Send(r)
	r.Group = s.Topic("nobody")
	c.Say("a member of no group").Send(r)
	r = commitTo(v, g, t, 0, 10, nil)
	r.Topics = nil
	c.Say("nothing").Send(r)
	c.Send(fetchFrom(7, g, &t, 0, 1, 2))
	c.Send(describeGroup(5, g))
}

func offsetsCommitMember(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 1)
	j := c.join(joinAs(4, g, "", "range"))
	r := commitTo(v, g, t, 0, 5, nil)
	c.Say("without a member").Send(r)
	r.MemberID, r.Generation = j.MemberID, j.Generation
	c.Say("without an assignment").Send(r)
	c.Send(syncAs(5, g, j, "mine"))
	c.Send(r)
	r.Generation++
	c.Say("another generation").Send(r)
	r.Generation = -1
	c.Say("no generation").Send(r)
	r.Generation, r.MemberID = j.Generation, "nobody"
	c.Say("another member").Send(r)
	if v >= 7 {
		r.MemberID, r.InstanceID = j.MemberID, kmsg.StringPtr("i")
		c.Say("an instance").Send(r)
	}
	c.Send(leaveAs(5, g, j.MemberID))
	c.Say("it has left").Send(r)
	c.Say("without a member").Send(commitTo(v, g, t, 0, 6, nil))
}

func offsetsFetch(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	c.Say("no group").Send(fetchFrom(v, g, &t, 0))
	c.Send(commitTo(9, g, t, 0, 5, kmsg.StringPtr("note")))
	c.Send(fetchFrom(v, g, &t, 0, 1, 7))
	c.Say("twice").Send(fetchFrom(v, g, &t, 0, 0))
	none := topic{name: s.Topic("none"), id: [16]byte{1, 2, 3}}
	c.Say("no such topic").Send(fetchFrom(v, g, &none, 0))
	if v >= 2 {
		c.Say("all").Send(fetchFrom(v, g, nil))
		c.Say("all of no group").Send(fetchFrom(v, s.Topic("nobody"), nil))
	}
	r := fetchFrom(v, g, &t, 0)
	if r.RequireStable = true; v >= 7 {
		c.Say("stable").Send(r)
	}
	if v >= 9 {
		r.Groups[0].MemberID, r.Groups[0].MemberEpoch = kmsg.StringPtr("m"), 7
		c.Say("as a member").Send(r)
	}
	if v >= 8 {
		r.Groups = nil
		c.Say("no groups").Send(r)
	}
}

func offsetsDelete(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	t := c.topic("t", 2)
	remove := func(name string, partitions ...int32) *kmsg.OffsetDeleteRequest {
		r := At(v, kmsg.NewPtrOffsetDeleteRequest())
		rt := kmsg.OffsetDeleteRequestTopic{Topic: name}
		for _, p := range partitions {
			rt.Partitions = append(rt.Partitions, kmsg.OffsetDeleteRequestTopicPartition{Partition: p})
		}
		r.Group, r.Topics = g, append(r.Topics, rt)
		return r
	}
	c.Say("no group").Send(remove(t.name, 0))
	c.Send(commitTo(9, g, t, 0, 5, nil))
	c.Send(remove(t.name, 0, 1, 9))
	c.Say("no such topic").Send(remove(s.Topic("none"), 0))
	c.Send(fetchFrom(7, g, nil))
	r := remove(t.name, 0)
	r.Group = ""
	c.Say("no name").Send(r)
	j := c.join(joinAs(4, g, "", "range"))
	c.Say("with members").Send(remove(t.name, 0))
	c.Send(leaveAs(5, g, j.MemberID))
}

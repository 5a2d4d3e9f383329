package api

import (
	"slices"
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetFetch serves OffsetFetch v1-v10: v2 all topics and a code for the group, v5
// leader epochs (KIP-320), v7 stable offsets only (KIP-447), v8 several groups
// (KIP-709), v9 members of the consumer protocol (KIP-848), v10 topic ids.
func (b *Broker) offsetFetch(c *call) {
	req := c.Msg.(*kmsg.OffsetFetchRequest)
	groups := req.Groups
	if req.Version < 8 {
		groups = []kmsg.OffsetFetchRequestGroup{oldFetch(req)}
	}
	named := newRepeats[string](len(groups))
	groups = slices.DeleteFunc(groups, func(g kmsg.OffsetFetchRequestGroup) bool { return named.tooOften(g.Group) })
	answers := make([]kmsg.OffsetFetchResponseGroup, len(groups))
	all := newGathering(len(groups), func() {
		resp := kmsg.NewPtrOffsetFetchResponse()
		if resp.Groups = answers; req.Version < 8 {
			oldAnswer(req.Version, &groups[0], &answers[0], resp)
		}
		c.ReplyMessage(resp)
	})
	for i := range groups {
		f := offsetsFetch{b: b, c: c, version: req.Version, img: b.Image(), asked: &groups[i], stable: req.RequireStable && req.Version >= 7}
		f.run(func(resp *kmsg.OffsetFetchResponseGroup) {
			answers[i] = *resp
			all.done()
		})
	}
}

// oldFetch is a request from before version 8 as one for a single group.
func oldFetch(req *kmsg.OffsetFetchRequest) kmsg.OffsetFetchRequestGroup {
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = req.Group
	if req.Topics != nil || req.Version < 2 {
		g.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
	}
	for i := range req.Topics {
		t := kmsg.NewOffsetFetchRequestGroupTopic()
		t.Topic, t.Partitions = req.Topics[i].Topic, req.Topics[i].Partitions
		g.Topics = append(g.Topics, t)
	}
	return g
}

// oldAnswer turns the answer for the group into that of a version before 8. Before
// version 2 a code of the group is that of all its partitions.
func oldAnswer(version int16, asked *kmsg.OffsetFetchRequestGroup, g *kmsg.OffsetFetchResponseGroup, resp *kmsg.OffsetFetchResponse) {
	resp.ErrorCode = g.ErrorCode
	if version < 2 && g.ErrorCode != 0 {
		g.Topics = nil
		for i := range asked.Topics {
			g.Topics = append(g.Topics, refusedTopic(&asked.Topics[i], kafka.ErrorCode(g.ErrorCode)))
		}
	}
	for i := range g.Topics {
		t := kmsg.NewOffsetFetchResponseTopic()
		t.Topic = g.Topics[i].Topic
		for j := range g.Topics[i].Partitions {
			p := &g.Topics[i].Partitions[j]
			t.Partitions = append(t.Partitions, kmsg.OffsetFetchResponseTopicPartition{
				Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata, ErrorCode: p.ErrorCode,
			})
		}
		resp.Topics = append(resp.Topics, t)
	}
}

// offsetsFetch is the part of a request that is about one group.
type offsetsFetch struct {
	b       *Broker
	c       *call
	version int16
	img     *image.Image
	asked   *kmsg.OffsetFetchRequestGroup
	stable  bool
}

// run asks the coordinator for what the client may see, and adds what it may not.
func (f *offsetsFetch) run(reply func(*kmsg.OffsetFetchResponseGroup)) {
	if !f.c.mayGroup(kmsg.ACLOperationDescribe, f.asked.Group) {
		resp := kmsg.NewOffsetFetchResponseGroup()
		resp.Group, resp.ErrorCode = f.asked.Group, int16(kafka.ErrGroupAuthorizationFailed)
		reply(&resp)
		return
	}
	asked := *f.asked
	asked.Topics = withoutRepeats(asked.Topics)
	var refused []kmsg.OffsetFetchResponseGroupTopic
	if asked.Topics != nil {
		asked.Topics, refused = f.sort(asked.Topics)
	}
	f.b.withGroup(asked.Group, func(core *group.Core, _ time.Time) machine.Decision {
		return core.Fetch(f.version, &asked, f.stable, func(resp *kmsg.OffsetFetchResponseGroup) {
			switch {
			case resp.ErrorCode != 0:
			case asked.Topics == nil:
				resp.Topics = f.visible(resp.Topics)
			default:
				resp.Topics = append(resp.Topics, refused...)
			}
			reply(resp)
		})
	}, func(code kafka.ErrorCode) {
		resp := group.RefusedFetch(asked.Group, code)
		reply(&resp)
	})
}

// withoutRepeats are the topics of a group without partitions that are named too often.
// What is committed with an offset may be a thousand times as large as its partition's
// number.
func withoutRepeats(topics []kmsg.OffsetFetchRequestGroupTopic) []kmsg.OffsetFetchRequestGroupTopic {
	all := 0
	for i := range topics {
		all += len(topics[i].Partitions)
	}
	type partition struct {
		topic string
		id    kafka.UUID
		index int32
	}
	if named := newRepeats[partition](all); named != nil {
		for i := range topics {
			t := &topics[i]
			t.Partitions = slices.DeleteFunc(t.Partitions, func(index int32) bool { return named.tooOften(partition{t.Topic, t.TopicID, index}) })
		}
	}
	return topics
}

// sort takes the topics apart into those to ask for, and answers for the others.
func (f *offsetsFetch) sort(topics []kmsg.OffsetFetchRequestGroupTopic) (asked []kmsg.OffsetFetchRequestGroupTopic, refused []kmsg.OffsetFetchResponseGroupTopic) {
	asked = []kmsg.OffsetFetchRequestGroupTopic{}
	for _, t := range topics {
		if f.version >= 10 {
			var code kafka.ErrorCode
			if t.Topic, code = resolve(f.img, true, "", t.TopicID); code != kafka.ErrNone {
				refused = append(refused, refusedTopic(&t, code))
				continue
			}
		}
		if !f.c.mayTopic(kmsg.ACLOperationDescribe, t.Topic) {
			refused = append(refused, refusedTopic(&t, kafka.ErrTopicAuthorizationFailed))
			continue
		}
		asked = append(asked, t)
	}
	return asked, refused
}

// visible are those of all topics of a group that the client may see and, where
// topics go by ids, that are there.
func (f *offsetsFetch) visible(topics []kmsg.OffsetFetchResponseGroupTopic) []kmsg.OffsetFetchResponseGroupTopic {
	out := topics[:0]
	for _, t := range topics {
		if !f.c.mayTopic(kmsg.ACLOperationDescribe, t.Topic) {
			continue
		}
		if f.version >= 10 {
			is := f.img.Topics.ByName(t.Topic)
			if is == nil {
				continue
			}
			t.TopicID = is.ID
		}
		out = append(out, t)
	}
	return out
}

func refusedTopic(t *kmsg.OffsetFetchRequestGroupTopic, code kafka.ErrorCode) kmsg.OffsetFetchResponseGroupTopic {
	rt, none := kmsg.NewOffsetFetchResponseGroupTopic(), ""
	rt.Topic, rt.TopicID = t.Topic, t.TopicID
	for _, partition := range t.Partitions {
		rt.Partitions = append(rt.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition{
			Partition: partition, Offset: int64(kafka.NoOffset), LeaderEpoch: int32(kafka.NoLeaderEpoch), Metadata: &none, ErrorCode: int16(code),
		})
	}
	return rt
}

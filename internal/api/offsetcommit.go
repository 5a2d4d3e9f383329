package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetCommit serves OffsetCommit v2-v10: v5 without a retention time (KIP-211), v6
// leader epochs (KIP-320), v7 static members (KIP-345), v9 GROUP_ID_NOT_FOUND and
// STALE_MEMBER_EPOCH (KIP-848), v10 topic ids.
//
// Partitions that are refused here come first in the answer.
func (b *Broker) offsetCommit(c *call) {
	req := c.Msg.(*kmsg.OffsetCommitRequest)
	if !c.mayGroup(kmsg.ACLOperationRead, req.Group) {
		c.ReplyMessage(group.RefusedCommit(req, kafka.ErrGroupAuthorizationFailed))
		return
	}
	taken, resp := b.sortCommit(c, req, req.Version >= 10)
	if len(taken.Topics) == 0 {
		c.ReplyMessage(resp)
		return
	}
	b.withGroup(req.Group, func(core *group.Core, now time.Time) machine.Decision {
		return core.Commit(now, taken, func(done *kmsg.OffsetCommitResponse) { c.ReplyMessage(mergeCommits(resp, done)) })
	}, func(code kafka.ErrorCode) { c.ReplyMessage(mergeCommits(resp, group.RefusedCommit(taken, code))) })
}

// sortCommit takes the partitions of a commit apart into those to commit, and answers
// for the others. byID says that topics go by their ids.
func (b *Broker) sortCommit(c *call, req *kmsg.OffsetCommitRequest, byID bool) (*kmsg.OffsetCommitRequest, *kmsg.OffsetCommitResponse) {
	img, refused, taken := b.Image(), *req, *req
	refused.Topics, taken.Topics = nil, nil
	var codes []kafka.ErrorCode // of the refused, partition by partition
	for i := range req.Topics {
		t := &req.Topics[i]
		name, code := resolve(img, byID, t.Topic, t.TopicID)
		if code != kafka.ErrUnknownTopicID && !c.mayTopic(kmsg.ACLOperationRead, name) {
			code = kafka.ErrTopicAuthorizationFailed
		}
		good, bad := *t, *t
		good.Topic, good.Partitions, bad.Partitions = name, nil, nil
		for j := range t.Partitions {
			p := t.Partitions[j]
			of := code
			if of == kafka.ErrNone && img.Topics.ByName(name).Partition(p.Partition) == nil {
				of = kafka.ErrUnknownTopicOrPartition
			}
			if of == kafka.ErrNone {
				good.Partitions = append(good.Partitions, p)
			} else {
				bad.Partitions, codes = append(bad.Partitions, p), append(codes, of)
			}
		}
		if len(bad.Partitions) > 0 {
			refused.Topics = append(refused.Topics, bad)
		}
		if len(good.Partitions) > 0 {
			taken.Topics = append(taken.Topics, good)
		}
	}
	resp := group.RefusedCommit(&refused, kafka.ErrNone)
	next := 0
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			resp.Topics[i].Partitions[j].ErrorCode = int16(codes[next])
			next++
		}
	}
	return &taken, resp
}

// mergeCommits adds the partitions of more to resp; each topic stands there once.
func mergeCommits(resp, more *kmsg.OffsetCommitResponse) *kmsg.OffsetCommitResponse {
	if len(resp.Topics) == 0 {
		return more
	}
	type topic struct {
		name string
		id   kafka.UUID
	}
	at := map[topic]int{}
	key := func(t *kmsg.OffsetCommitResponseTopic) topic {
		if t.TopicID != (kafka.UUID{}) {
			return topic{id: t.TopicID}
		}
		return topic{name: t.Topic}
	}
	for i := range resp.Topics {
		at[key(&resp.Topics[i])] = i
	}
	for i := range more.Topics {
		t := &more.Topics[i]
		if j, ok := at[key(t)]; ok {
			resp.Topics[j].Partitions = append(resp.Topics[j].Partitions, t.Partitions...)
		} else {
			resp.Topics = append(resp.Topics, *t)
		}
	}
	return resp
}

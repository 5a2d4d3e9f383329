package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroupDescribe serves ConsumerGroupDescribe v0-v1 (KIP-848): v1 says which
// protocol a member uses (KIP-1099). Groups that the client may not see come first
// in the answer. Of a group with a topic that the client may not see nothing is told.
func (b *Broker) consumerGroupDescribe(c *call) {
	req := c.Msg.(*kmsg.ConsumerGroupDescribeRequest)
	resp := kmsg.NewPtrConsumerGroupDescribeResponse()
	refused := func(id string, code kafka.ErrorCode, text string) kmsg.ConsumerGroupDescribeResponseGroup {
		g := kmsg.NewConsumerGroupDescribeResponseGroup()
		g.Group, g.ErrorCode, g.AuthorizedOperations = id, int16(code), noOperations
		if text != "" {
			g.ErrorMessage = &text
		}
		return g
	}
	if !b.servesConsumerGroups() {
		for _, id := range req.Groups {
			resp.Groups = append(resp.Groups, refused(id, kafka.ErrUnsupportedVersion, ""))
		}
		c.ReplyMessage(resp)
		return
	}
	var asked []string
	for _, id := range req.Groups {
		switch {
		case !c.mayGroup(kmsg.ACLOperationDescribe, id):
			resp.Groups = append(resp.Groups, refused(id, kafka.ErrGroupAuthorizationFailed, ""))
		case id == "":
			resp.Groups = append(resp.Groups, refused(id, kafka.ErrInvalidGroupID, ""))
		default:
			asked = append(asked, id)
		}
	}
	answers := make([]kmsg.ConsumerGroupDescribeResponseGroup, len(asked))
	all := newGathering(len(asked), func() {
		resp.Groups = append(resp.Groups, answers...)
		c.ReplyMessage(resp)
	})
	for i, id := range asked {
		b.withGroup(id, func(core *group.Core, _ time.Time) machine.Decision {
			g := core.DescribeConsumer(id)
			if g.ErrorCode == 0 {
				if req.IncludeAuthorizedOperations {
					g.AuthorizedOperations = c.groupOperations(id)
				}
				if text := textHiddenTopics; c.hidesTopic(&g) {
					g.ErrorCode, g.ErrorMessage, g.Members = int16(kafka.ErrTopicAuthorizationFailed), &text, nil
				}
			}
			answers[i] = g
			all.done()
			return machine.Decision{}
		}, func(code kafka.ErrorCode) {
			answers[i] = refused(id, code, "")
			all.done()
		})
	}
}

const textHiddenTopics = "The group has described topic(s) that the client is not authorized to describe."

// hidesTopic says whether a member has a topic, or is to have one, that the client may
// not see.
func (c *call) hidesTopic(g *kmsg.ConsumerGroupDescribeResponseGroup) bool {
	seen := map[string]bool{}
	hidden := func(a *kmsg.Assignment) bool {
		for i := range a.TopicPartitions {
			name := a.TopicPartitions[i].Topic
			may, known := seen[name]
			if !known {
				may = c.mayTopic(kmsg.ACLOperationDescribe, name)
				seen[name] = may
			}
			if !may {
				return true
			}
		}
		return false
	}
	for i := range g.Members {
		if hidden(&g.Members[i].Assignment) || hidden(&g.Members[i].TargetAssignment) {
			return true
		}
	}
	return false
}

package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeGroups serves DescribeGroups v0-v6: v3 authorized operations (KIP-430), v4
// static members, v6 GROUP_ID_NOT_FOUND instead of a dead group (KIP-1043). Groups
// that the client may not see come first in the answer.
func (b *Broker) describeGroups(c *call) {
	req := c.Msg.(*kmsg.DescribeGroupsRequest)
	resp := kmsg.NewPtrDescribeGroupsResponse()
	var asked []string
	named := newRepeats[string](len(req.Groups))
	for _, id := range req.Groups {
		if named.tooOften(id) {
			continue
		}
		if c.mayGroup(kmsg.ACLOperationDescribe, id) {
			asked = append(asked, id)
		} else {
			resp.Groups = append(resp.Groups, refusedDescription(id, kafka.ErrGroupAuthorizationFailed))
		}
	}
	answers := make([]kmsg.DescribeGroupsResponseGroup, len(asked))
	all := newGathering(len(asked), func() {
		resp.Groups = append(resp.Groups, answers...)
		c.ReplyMessage(resp)
	})
	for i, id := range asked {
		b.withGroup(id, func(core *group.Core, _ time.Time) machine.Decision {
			g := core.Describe(req.Version, id)
			if req.IncludeAuthorizedOperations && g.ErrorCode == 0 {
				g.AuthorizedOperations = c.groupOperations(id)
			}
			answers[i] = g
			all.done()
			return machine.Decision{}
		}, func(code kafka.ErrorCode) {
			answers[i] = refusedDescription(id, code)
			all.done()
		})
	}
}

func refusedDescription(id string, code kafka.ErrorCode) kmsg.DescribeGroupsResponseGroup {
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group, g.ErrorCode, g.AuthorizedOperations = id, int16(code), noOperations
	return g
}

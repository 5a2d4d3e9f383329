package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// textShareGroup says why a share group cannot be deleted.
const textShareGroup = "Share groups are not part of this release; their state cannot be deleted."

// deleteGroups serves DeleteGroups v0-v3; v3 has texts (KIP-1331). A group that is
// named twice is deleted once; those that the client may not delete come last.
func (b *Broker) deleteGroups(c *call) {
	req := c.Msg.(*kmsg.DeleteGroupsRequest)
	var asked []string
	var refused []kmsg.DeleteGroupsResponseGroup
	seen := map[string]struct{}{}
	for _, id := range req.Groups {
		if _, twice := seen[id]; twice {
			continue
		}
		seen[id] = struct{}{}
		if c.mayGroup(kmsg.ACLOperationDelete, id) {
			asked = append(asked, id)
		} else {
			refused = append(refused, deletion(id, kafka.ErrGroupAuthorizationFailed))
		}
	}
	answers := make([]kmsg.DeleteGroupsResponseGroup, len(asked))
	all := newGathering(len(asked), func() {
		resp := kmsg.NewPtrDeleteGroupsResponse()
		resp.Groups = append(answers, refused...)
		c.ReplyMessage(resp)
	})
	for i, id := range asked {
		answer := func(code kafka.ErrorCode) {
			answers[i] = deletion(id, code)
			all.done()
		}
		b.withGroup(id, func(core *group.Core, _ time.Time) machine.Decision { return core.Delete(id, answer) }, answer)
	}
}

func deletion(id string, code kafka.ErrorCode) kmsg.DeleteGroupsResponseGroup {
	g := kmsg.NewDeleteGroupsResponseGroup()
	g.Group, g.ErrorCode = id, int16(code)
	if code == kafka.ErrUnsupportedVersion {
		text := textShareGroup
		g.ErrorMessage = &text
	}
	return g
}

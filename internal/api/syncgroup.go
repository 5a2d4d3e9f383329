package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// syncGroup serves SyncGroup v0-v5: v3 static members, v5 the protocol type and name,
// which have to be there (KIP-559).
func (b *Broker) syncGroup(c *call) {
	req := c.Msg.(*kmsg.SyncGroupRequest)
	refuse := func(code kafka.ErrorCode) {
		resp := kmsg.NewPtrSyncGroupResponse()
		resp.ErrorCode = int16(code)
		c.ReplyMessage(resp)
	}
	switch {
	case req.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil):
		refuse(kafka.ErrInconsistentGroupProtocol)
		return
	case !c.mayGroup(kmsg.ACLOperationRead, req.Group):
		refuse(kafka.ErrGroupAuthorizationFailed)
		return
	case req.Group == "":
		refuse(kafka.ErrInvalidGroupID)
		return
	}
	b.withGroup(req.Group, func(core *group.Core, now time.Time) machine.Decision {
		return core.Sync(now, req, func(resp *kmsg.SyncGroupResponse) { c.ReplyMessage(resp) })
	}, refuse)
}

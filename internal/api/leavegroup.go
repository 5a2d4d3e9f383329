package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// leaveGroup serves LeaveGroup v0-v5: v3 several members, also by instance id
// (KIP-345), v5 a reason (KIP-800).
func (b *Broker) leaveGroup(c *call) {
	req := c.Msg.(*kmsg.LeaveGroupRequest)
	refuse := func(code kafka.ErrorCode) {
		resp := kmsg.NewPtrLeaveGroupResponse()
		resp.ErrorCode = int16(code)
		c.ReplyMessage(resp)
	}
	switch {
	case !c.mayGroup(kmsg.ACLOperationRead, req.Group):
		refuse(kafka.ErrGroupAuthorizationFailed)
		return
	case req.Group == "":
		refuse(kafka.ErrInvalidGroupID)
		return
	}
	if req.Version < 3 {
		only := kmsg.NewLeaveGroupRequestMember()
		only.MemberID = req.MemberID
		req.Members = []kmsg.LeaveGroupRequestMember{only}
	}
	b.withGroup(req.Group, func(core *group.Core, now time.Time) machine.Decision {
		return core.Leave(now, req, func(resp *kmsg.LeaveGroupResponse) {
			if req.Version < 3 && resp.ErrorCode == 0 {
				resp.ErrorCode = resp.Members[0].ErrorCode
			}
			c.ReplyMessage(resp)
		})
	}, refuse)
}

package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// heartbeat serves Heartbeat v0-v4; v3 static members. While the group is loaded the
// answer is no error: the member is to go on.
func (b *Broker) heartbeat(c *call) {
	req := c.Msg.(*kmsg.HeartbeatRequest)
	answer := func(code kafka.ErrorCode) {
		if code == kafka.ErrCoordinatorLoadInProgress {
			code = kafka.ErrNone
		}
		resp := kmsg.NewPtrHeartbeatResponse()
		resp.ErrorCode = int16(code)
		c.ReplyMessage(resp)
	}
	switch {
	case !c.mayGroup(kmsg.ACLOperationRead, req.Group):
		answer(kafka.ErrGroupAuthorizationFailed)
		return
	case req.Group == "":
		answer(kafka.ErrInvalidGroupID)
		return
	}
	b.withGroup(req.Group, func(core *group.Core, now time.Time) machine.Decision {
		answer(core.Heartbeat(now, req))
		return machine.Decision{}
	}, answer)
}

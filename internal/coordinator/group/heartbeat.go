package group

import (
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Heartbeat serves Heartbeat; version 3 brings static members. It needs no record
// and no memory.
func (c *Core) Heartbeat(now time.Time, req *kmsg.HeartbeatRequest) kafka.ErrorCode {
	c.tell(now)
	if req.Group == "" {
		return kafka.ErrInvalidGroupID
	}
	if g := c.consumer(req.Group); g != nil {
		return c.heartbeatConsumer(now, g, req)
	}
	g := c.classic(req.Group)
	if g == nil {
		return kafka.ErrUnknownMemberID
	}
	m, code := g.validate(req.MemberID, req.InstanceID)
	switch {
	case code != kafka.ErrNone:
		return code
	case req.Generation != g.generation:
		return kafka.ErrIllegalGeneration
	}
	c.heardOf(now, m)
	if g.state == statePreparing {
		return kafka.ErrRebalanceInProgress
	}
	return kafka.ErrNone
}

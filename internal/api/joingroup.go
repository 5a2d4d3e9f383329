package api

import (
	"fmt"
	"net/netip"
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// joinGroup serves JoinGroup v0-v9: v4 ids first (KIP-394), v5 static members
// (KIP-345), v7 the protocol type in the answer (KIP-559), v8 a reason (KIP-800),
// v9 the leader may be told to skip the assignment (KIP-814).
func (b *Broker) joinGroup(c *call) {
	req := c.Msg.(*kmsg.JoinGroupRequest)
	refuse := func(memberID string, code kafka.ErrorCode) {
		resp := kmsg.NewPtrJoinGroupResponse()
		resp.ErrorCode, resp.MemberID, resp.Generation = int16(code), memberID, -1
		c.ReplyMessage(resp)
	}
	switch {
	case !c.mayGroup(kmsg.ACLOperationRead, req.Group):
		refuse("", kafka.ErrGroupAuthorizationFailed)
		return
	case req.Group == "":
		refuse(req.MemberID, kafka.ErrInvalidGroupID)
		return
	}
	from := group.Client{ID: c.Header.ClientID, Host: javaAddress(c.conn.RemoteAddr().Addr())}
	b.withGroup(req.Group, func(core *group.Core, now time.Time) machine.Decision {
		return core.Join(now, from, req, func(resp *kmsg.JoinGroupResponse) { c.ReplyMessage(resp) })
	}, func(code kafka.ErrorCode) { refuse("", code) })
}

// javaAddress is an address as java.net.InetAddress prints it, which is what the
// tools show as HOST and what lies in the log.
func javaAddress(a netip.Addr) string {
	a = a.Unmap()
	if a.Is4() {
		return "/" + a.String()
	}
	text := "/"
	b := a.As16()
	for i := 0; i < 16; i += 2 {
		if i > 0 {
			text += ":"
		}
		text += fmt.Sprintf("%x", int(b[i])<<8|int(b[i+1]))
	}
	if zone := a.Zone(); zone != "" {
		text += "%" + zone
	}
	return text
}

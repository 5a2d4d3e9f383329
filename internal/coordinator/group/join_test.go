package group

import (
	"strings"
	"testing"
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestLongestNames: a member whose ids are as long as a request can have them gets
// an id that fits into an answer and into the log.
func TestLongestNames(t *testing.T) {
	r := newRig(defaults())
	longest := strings.Repeat("x", 1<<15-1)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.ProtocolType, join.InstanceID = 5, longest, longest, &longest
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 10_000, 60_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: longest}}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group = longest
	r.do(r.Join(r.now, Client{ID: longest, Host: "/127.0.0.1"}, join, func(resp *kmsg.JoinGroupResponse) {
		sync.MemberID, sync.Generation = resp.MemberID, resp.Generation
	}))
	r.pass(6 * time.Second)
	if len(sync.MemberID) != len(longest) {
		t.Errorf("a member id of %d bytes", len(sync.MemberID))
	}
	answer := kafka.ErrorCode(-1)
	r.do(r.Sync(r.now, sync, func(resp *kmsg.SyncGroupResponse) { answer = kafka.ErrorCode(resp.ErrorCode) }))
	if answer != kafka.ErrNone {
		t.Error(answer)
	}
	r.restart()
	if g := r.Describe(6, longest); g.State != "Stable" || g.Members[0].MemberID != sync.MemberID {
		t.Errorf("after a restart the group is %s", g.State)
	}
}

package group

import (
	"testing"
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestHeartbeatNeedsNoMemory(t *testing.T) {
	r := newRig(defaults())
	instance := "i"
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.InstanceID, join.ProtocolType = 9, "g", &instance, consumerProtocol
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 10_000, 60_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscription("t")}}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.InstanceID = "g", &instance
	r.Do(r.Join(r.Now, Client{}, join, func(resp *kmsg.JoinGroupResponse) {
		beat.MemberID, beat.Generation = resp.MemberID, resp.Generation
	}))
	r.Pass(6 * time.Second)
	if n := testing.AllocsPerRun(1000, func() {
		r.Now = r.Now.Add(time.Second)
		if code := r.Heartbeat(r.Now, beat); code != kafka.ErrNone {
			t.Fatal(code)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

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
	r.Do(r.Join(r.Now, Client{ID: longest, Host: "/127.0.0.1"}, join, func(resp *kmsg.JoinGroupResponse) {
		sync.MemberID, sync.Generation = resp.MemberID, resp.Generation
	}))
	r.Pass(6 * time.Second)
	if len(sync.MemberID) != len(longest) {
		t.Errorf("a member id of %d bytes", len(sync.MemberID))
	}
	answer := kafka.ErrorCode(-1)
	r.Do(r.Sync(r.Now, sync, func(resp *kmsg.SyncGroupResponse) { answer = kafka.ErrorCode(resp.ErrorCode) }))
	if answer != kafka.ErrNone {
		t.Error(answer)
	}
	r.restart()
	if g := r.Describe(6, longest); g.State != "Stable" || g.Members[0].MemberID != sync.MemberID {
		t.Errorf("after a restart the group is %s", g.State)
	}
}

// bounded joins group g, without an answer that is an error but full.
func bounded(t *testing.T, r *rig, version int16, group string, metadata int) kafka.ErrorCode {
	t.Helper()
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.ProtocolType = version, group, "consumer"
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 10_000, 10_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: make([]byte, metadata)}}
	answer := kafka.ErrNone
	r.Do(r.Join(r.Now, Client{ID: "c"}, join, func(resp *kmsg.JoinGroupResponse) { answer = kafka.ErrorCode(resp.ErrorCode) }))
	return answer
}

// TestBoundsOfACore: of ids that wait for their members, and of what members bring, a
// core holds no more than its limits, and takes more when there is room again.
func TestBoundsOfACore(t *testing.T) {
	r := newRig(defaults())
	if code := bounded(t, r, 4, "a", 10); code != kafka.ErrMemberIDRequired || r.pendingMembers != 1 {
		t.Fatalf("the first: %v, %d pending", code, r.pendingMembers)
	}
	r.pendingMembers = maxPendingInAll
	if code := bounded(t, r, 4, "b", 10); code != kafka.ErrCoordinatorNotAvailable {
		t.Errorf("one id too many: %v", code)
	}
	r.pendingMembers = maxPendingInAll - 1
	if code := bounded(t, r, 4, "b", 10); code != kafka.ErrMemberIDRequired {
		t.Errorf("the last id: %v", code)
	}
	free := int64(100)
	r.heldBytes = maxHeldBytes - free
	if code := bounded(t, r, 3, "c", int(free)); code != kafka.ErrGroupMaxSizeReached || r.heldBytes != maxHeldBytes-free {
		t.Errorf("more bytes than there is room for: %v", code)
	}
	if code := bounded(t, r, 3, "c", 10); code != kafka.ErrNone || r.heldBytes <= maxHeldBytes-free {
		t.Errorf("bytes for which there is room: %v", code)
	}
}

package consumergroup

import (
	"bytes"
	"slices"

	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/grouprec"
)

// State is where a member is on its way to its target (MemberState).
type State int8

// The states. What is none of them was written by a later release: such a member
// has to begin anew.
const (
	Stable     State = 0
	Unrevoked  State = 1 // it has to let go of partitions
	Unreleased State = 2 // it waits for partitions of others
)

// Epochs of members that are no epochs.
const (
	EpochJoining     = 0
	EpochLeaving     = -1
	EpochStaticLeave = -2 // a static member that will be back
)

// Member is a member of a consumer group. It is never changed.
type Member struct {
	ID               string
	Instance         *string // group.instance.id of a static member
	Rack             *string
	ClientID         string
	ClientHost       string
	RebalanceTimeout int32    // milliseconds; -1: unknown
	Topics           []string // subscribed by name, sorted
	Regex            string   // subscribed by a regular expression; "": none
	Assignor         *string  // it asks for
	Classic          *Classic // it uses the classic protocol

	Epoch         int32
	PreviousEpoch int32
	State         State
	Assigned      Holding
	Revoking      Holding // it has to let go of; still held

	number uint64 // among the members of its group, as they came
}

// Classic is what a member that uses the classic protocol has of it.
type Classic struct {
	SessionTimeout int32 // milliseconds
	Protocols      []grouprec.ClassicProtocol
}

// newMember is a member of which only the id is known.
func newMember(id string) *Member {
	return &Member{ID: id, RebalanceTimeout: -1, PreviousEpoch: -1}
}

// NewMember is a member that joins.
func NewMember(id string) *Member { return newMember(id) }

// Reached says whether the member has reached the target of that epoch.
func (m *Member) Reached(epoch int32) bool { return m.State == Stable && m.Epoch == epoch }

// With is a copy that change has changed; what hangs on m may not be changed.
func (m *Member) With(change func(*Member)) *Member {
	next := *m
	change(&next)
	return &next
}

// advance is a copy with another epoch.
func (m *Member) advance(epoch int32, state State, assigned, revoking Holding) *Member {
	return m.With(func(n *Member) {
		n.PreviousEpoch, n.Epoch, n.State, n.Assigned, n.Revoking = m.Epoch, epoch, state, assigned, revoking
	})
}

// sameSubscription compares all that stands in the member's record of type 5.
func (m *Member) sameMetadata(o *Member) bool {
	return equal(m.Instance, o.Instance) && equal(m.Rack, o.Rack) && m.ClientID == o.ClientID && m.ClientHost == o.ClientHost &&
		m.RebalanceTimeout == o.RebalanceTimeout && slices.Equal(m.Topics, o.Topics) && m.Regex == o.Regex && equal(m.Assignor, o.Assignor) &&
		m.Classic.equal(o.Classic)
}

// sameAssignment compares all that stands in the member's record of type 8.
func (m *Member) sameAssignment(o *Member) bool {
	return m.Epoch == o.Epoch && m.PreviousEpoch == o.PreviousEpoch && m.State == o.State && m.Assigned.Equal(o.Assigned) && m.Revoking.Equal(o.Revoking)
}

// Same says whether the records of two members are equal.
func (m *Member) Same(o *Member) bool { return m.sameMetadata(o) && m.sameAssignment(o) }

func equal(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

func (c *Classic) equal(o *Classic) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.SessionTimeout == o.SessionTimeout && slices.EqualFunc(c.Protocols, o.Protocols, func(a, b grouprec.ClassicProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// memberOverhead is about what a member takes beside what is said of it.
const memberOverhead = 500

// Bytes is about what a member takes of memory, without what it holds; nil takes
// nothing.
func (m *Member) Bytes() int64 {
	if m == nil {
		return 0
	}
	n := memberOverhead + len(m.ID) + len(m.ClientID) + len(m.ClientHost) + len(m.Regex)
	for _, s := range []*string{m.Instance, m.Rack, m.Assignor} {
		if s != nil {
			n += len(*s)
		}
	}
	for _, t := range m.Topics {
		n += 16 + len(t)
	}
	if m.Classic != nil {
		for i := range m.Classic.Protocols {
			n += len(m.Classic.Protocols[i].Name) + len(m.Classic.Protocols[i].Metadata)
		}
	}
	return int64(n)
}

// Held is all that the member holds: what it has, and what it has to let go of.
func (m *Member) Held() assign.Assignment {
	return gather(append(slices.Clone(m.Assigned), m.Revoking...)).numbers()
}

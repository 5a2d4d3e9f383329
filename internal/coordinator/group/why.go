package group

import (
	"slices"
	"time"
)

// Cause says what a rebalance began with.
type Cause string

// The causes of rebalances.
const (
	CauseMemberJoined   Cause = "member-joined"
	CauseMemberLeft     Cause = "member-left"
	CauseSessionExpired Cause = "session-expired"      // no heartbeat for session.timeout.ms
	CauseNewMemberGone  Cause = "new-member-gone"      // it did not get through its first rebalance in five minutes
	CauseNotSynced      Cause = "sync-expired"         // it did not fetch its assignment in the rebalance timeout
	CauseSubscription   Cause = "subscription-changed" // a member joined again with other protocols or topics
	CauseLeaderRejoined Cause = "leader-rejoined"      // mostly: partitions of a topic were added
	CauseStaticReplaced Cause = "static-member-replaced"
	CauseNotStored      Cause = "assignment-not-stored" // the log refused it
	CauseTooLarge       Cause = "group-too-large"       // loaded with more members than group.max.size

	// Of groups of the consumer protocol alone.
	CauseTopics     Cause = "topics-changed"     // a topic of the group came, went or got partitions
	CauseAssignor   Cause = "assignor-changed"   // most members ask for another one
	CauseNotRevoked Cause = "revocation-expired" // a member did not let go of partitions in max.poll.interval.ms
	CauseNotJoined  Cause = "rejoin-expired"     // a classic member did not join again in its rebalance timeout
	CauseConverted  Cause = "protocol-converted" // the group went from one protocol to the other
)

// Outcome says how a rebalance ended.
type Outcome string

// The outcomes of rebalances.
const (
	OutcomeStable      Outcome = "stable"
	OutcomeEmpty       Outcome = "empty"
	OutcomeInterrupted Outcome = "interrupted" // another began before it was stable
	OutcomeRunning     Outcome = "running"
)

// Bounds of what is remembered of a group.
const (
	maxRebalances = 16
	maxLost       = 8
	maxText       = 255 // bytes of a reason, an id
)

// Rebalance is one rebalance of a group, as people ask for it.
type Rebalance struct {
	Began      time.Time
	Took       time.Duration // until it ended
	Cause      Cause
	MemberID   string // with whom it began, if with one
	InstanceID string
	ClientID   string
	Reason     string   // what the client gave (KIP-800), or the error
	Lost       []string // members that did not come in time, the first of them
	LostCount  int
	Generation int32 // it ended with
	Members    int
	Outcome    Outcome
}

// cause is what an operation knows when a rebalance begins.
type cause struct {
	kind     Cause
	member   string
	instance string
	client   string
	reason   string
}

// name sets the member if none is named yet.
func (w *cause) name(member, client string, reason *string) {
	if w.member != "" {
		return
	}
	w.member, w.client = member, client
	if reason != nil {
		w.reason = *reason
	}
}

// history is the last rebalances of a group, oldest first.
type history struct{ list []Rebalance }

func (h *history) begin(now time.Time, generation int32, members int, why cause) {
	h.end(now, generation, members, OutcomeInterrupted)
	if len(h.list) == maxRebalances {
		h.list = slices.Delete(h.list, 0, 1)
	}
	h.list = append(h.list, Rebalance{
		Began: now, Cause: why.kind, Outcome: OutcomeRunning,
		MemberID: short(why.member), InstanceID: short(why.instance), ClientID: short(why.client), Reason: short(why.reason),
	})
}

// end closes the rebalance that runs, if one does.
func (h *history) end(now time.Time, generation int32, members int, outcome Outcome) {
	if r := h.running(); r != nil {
		r.Took, r.Outcome, r.Generation, r.Members = now.Sub(r.Began), outcome, generation, members
	}
}

// lost notes a member that did not come in time.
func (h *history) lost(member string) {
	r := h.running()
	if r == nil {
		return
	}
	if r.LostCount++; len(r.Lost) < maxLost {
		r.Lost = append(r.Lost, short(member))
	}
}

func (h *history) running() *Rebalance {
	if last := len(h.list) - 1; last >= 0 && h.list[last].Outcome == OutcomeRunning {
		return &h.list[last]
	}
	return nil
}

// short copies a text up to its bound.
func short(s string) string {
	if len(s) > maxText {
		s = string([]byte(s[:maxText]))
	}
	return s
}

// Why are the last rebalances of a group, oldest first, and whether there is such a
// group of the classic or the consumer protocol. What runs has taken the time until
// now.
func (c *Core) Why(now time.Time, id string) ([]Rebalance, bool) {
	var h *history
	var generation int32
	var members int
	e, ok := c.groups.Get(id)
	switch {
	case ok && e.classic != nil:
		h, generation, members = &e.classic.history, e.classic.generation, e.classic.size()
	case ok && e.consumer != nil:
		h, generation, members = &c.soft(id).history, e.consumer.Epoch, e.consumer.Size()
	default:
		return nil, false
	}
	list := slices.Clone(h.list)
	for i := range list {
		list[i].Lost = slices.Clone(list[i].Lost)
	}
	if last := len(list) - 1; last >= 0 && list[last].Outcome == OutcomeRunning {
		list[last].Took, list[last].Generation, list[last].Members = now.Sub(list[last].Began), generation, members
	}
	return list, true
}

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

func (h *history) begin(now time.Time, g *classicGroup, why cause) {
	h.end(now, g, OutcomeInterrupted)
	if len(h.list) == maxRebalances {
		h.list = slices.Delete(h.list, 0, 1)
	}
	h.list = append(h.list, Rebalance{
		Began: now, Cause: why.kind, Outcome: OutcomeRunning,
		MemberID: short(why.member), InstanceID: short(why.instance), ClientID: short(why.client), Reason: short(why.reason),
	})
}

// end closes the rebalance that runs, if one does.
func (h *history) end(now time.Time, g *classicGroup, outcome Outcome) {
	if r := h.running(); r != nil {
		r.Took, r.Outcome, r.Generation, r.Members = now.Sub(r.Began), outcome, g.generation, g.size()
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

// Why are the last rebalances of a group, oldest first, and whether it is one of
// the classic protocol. What runs has taken the time until now.
func (c *Core) Why(now time.Time, id string) ([]Rebalance, bool) {
	g := c.classic(id)
	if g == nil {
		return nil, false
	}
	list := slices.Clone(g.history.list)
	for i := range list {
		list[i].Lost = slices.Clone(list[i].Lost)
	}
	if last := len(list) - 1; last >= 0 && list[last].Outcome == OutcomeRunning {
		list[last].Took, list[last].Generation, list[last].Members = now.Sub(list[last].Began), g.generation, g.size()
	}
	return list, true
}

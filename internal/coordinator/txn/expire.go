package txn

import (
	"cmp"
	"math"
	"slices"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// abortTimedOut ends transactions that take longer than their producers allowed. more
// says that there are others.
func (c *Core) abortTimedOut(now time.Time) (decisions []machine.Decision, more bool) {
	var late []*transaction
	for id := range c.open.All() {
		if t := c.get(id); t.timedOut(now) {
			late = append(late, t)
		}
	}
	for _, t := range oldest(late) {
		decisions = append(decisions, c.fence(now, t, func(kafka.ErrorCode) {})) // if it fails it is late the next time too
	}
	return decisions, len(late) > maxAtOnce
}

// timedOut says whether the transaction takes too long. One with the largest timeout
// has none (KIP-939).
func (t *transaction) timedOut(now time.Time) bool {
	return t.state == Ongoing && t.timeoutMs != math.MaxInt32 && t.startMs+int64(t.timeoutMs) < now.UnixMilli()
}

// removeExpired forgets ids that nobody has used for long.
func (c *Core) removeExpired(now time.Time) (decisions []machine.Decision, more bool) {
	var old []*transaction
	for _, t := range c.ids.All() {
		if t.state.over() && now.UnixMilli()-t.updatedMs >= c.settings.Expiration.Milliseconds() {
			old = append(old, t)
		}
	}
	d := machine.Decision{Divisible: true}
	for _, t := range oldest(old) {
		d.Records = append(d.Records, machine.Record{Key: keyOf(t.id)})
	}
	if len(d.Records) > 0 {
		decisions = append(decisions, d)
	}
	return decisions, len(old) > maxAtOnce
}

// oldest are those that were changed first, no more than are worked off at once.
func oldest(list []*transaction) []*transaction {
	slices.SortFunc(list, func(a, b *transaction) int {
		return cmp.Or(cmp.Compare(a.updatedMs, b.updatedMs), cmp.Compare(a.id, b.id))
	})
	return list[:min(len(list), maxAtOnce)]
}

package quorum

import "time"

// A full disk does not end the quorum. Space for some thousand records is kept
// reserved behind the end of the log. When it can no longer be, records that let the
// cluster grow are refused and the others are still written. When that is used up
// too, or a segment cannot be begun, what was appended is cut off and given up.

// reserve is how many bytes are kept reserved.
const reserve = 1 << 20

// space is what the disk of the log has.
type space int8

const (
	enough   space = iota
	reserved       // what is reserved and nothing more
	none           // the last write found none
)

// fullFor is how long the answer of a full disk counts. What comes then is the next
// try.
const fullFor = time.Second

// refuseLocked says whether records are refused for lack of space.
func (q *Quorum) refuseLocked(growing bool) bool {
	due := !q.opts.Now().Before(q.retryAt)
	if q.space == none {
		return !due
	}
	if growing && due {
		// These are not written to find out: a reservation is enough.
		q.retryAt = q.opts.Now().Add(fullFor)
		q.reserving = true
		q.signal()
	}
	return growing
}

// look notes what space the disk has after the log was written, or tried to reserve
// some.
func (q *Quorum) look() {
	if q.log.ShortOfSpace() {
		q.setSpace(reserved, "the reserve of the metadata log cannot be kept")
	} else {
		q.setSpace(enough, nil)
	}
}

func (q *Quorum) setSpace(now space, cause any) {
	q.mu.Lock()
	before := q.space
	q.space = now
	q.retryAt = q.opts.Now().Add(fullFor)
	q.mu.Unlock()
	switch {
	case before == enough && now != enough:
		q.opts.Logger.Error("the disk of the metadata log is full: the cluster does not grow until there is space", "dir", q.dir, "error", cause)
	case before != enough && now == enough:
		q.opts.Logger.Info("the disk of the metadata log has space again", "dir", q.dir)
	}
}

// cutBack gives up what could not be written, and all that was appended behind it.
func (q *Quorum) cutBack(cause error) {
	q.setSpace(none, cause)
	q.mu.Lock()
	q.pending, q.pendingBytes = nil, 0
	q.next = q.log.LogEnd()
	at := LeaderChange{Epoch: q.epoch, LeaderID: q.leaderID, IsLeader: true, NextOffset: q.next}
	q.mu.Unlock()
	q.listener.CutBack(at)
}

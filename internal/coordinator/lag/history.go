package lag

import (
	"slices"
	"time"

	"barnabas/internal/kafka"
)

// step says that a log had this end, and none behind it before.
type step struct {
	at  time.Time
	end kafka.Offset
}

// maxSteps bounds a history.
const maxSteps = 64

// history is the ends of a log, growing.
type history struct{ steps []step }

func (h *history) note(now time.Time, end kafka.Offset) {
	if n := len(h.steps); n > 0 && h.steps[n-1].end >= end {
		return
	}
	if len(h.steps) == maxSteps {
		h.thin(now)
	}
	h.steps = append(h.steps, step{now, end})
}

// thin forgets the step whose neighbours lie closest, for its age: so what is long ago
// is known roughly, and what was just now exactly.
func (h *history) thin(now time.Time) {
	best, closest := 1, 0.0
	for i := 1; i < len(h.steps)-1; i++ {
		gap := float64(h.steps[i+1].at.Sub(h.steps[i-1].at)) / float64(now.Sub(h.steps[i].at)+1)
		if i == 1 || gap < closest {
			best, closest = i, gap
		}
	}
	h.steps = slices.Delete(h.steps, best, best+1)
}

// since is when the log first ended behind an offset, as far as is remembered.
func (h *history) since(offset kafka.Offset) (time.Time, bool) {
	for _, s := range h.steps {
		if s.end > offset {
			return s.at, true
		}
	}
	return time.Time{}, false
}

package client

import (
	"context"
	"sync"
	"time"
)

// deadlines hands out the ends of delivery.timeout.ms. Records that are sent shortly
// after one another share one, so that there are never more than about a hundred: the
// timeout is late by at most one part in slots.
//
// The engine has a timeout of its own, but counts it from the record's timestamp, which
// an application may set to any time.
type deadlines struct {
	timeout time.Duration
	all     context.Context // its end ends every deadline

	mu      sync.Mutex
	current context.Context // guarded by mu
	until   time.Time       // current is handed out before this; guarded by mu
}

// slots is how many deadlines there are in the time of one.
const slots = 100

// next is the deadline for a record that is sent now.
func (d *deadlines) next(now time.Time) context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil || !now.Before(d.until) {
		d.until = now.Add(d.timeout / slots)
		// The timer behind it ends by itself, or with all.
		ctx, cancel := context.WithDeadline(d.all, d.until.Add(d.timeout))
		_ = context.AfterFunc(ctx, cancel)
		d.current = ctx
	}
	return d.current
}

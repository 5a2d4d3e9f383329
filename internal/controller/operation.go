package controller

import (
	"errors"
	"fmt"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Context is what is known of a request beside its fields.
type Context struct {
	Principal string
	ClientID  string
	// Received is when the request came; its own timeout counts from here. Zero is
	// for callers in this process that do not time out.
	Received time.Time
	// Authorize says whether the client may do that with the topic, or with the
	// cluster if the name is "". Nil allows everything.
	Authorize func(op kmsg.ACLOperation, topic string) bool
}

func (ctx *Context) may(op kmsg.ACLOperation, topic string) bool {
	return ctx.Authorize == nil || ctx.Authorize(op, topic)
}

// deadline is the end of a timeout that began when the request came.
func (ctx *Context) deadline(timeout time.Duration) time.Time {
	if ctx.Received.IsZero() {
		return time.Time{}
	}
	return ctx.Received.Add(timeout)
}

func milliseconds(n int32) time.Duration { return time.Duration(n) * time.Millisecond }

// operation is one request on its way: decided if the controller leads and the
// deadline has not passed, refused as a whole otherwise.
type operation struct {
	name     string
	deadline time.Time // zero: none
	decide   func(*active) (decision, *refusal)
	refuse   func(refusal)
}

// decision is what an operation wants.
type decision struct {
	records []metarec.Message // in order; none changes nothing
	// divisible records may be written as several batches.
	divisible bool
	growing   bool // see Records.Growing
	// applied, if not nil, is called when the records are in the pending image.
	applied func(a *active, last kafka.Offset)
	// answer is called when the records are committed.
	answer func()
}

// submit gives an operation to the executor.
func (c *Controller) submit(op operation) {
	if err := c.exec.Submit(func() { c.perform(op) }); err != nil {
		op.refuse(c.overload(err))
	}
}

// overload is the answer to what the executor does not take.
func (c *Controller) overload(err error) refusal {
	if errors.Is(err, errClosed) {
		return refusal{code: kafka.ErrNotController}
	}
	c.o.Logger.Warn("the controller's queue is full")
	return refusal{code: kafka.ErrRequestTimedOut}
}

func (c *Controller) perform(op operation) {
	now := c.o.Clock.Now()
	switch {
	case !op.deadline.IsZero() && !now.Before(op.deadline):
		op.refuse(refusal{code: kafka.ErrRequestTimedOut})
		return
	case c.active == nil:
		op.refuse(refusal{code: kafka.ErrNotController})
		return
	}
	a := c.active
	a.now = now
	d, refused := op.decide(a)
	if refused == nil {
		refused = c.write(a, d)
	}
	if refused != nil {
		op.refuse(*refused)
		return
	}
	c.wait(waiter{last: a.next - 1, answer: d.answer, refuse: op.refuse})
}

// write replays and appends the records of a decision. A refusal means that
// nothing was changed.
func (c *Controller) write(a *active, d decision) *refusal {
	if len(d.records) > 0 {
		if !d.divisible && len(d.records) > maxRecords {
			return tooManyRecords()
		}
		img := a.replay(d.records)
		last, err := c.append(a, d)
		if err != nil {
			return c.appendFailed(err)
		}
		if want := a.next + kafka.Offset(len(d.records)) - 1; last != want {
			panic(fmt.Sprintf("BUG: controller: the records end at offset %d, want %d (invariant 2)", last, want))
		}
		a.took(img, d.records, last)
	}
	if d.applied != nil {
		d.applied(a, a.next-1)
	}
	return nil
}

func (c *Controller) append(a *active, d decision) (kafka.Offset, error) {
	frames := make([][]byte, len(d.records))
	for i, m := range d.records {
		frame, err := metarec.Encode(nil, m, metarec.VersionAt(m, a.version))
		if err != nil {
			panic(fmt.Sprintf("BUG: controller: %T cannot be written at metadata.version %v: %v", m, a.version, err))
		}
		frames[i] = frame
	}
	return c.o.Log.Append(Records{Epoch: a.epoch, Next: a.next, Frames: frames, Divisible: d.divisible, Growing: d.growing})
}

// appendFailed says what a client is told when the log takes nothing: mostly that
// the leadership is lost, which the quorum will tell us next. Of a full disk its
// owner has logged already.
func (c *Controller) appendFailed(err error) *refusal {
	var code kafka.ErrorCode
	errors.As(err, &code)
	if code == kafka.ErrKafkaStorageError {
		return &noSpace
	}
	c.o.Logger.Warn("metadata records were not taken by the log", "error", err)
	if code != kafka.ErrNone {
		return &refusal{code: code}
	}
	return &refusal{code: kafka.ErrNotController}
}

// waiter is an operation that waits for the commit of an offset.
type waiter struct {
	last   kafka.Offset
	answer func()
	refuse func(refusal)
}

// wait answers w when its offset is committed, at once if it is.
func (c *Controller) wait(w waiter) {
	if w.last <= c.committed && len(c.waiters) == 0 {
		w.answer()
		return
	}
	c.waiters = append(c.waiters, w)
}

// answerCommitted answers the operations whose records are committed.
func (c *Controller) answerCommitted() {
	n := 0
	for n < len(c.waiters) && c.waiters[n].last <= c.committed {
		n++
	}
	ready := c.waiters[:n:n]
	c.waiters = c.waiters[n:]
	if len(c.waiters) == 0 {
		c.waiters = nil
	}
	for _, w := range ready {
		w.answer()
	}
}

// replay returns the pending image with the records. What the controller itself
// decided must replay; it is tried before anything reaches the log.
func (a *active) replay(records []metarec.Message) *image.Image {
	b := image.NewBuilder(a.image)
	for _, m := range records {
		switch m.(type) {
		case *metarec.BeginTransactionRecord, *metarec.EndTransactionRecord, *metarec.AbortTransactionRecord:
			continue // our own transactions are whole, and an abandoned one is not in the image
		}
		if err := b.Replay(m); err != nil {
			panic(fmt.Sprintf("BUG: controller: own record %v cannot be replayed: %v", m.Type(), err))
		}
	}
	img, _ := b.Build(image.Position{Offset: a.next + kafka.Offset(len(records)) - 1, Epoch: a.epoch})
	return img
}

package replica

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"time"

	"barnabas/internal/base/wheel"
	"barnabas/internal/kafka"
	"barnabas/internal/replica/purgatory"
)

// env is what every partition needs of its surroundings.
type env struct {
	self    kafka.BrokerID
	now     func() time.Time
	random  io.Reader
	wheel   *wheel.Wheel
	answers *executor // answers that timers or many wake-ups bring
	alter   *alterSender
	log     *slog.Logger
	lag     time.Duration       // replica.lag.time.max.ms
	flushed func(time.Duration) // Options.Flushed
	count   counters
}

// wokenInline is the number of parked fetches that an appender serves itself: a
// handful is done sooner than another goroutine would be awake.
const wokenInline = 4

// wake goes on with the fetches that were woken.
func (e *env) wake(woken *purgatory.Woken) {
	n := 0
	for w := range woken.Take {
		if n++; n <= wokenInline {
			w.Wake()
		} else {
			e.answers.submit(wakeTask{w})
		}
	}
}

type wakeTask struct{ purgatory.Waker }

func (t wakeTask) run() { t.Wake() }

// draw gives random bits. Without randomness a node cannot name folders or
// sessions, and there is nothing sensible to do instead.
func (e *env) draw() uint64 {
	var b [8]byte
	if _, err := io.ReadFull(e.random, b[:]); err != nil {
		panic(fmt.Sprintf("BUG: replica: no randomness: %v", err))
	}
	return binary.BigEndian.Uint64(b[:])
}

// drawBelow gives a number in [0, n).
func (e *env) drawBelow(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return int64(e.draw() >> 1 % uint64(n))
}

// drawUUID gives a random id.
func (e *env) drawUUID() kafka.UUID {
	id, err := kafka.RandomUUID(e.random)
	if err != nil {
		panic(fmt.Sprintf("BUG: replica: no randomness: %v", err))
	}
	return id
}

package txn

import (
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// Settings are the configuration of the transactions of a broker.
type Settings struct {
	MaxTimeout     time.Duration // transaction.max.timeout.ms
	Expiration     time.Duration // transactional.id.expiration.ms
	AbortInterval  time.Duration // transaction.abort.timed.out.transaction.cleanup.interval.ms
	RemoveInterval time.Duration // transaction.remove.expired.transaction.cleanup.interval.ms
}

// Limits of what clients can make a core hold. Apache Kafka has none of them.
const (
	// maxIDs bounds the transactional ids of a core.
	maxIDs = 1_000_000
	// maxBytes bounds their names and the partitions of their transactions.
	maxBytes = 512 << 20
	// maxAtOnce is how many transactions one tick ends, or ids it forgets. The others
	// come after a pause: what failed just now may fail again.
	maxAtOnce = 1000
	morePause = 50 * time.Millisecond
)

// resendInterval is when markers are looked after whose transaction was not committed
// to the log in time.
const resendInterval = time.Second

// Options are what a Core is made of. All fields are needed.
type Options struct {
	Registry *timeline.Registry // of the runtime
	Settings Settings
	// TransactionVersion is the finalized level of the feature, 0 to 2.
	TransactionVersion func() int16
	// Send is told, once, of each transaction whose end is in the log, also of those
	// that are found there at load. Who sends the markers calls Complete when all are
	// written. It must not call the core before it returns.
	Send func(Markers)
}

// Core is the coordinator of the transactional ids of one partition of
// __transaction_state. It is a machine.Machine; its operations are methods that the
// runtime calls the same way.
type Core struct {
	settings Settings
	version  func() int16
	send     func(Markers)
	loaded   bool

	ids *timeline.Map[string, *transaction]
	// open are the ids whose transaction is under way or whose markers are.
	open *timeline.Map[string, struct{}]
	// total has one entry: a number that the registry can take back.
	total *timeline.Map[struct{}, int64] // bytes of all ids

	// decided are steps between an operation and their replay.
	decided map[string]*transaction
	// sending are transactions that Send was told of, as they were prepared, until they
	// are complete.
	sending map[string]*transaction

	sweepAt, removeAt, resendAt time.Time // zero: never
	tickedMs                    int64     // when Tick was called last
}

// New returns a core without transactional ids.
func New(o Options) *Core {
	return &Core{
		settings: o.Settings, version: o.TransactionVersion, send: o.Send,
		ids:     timeline.NewMap[string, *transaction](o.Registry),
		open:    timeline.NewMap[string, struct{}](o.Registry),
		total:   timeline.NewMap[struct{}, int64](o.Registry),
		decided: map[string]*transaction{}, sending: map[string]*transaction{},
	}
}

var _ machine.Machine = (*Core)(nil)

// Ended does nothing: there are no transactional records in this topic.
func (c *Core) Ended(kafka.ProducerID, kafka.ProducerEpoch, bool) {}

// Loaded starts the time, and has the markers sent of all transactions that are
// decided and not complete.
func (c *Core) Loaded(now time.Time) {
	c.loaded = true
	c.sweepAt = now.Add(c.settings.AbortInterval)
	c.removeAt = now.Add(c.settings.RemoveInterval)
	c.sendAll()
}

// Next is when something may have to be done.
func (c *Core) Next() time.Time {
	next := c.resendAt
	earlier := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	if c.open.Len() > 0 {
		earlier(c.sweepAt)
	}
	if c.ids.Len() > 0 {
		earlier(c.removeAt)
	}
	return next
}

// Tick aborts transactions that take too long and forgets ids that nobody has used.
func (c *Core) Tick(now time.Time) []machine.Decision {
	var decisions []machine.Decision
	c.tickedMs = now.UnixMilli()
	if !c.resendAt.IsZero() && !now.Before(c.resendAt) {
		c.resendAt = time.Time{}
		c.sendAll()
	}
	if !now.Before(c.sweepAt) {
		all, more := c.abortTimedOut(now)
		decisions = all
		c.sweepAt = now.Add(pause(c.settings.AbortInterval, more))
	}
	if !now.Before(c.removeAt) {
		expired, more := c.removeExpired(now)
		decisions = append(decisions, expired...)
		c.removeAt = now.Add(pause(c.settings.RemoveInterval, more))
	}
	return decisions
}

// pause is when something is looked at again of which there may be more than was worked
// off at once.
func pause(interval time.Duration, more bool) time.Duration {
	if more {
		return min(interval, morePause)
	}
	return interval
}

// Unload does nothing: nothing waits but for records.
func (c *Core) Unload(kafka.ErrorCode) {}

// get is the latest state of an id, nil if it is not known.
func (c *Core) get(id string) *transaction {
	t, _ := c.ids.Get(id)
	return t
}

// full says whether the core takes nothing new.
func (c *Core) full() bool {
	bytes, _ := c.total.Get(struct{}{})
	return c.ids.Len() >= maxIDs || bytes >= maxBytes
}

// decide is the decision to make the step. done is told what clients are to be told.
func (c *Core) decide(t *transaction, done func(kafka.ErrorCode)) machine.Decision {
	c.decided[t.id] = t
	return machine.Decision{
		Records: []machine.Record{c.record(t)},
		Done: func(code kafka.ErrorCode) {
			if c.decided[t.id] == t {
				delete(c.decided, t.id) // it was never replayed
			}
			done(answerCode(code))
		},
	}
}

// refuse answers when all is committed on which the answer stands.
func refuse(code kafka.ErrorCode, done func(kafka.ErrorCode)) machine.Decision {
	return machine.Decision{Done: func(failed kafka.ErrorCode) {
		if failed != kafka.ErrNone {
			code = answerCode(failed)
		}
		done(code)
	}}
}

// answerCode is what clients are told of an append that failed
// (TransactionStateManager.appendTransactionToLog).
func answerCode(code kafka.ErrorCode) kafka.ErrorCode {
	if code == kafka.ErrMessageTooLarge {
		return kafka.ErrUnknownServerError
	}
	return code
}

package transactions

import (
	"barnabas/internal/base/workers"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/base/wheel"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/coordinator/runtime"
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"
	"barnabas/internal/record"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Options are what a Coordinator is made of. All fields are needed, but those that say
// otherwise.
type Options struct {
	Settings txn.Settings
	// TransactionVersion is the finalized level of the feature.
	TransactionVersion func() int16
	// PartitionOf is the partition of __transaction_state in which an id lives.
	PartitionOf func(id string) int32
	// NewProducerID gives a producer id that nobody has, or an error; once, on any
	// goroutine, possibly before it returns.
	NewProducerID func(answer func(kafka.ProducerID, kafka.ErrorCode))
	Partitions    Partitions

	Wheel *wheel.Wheel
	Now   func() time.Time
	Log   *slog.Logger
	// CommitTimeout is how long an answer waits for its record to be committed.
	CommitTimeout time.Duration
	// EnlistPause and EnlistFor say how Enlist tries again:
	// add.partitions.to.txn.retry.backoff.ms and add.partitions.to.txn.retry.backoff.max.ms.
	EnlistPause, EnlistFor time.Duration
	// LoadBuffer is how many bytes a load reads at a time: transaction.state.log.load.buffer.size.
	LoadBuffer int
	// Loaded and Appended, if not nil, are told how long each load and each append took.
	Loaded, Appended func(time.Duration)
}

// jobsAtOnce is how many transactions have their markers written at a time. Writing
// may wait for a disk.
const jobsAtOnce = 32

// Coordinator coordinates the transactions of the partitions of __transaction_state
// that this node leads. All methods may be called from any goroutine.
type Coordinator struct {
	o       Options
	runtime *runtime.Runtime[*txn.Core]
	workers *workers.Pool
	sending atomic.Int64 // jobs

	enlisting sync.WaitGroup // calls of Enlist that have not answered; added to under mu

	mu     sync.Mutex
	epochs map[int32]kafka.LeaderEpoch // of the partitions that are led here; guarded by mu
	closed bool                        // guarded by mu
}

// New returns a coordinator of nothing yet.
func New(o Options) *Coordinator {
	c := &Coordinator{o: o, workers: workers.New(jobsAtOnce), epochs: map[int32]kafka.LeaderEpoch{}}
	c.runtime = runtime.New(runtime.Options[*txn.Core]{
		Topic: kafka.TransactionStateTopic, New: c.newCore, Wheel: o.Wheel, Now: o.Now, Log: o.Log,
		BaseSequence: record.NoSequence, Linger: -1, CommitTimeout: o.CommitTimeout, LoadBuffer: o.LoadBuffer, Loaded: o.Loaded, Appended: o.Appended,
	})
	return c
}

func (c *Coordinator) newCore(partition int32, r *timeline.Registry) (core *txn.Core) {
	core = txn.New(txn.Options{
		Registry: r, Settings: c.o.Settings, TransactionVersion: c.o.TransactionVersion,
		Send: func(m txn.Markers) {
			c.send(&job{c: c, partition: partition, core: core, markers: m, left: m.Partitions})
		},
	})
	return core
}

// Lead makes this node the coordinator of a partition, or gives it a newer leader
// epoch. It does not wait.
func (c *Coordinator) Lead(partition int32, l runtime.Leadership) {
	c.mu.Lock()
	c.epochs[partition] = l.Epoch
	c.mu.Unlock()
	c.runtime.Lead(partition, l)
}

// Resign ends the coordination of a partition. It does not wait.
func (c *Coordinator) Resign(partition int32) { c.runtime.Resign(partition) }

// Close ends all coordination: what waits is answered with NOT_COORDINATOR, and no
// more markers are sent. It returns when nothing runs any more.
func (c *Coordinator) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.runtime.Close()
	c.enlisting.Wait() // those that pause are told now
	c.workers.Close()
}

// Stats are the numbers of the runtime.
func (c *Coordinator) Stats() runtime.Stats { return c.runtime.Stats() }

// Sending is the number of transactions whose markers are being sent.
func (c *Coordinator) Sending() int { return int(c.sending.Load()) }

// operation is an operation with the core of the partition in which an id lives.
type operation = runtime.Operation[*txn.Core]

func (c *Coordinator) do(id string, op operation, refuse func(kafka.ErrorCode)) {
	c.runtime.Do(c.o.PartitionOf(id), op, refuse)
}

// none is the answer of an error to who asks for a producer id.
func none(answer func(txn.Producer)) func(kafka.ErrorCode) {
	return func(code kafka.ErrorCode) {
		answer(txn.Producer{Code: code, ID: kafka.NoProducerID, Epoch: kafka.NoProducerEpoch})
	}
}

// InitProducerID serves InitProducerId with a transactional id.
func (c *Coordinator) InitProducerID(r txn.InitProducerID, answer func(txn.Producer)) {
	refuse := none(answer)
	if code := r.Refusal(c.o.Settings); code != kafka.ErrNone {
		refuse(code)
		return
	}
	r.Fresh = kafka.NoProducerID
	c.do(r.TransactionalID, func(core *txn.Core, now time.Time) machine.Decision {
		if core.NeedsProducerID(&r) {
			c.withProducerID(r.TransactionalID, func(fresh kafka.ProducerID) operation {
				r.Fresh = fresh
				return func(core *txn.Core, now time.Time) machine.Decision { return core.InitProducerID(now, r, answer) }
			}, refuse)
			return machine.Decision{}
		}
		return core.InitProducerID(now, r, answer)
	}, refuse)
}

// End serves EndTxn.
func (c *Coordinator) End(r txn.End, answer func(txn.Producer)) {
	refuse := none(answer)
	if r.TransactionalID == "" {
		refuse(kafka.ErrInvalidRequest)
		return
	}
	r.Fresh = kafka.NoProducerID
	c.do(r.TransactionalID, func(core *txn.Core, now time.Time) machine.Decision {
		if core.EndNeedsProducerID(&r) {
			c.withProducerID(r.TransactionalID, func(fresh kafka.ProducerID) operation {
				r.Fresh = fresh
				return func(core *txn.Core, now time.Time) machine.Decision { return core.EndTransaction(now, r, answer) }
			}, refuse)
			return machine.Decision{}
		}
		return core.EndTransaction(now, r, answer)
	}, refuse)
}

// withProducerID gets a producer id and runs the operation that make makes of it. What
// it is for may have changed by then; the operation finds out, and the id is lost.
func (c *Coordinator) withProducerID(id string, make func(kafka.ProducerID) operation, refuse func(kafka.ErrorCode)) {
	c.o.NewProducerID(func(fresh kafka.ProducerID, code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			refuse(code)
			return
		}
		c.do(id, make(fresh), refuse)
	})
}

// AddPartitions adds partitions to a transaction.
func (c *Coordinator) AddPartitions(r txn.Partitions, answer func(kafka.ErrorCode)) {
	if r.TransactionalID == "" {
		answer(kafka.ErrInvalidRequest)
		return
	}
	c.do(r.TransactionalID, func(core *txn.Core, now time.Time) machine.Decision { return core.AddPartitions(now, r, answer) }, answer)
}

// Verify says of each partition whether it is in the transaction.
func (c *Coordinator) Verify(r txn.Partitions, answer func([]kafka.ErrorCode)) {
	all := func(code kafka.ErrorCode) {
		codes := make([]kafka.ErrorCode, len(r.List))
		for i := range codes {
			codes[i] = code
		}
		answer(codes)
	}
	if r.TransactionalID == "" {
		all(kafka.ErrInvalidRequest)
		return
	}
	c.do(r.TransactionalID, func(core *txn.Core, _ time.Time) machine.Decision { return core.Verify(r, answer) }, all)
}

// Describe serves one id of DescribeTransactions.
func (c *Coordinator) Describe(id string, answer func(kmsg.DescribeTransactionsResponseTransactionState)) {
	refuse := func(code kafka.ErrorCode) {
		s := kmsg.NewDescribeTransactionsResponseTransactionState()
		s.TransactionalID, s.ErrorCode = id, int16(code)
		answer(s)
	}
	if id == "" {
		refuse(kafka.ErrInvalidRequest)
		return
	}
	c.do(id, func(core *txn.Core, _ time.Time) machine.Decision {
		answer(core.Describe(id))
		return machine.Decision{}
	}, refuse)
}

// EachCore runs op with the core of every partition that is coordinated here, and
// then calls done with an error if one of them is being loaded or busy. op may run on
// several goroutines at once.
func (c *Coordinator) EachCore(op func(core *txn.Core, now time.Time), done func(kafka.ErrorCode)) {
	partitions := c.runtime.Partitions()
	var failed atomic.Int32
	var left atomic.Int64
	left.Store(int64(len(partitions)) + 1)
	finish := func() {
		if left.Add(-1) == 0 {
			done(kafka.ErrorCode(failed.Load()))
		}
	}
	for _, p := range partitions {
		c.runtime.Do(p, func(core *txn.Core, now time.Time) machine.Decision {
			op(core, now)
			finish()
			return machine.Decision{}
		}, func(code kafka.ErrorCode) {
			if code != kafka.ErrNotCoordinator {
				failed.Store(int32(code))
			}
			finish()
		})
	}
	finish()
}

package runtime

import (
	"barnabas/internal/base/workers"
	"context"
	"log/slog"
	"sync"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/base/wheel"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// Options are what a Runtime is made of. All are needed, but those that say
// otherwise.
type Options[M machine.Machine] struct {
	// Topic is the internal topic, for messages.
	Topic string
	// New makes the core of a partition. Its state lives in maps of the registry.
	New   func(partition int32, r *timeline.Registry) M
	Wheel *wheel.Wheel
	Now   func() time.Time
	Log   *slog.Logger

	// Linger is how long an open batch waits for more: group.coordinator.append.linger.ms.
	// Negative: until nothing else is queued.
	Linger time.Duration
	// CommitTimeout is how long an answer waits for its records to be committed:
	// offsets.commit.timeout.ms.
	CommitTimeout time.Duration
	// LoadBuffer is how many bytes a load reads at a time: offsets.load.buffer.size.
	LoadBuffer int
	// Compression is that of the batches: offsets.topic.compression.codec.
	Compression record.Compression
	// BaseSequence is that of batches without a producer: in __consumer_offsets 0, in
	// __transaction_state record.NoSequence, as in Apache Kafka.
	BaseSequence int32
	// Queue is how many operations may wait to run, in each shard; 0 is 4096.
	Queue int
	// Loaded and Appended, if not nil, are told how long each load and each append
	// took.
	Loaded, Appended func(time.Duration)
}

// Leadership is what makes this node the coordinator of a partition.
type Leadership struct {
	Topic kafka.UUID
	Epoch kafka.LeaderEpoch
	Log   PartitionLog
}

func (l *Leadership) same(o *Leadership) bool { return l.Topic == o.Topic && l.Epoch == o.Epoch }

const (
	// loadsAtOnce is how many partitions are loaded at the same time. Loading is
	// decoding: more than a few only take the processors from who is served already.
	loadsAtOnce = 4
	// workersAtOnce bounds the goroutines that run what timers and logs bring. An
	// operation may wait for a disk.
	workersAtOnce = 64
)

// pool runs functions, later and not on the goroutine that submits them.
type pool interface {
	Submit(f func())
	Close()
}

// Runtime is the coordinator of the partitions that this node leads. All methods
// may be called from any goroutine.
type Runtime[M machine.Machine] struct {
	o       Options[M]
	loads   pool
	workers pool
	stop    context.CancelFunc // ends loads
	stopped context.Context
	count   counters

	mu     sync.RWMutex
	shards map[int32]*shard[M] // guarded by mu; shards stay when they lead no longer
	closed bool                // guarded by mu
}

// New returns a runtime that coordinates nothing yet.
func New[M machine.Machine](o Options[M]) *Runtime[M] {
	r := &Runtime[M]{o: o, loads: workers.New(loadsAtOnce), workers: workers.New(workersAtOnce), shards: map[int32]*shard[M]{}}
	r.stopped, r.stop = context.WithCancel(context.Background())
	if r.o.Loaded == nil {
		r.o.Loaded = func(time.Duration) {}
	}
	if r.o.Appended == nil {
		r.o.Appended = func(time.Duration) {}
	}
	return r
}

// Lead makes this node the coordinator of a partition, or gives it a newer leader
// epoch. It does not wait.
func (r *Runtime[M]) Lead(partition int32, l Leadership) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	s := r.shards[partition]
	if s == nil {
		s = newShard(r, partition)
		r.shards[partition] = s
	}
	r.mu.Unlock()
	s.want(&l)
}

// Resign ends the coordination of a partition. It does not wait.
func (r *Runtime[M]) Resign(partition int32) {
	if s := r.shard(partition); s != nil {
		s.want(nil)
	}
}

func (r *Runtime[M]) shard(partition int32) *shard[M] {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.shards[partition]
}

// Operation is what is done with the core of a partition. now is the time at which
// it begins.
type Operation[M machine.Machine] func(core M, now time.Time) machine.Decision

// Do runs an operation with the core of a partition, or calls refuse with the
// reason why not. Either may happen before Do returns, or later on another
// goroutine. An operation that only reads returns the zero decision; if it reads
// the latest state and not the committed one, it answers from Done.
func (r *Runtime[M]) Do(partition int32, op Operation[M], refuse func(kafka.ErrorCode)) {
	s := r.shard(partition)
	if s == nil {
		r.count.refused.Add(1)
		refuse(kafka.ErrNotCoordinator)
		return
	}
	s.do(op, refuse)
}

// Partitions are the partitions that are served or being loaded here.
func (r *Runtime[M]) Partitions() []int32 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []int32
	for partition, s := range r.shards {
		if p := s.phase(); p == loading || p == active {
			out = append(out, partition)
		}
	}
	return out
}

// Close ends all coordination: what waits is answered with NOT_COORDINATOR. It
// returns when nothing runs any more.
func (r *Runtime[M]) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	shards := make([]*shard[M], 0, len(r.shards))
	for _, s := range r.shards {
		shards = append(shards, s)
	}
	r.mu.Unlock()
	r.stop()
	for _, s := range shards {
		s.want(nil)
	}
	r.loads.Close()
	r.workers.Close()
	for _, s := range shards {
		s.close()
	}
}

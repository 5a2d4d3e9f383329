package transactions

import (
	"time"

	"barnabas/internal/base/wheel"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"
)

// Partitions are where markers go.
type Partitions interface {
	// Exists says whether there is such a partition in the cluster.
	Exists(tp kafka.TopicPartition) bool
	// WriteMarkers writes the marker to partitions and calls done once, with a code for
	// each of them, on any goroutine, possibly before it returns.
	WriteMarkers(m kafka.Marker, to []kafka.TopicPartition, done func([]kafka.ErrorCode))
}

// The pause before something is tried again doubles from the one to the other.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// warnAt is the try whose failure is worth a line in the log; then each time the
// number has doubled.
const warnAt = 16

// job is a transaction whose markers are being written. One thing happens to it at a
// time.
type job struct {
	c         *Coordinator
	partition int32
	core      *txn.Core // that has decided the end
	markers   txn.Markers
	left      []kafka.TopicPartition // without a marker
	tries     int
	timer     wheel.Timer
}

// send begins a job. It is called by the core's owner, who must not be kept.
func (c *Coordinator) send(j *job) {
	c.sending.Add(1)
	c.workers.Submit(j.write)
}

// write writes the markers that are missing.
func (j *job) write() {
	var to []kafka.TopicPartition
	for _, tp := range j.left {
		if j.c.o.Partitions.Exists(tp) {
			to = append(to, tp)
		}
	}
	if j.left = to; len(to) == 0 {
		j.complete()
		return
	}
	j.c.mu.Lock()
	epoch, closed := j.c.epochs[j.partition], j.c.closed
	j.c.mu.Unlock()
	if closed {
		j.c.sending.Add(-1)
		return
	}
	m := &j.markers
	j.c.o.Partitions.WriteMarkers(kafka.Marker{
		ProducerID: m.ProducerID, ProducerEpoch: m.Epoch, CoordinatorEpoch: int32(epoch), Commit: m.Commit, TransactionVersion: m.TransactionVersion,
	}, to, j.wrote)
}

// wrote takes in what became of the markers.
func (j *job) wrote(codes []kafka.ErrorCode) {
	var again []kafka.TopicPartition
	last := kafka.ErrNone
	for i, code := range codes {
		switch code {
		case kafka.ErrNone:
		case kafka.ErrInvalidProducerEpoch:
			j.c.o.Log.Warn("a partition has a later epoch of the producer than the marker of its transaction, and needs none",
				"transactional_id", j.markers.TransactionalID, "producer_id", j.markers.ProducerID, "producer_epoch", j.markers.Epoch,
				"partition", j.left[i].String())
		default:
			again, last = append(again, j.left[i]), code
		}
	}
	if j.left = again; len(again) == 0 {
		j.complete()
		return
	}
	j.failed(last, "partition", again[0].String())
	j.later(j.write)
}

// complete has the coordinator write that all is done.
func (j *job) complete() {
	answer := func(code kafka.ErrorCode) {
		switch code {
		case kafka.ErrNone, kafka.ErrNotCoordinator, kafka.ErrCoordinatorLoadInProgress:
			j.c.sending.Add(-1) // or whoever loads the partition sends the markers again
		default:
			j.failed(code)
			j.later(j.complete)
		}
	}
	j.with(func(now time.Time) machine.Decision { return j.core.Complete(now, j.markers, answer) }, answer)
}

// with runs op with the job's core. refuse is told NOT_COORDINATOR if that is the
// coordinator no longer.
func (j *job) with(op func(now time.Time) machine.Decision, refuse func(kafka.ErrorCode)) {
	j.c.runtime.Do(j.partition, func(core *txn.Core, now time.Time) machine.Decision {
		if core != j.core {
			refuse(kafka.ErrNotCoordinator)
			return machine.Decision{}
		}
		return op(now)
	}, refuse)
}

// failed says that something has to be tried again, if that goes on for long.
func (j *job) failed(code kafka.ErrorCode, about ...any) {
	j.tries++
	if j.tries >= warnAt && j.tries&(j.tries-1) == 0 {
		j.c.o.Log.Warn("the end of a transaction cannot be written; it is tried again", append([]any{
			"transactional_id", j.markers.TransactionalID, "producer_id", j.markers.ProducerID, "producer_epoch", j.markers.Epoch,
			"tries", j.tries, "error", code}, about...)...)
	}
}

// later tries again after a pause, if the coordinator is still the same.
func (j *job) later(again func()) {
	pause := min(lastPause, firstPause<<min(j.tries-1, 10))
	j.c.o.Wheel.Schedule(&j.timer, j.c.o.Now().Add(pause), func() { j.c.workers.Submit(func() { j.resume(again) }) })
}

func (j *job) resume(again func()) {
	j.with(func(time.Time) machine.Decision {
		j.c.workers.Submit(again)
		return machine.Decision{}
	}, func(code kafka.ErrorCode) {
		if code == kafka.ErrCoordinatorNotAvailable { // it is busy
			j.later(again)
			return
		}
		j.c.sending.Add(-1)
	})
}

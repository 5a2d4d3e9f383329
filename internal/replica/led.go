package replica

import (
	"errors"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/replica/purgatory"
	"barnabas/internal/storage/commitlog"
)

// Led is a partition that this node leads with one leader epoch, for the
// coordinator whose state lies in it. It may be used by any goroutine, also when
// the leadership is over: then it answers so.
type Led struct {
	p     *Partition
	epoch kafka.LeaderEpoch
}

// Led gives the partition to its coordinator; nil if there is no replica here.
func (m *Manager) Led(topic string, partition int32, epoch kafka.LeaderEpoch) *Led {
	p := m.Partition(topic, partition)
	if p == nil {
		return nil
	}
	return &Led{p, epoch}
}

// LedState is where a log begins and ends.
type LedState struct {
	Start, HighWatermark, End kafka.Offset
}

// State says where the log begins and ends. The errors are those of a leadership
// that is over, ErrKafkaStorageError for a failed directory, and
// ErrReplicaNotAvailable for a log that is not open yet.
func (l *Led) State() (LedState, kafka.ErrorCode) {
	r := l.p.role.Load()
	if code := l.code(r); code != kafka.ErrNone {
		return LedState{}, code
	}
	snap := r.log.Snapshot()
	return LedState{Start: snap.LogStart(), HighWatermark: snap.HighWatermark(), End: snap.LogEnd()}, kafka.ErrNone
}

// code says why the coordinator cannot work with the partition in this role.
func (l *Led) code(r *role) kafka.ErrorCode {
	switch code := r.forClient(l.epoch); {
	case r.phase == opening:
		return kafka.ErrReplicaNotAvailable
	case code == kafka.ErrFencedLeaderEpoch || code == kafka.ErrUnknownLeaderEpoch:
		return kafka.ErrNotLeaderOrFollower
	default:
		return code
	}
}

// MaxBatchBytes is the size of the largest batch that Append takes.
func (l *Led) MaxBatchBytes() int {
	t := &l.p.role.Load().settings.topic
	return min(t.MaxMessageBytes, t.SegmentBytes)
}

// Append appends one batch, with acks=all: too few replicas in sync refuse it. It
// returns the offset behind the batch and the high watermark as it is then. guard is that
// of BeginVerification, for a batch of a transaction.
func (l *Led) Append(batch record.Batch, guard commitlog.Guard) (end, highWatermark kafka.Offset, code kafka.ErrorCode) {
	if l.p.belowMin.Load() {
		return 0, 0, kafka.ErrNotEnoughReplicas
	}
	in, guards, out := [1]record.Batch{batch}, [1]commitlog.Guard{guard}, [1]commitlog.Appended{}
	var woken purgatory.Woken
	if _, code = l.p.appendLeader(coordinator, l.epoch, in[:], guards[:], out[:], &woken); code != kafka.ErrNone {
		return 0, 0, l.code(l.p.role.Load())
	}
	l.p.env.wake(&woken)
	if out[0].Err != kafka.ErrNone {
		return 0, 0, out[0].Err
	}
	return out[0].Last + 1, l.p.highWatermark(), kafka.ErrNone
}

// AppendMarker appends a marker of a transaction, as Append does. The errors are those
// of Append, and what the partition has against the marker: INVALID_PRODUCER_EPOCH,
// TRANSACTION_COORDINATOR_FENCED.
func (l *Led) AppendMarker(m kafka.Marker) (end, highWatermark kafka.Offset, code kafka.ErrorCode) {
	end, _, code = l.p.appendMarker(l.epoch, m)
	switch code {
	case kafka.ErrNone:
		return end, l.p.highWatermark(), kafka.ErrNone
	case kafka.ErrNotLeaderOrFollower, kafka.ErrFencedLeaderEpoch, kafka.ErrUnknownLeaderEpoch:
		return 0, 0, kafka.ErrNotLeaderOrFollower
	}
	return 0, 0, code
}

// Read reads whole entries from the first one that holds from or a later offset, up
// to the end of the log: what fits into buf, and at least one, for which it makes
// a larger buffer. The last entry may be cut.
func (l *Led) Read(from kafka.Offset, buf []byte) ([]byte, error) {
	for range staleLimit {
		r := l.p.role.Load()
		if code := l.code(r); code != kafka.ErrNone {
			return nil, code
		}
		snap := r.log.Snapshot()
		slice, err := snap.Read(commitlog.ReadRequest{From: max(from, snap.LogStart()), UpTo: snap.LogEnd(), MaxBytes: len(buf), WholeFirst: true})
		if err == nil {
			buf, err = readSlice(&slice, buf)
		}
		switch {
		case err == nil:
			return buf, nil
		case errors.Is(err, commitlog.ErrStale):
		default:
			return nil, errors.Join(l.p.readFailed(r, err), err)
		}
	}
	return nil, l.p.role.Load().gone()
}

func readSlice(slice *commitlog.Slice, buf []byte) ([]byte, error) {
	defer slice.Release()
	if slice.Length == 0 {
		return nil, nil
	}
	if int64(len(buf)) < slice.Length {
		buf = make([]byte, slice.Length)
	}
	n, err := slice.File.ReadAt(buf[:slice.Length], slice.Position)
	if int64(n) < slice.Length {
		return nil, err
	}
	return buf[:n], nil
}

// Await calls done once: when the high watermark has reached the offset, or when
// the leadership is over, or the log, which was not open, is. It may be called
// before Await returns, or by whoever moves the high watermark: it must not take
// long.
func (l *Led) Await(offset kafka.Offset, done func(kafka.ErrorCode)) {
	w := &ledWait{done: done}
	q := &l.p.highWaits
	q.Add(&w.wait, w, offset)
	r := l.p.role.Load()
	code := l.code(r)
	over := code != kafka.ErrReplicaNotAvailable && (code != kafka.ErrNone || l.p.highWatermark() >= offset)
	if over && q.Remove(&w.wait) {
		done(code)
	}
}

// ledWait is one wait of a coordinator.
type ledWait struct {
	done func(kafka.ErrorCode)
	wait purgatory.OffsetWait
}

// Waited implements purgatory.Waiter.
func (w *ledWait) Waited(_ *purgatory.OffsetWait, code kafka.ErrorCode) { w.done(code) }

package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// errNotOpen ends a load before it begins: the log was not open.
var errNotOpen = errors.New("the log is not open")

// load reads a partition into a core.
type load[M machine.Machine] struct {
	s      *shard[M]
	led    *Leadership
	ctx    context.Context
	cancel context.CancelFunc
	queued time.Time

	// How far it is, for others to look at.
	start, at, target atomic.Int64 // offsets
	records, bytes    atomic.Int64

	// Owned by the load until it has ended, then by the shard's executor.
	core          M
	registry      *timeline.Registry
	buf           []byte
	next          kafka.Offset
	highWatermark kafka.Offset
	took          time.Duration
	err           error
}

// reportEvery is how often a load that takes long says how far it is.
const reportEvery = 10 * time.Second

// run loads.
func (l *load[M]) run() {
	begun := l.s.r.o.Now()
	err := l.read(begun)
	l.took = l.s.r.o.Now().Sub(begun)
	l.end(err)
}

// end leaves the load to the shard's executor. One that was cancelled is nobody's any
// more: it must not take the place of its successor, which may have ended before it.
func (l *load[M]) end(err error) {
	l.err = err
	l.s.mu.Lock()
	if l.ctx.Err() == nil {
		l.s.ended = l
	}
	l.s.mu.Unlock()
	l.s.poke()
}

// awaitCommit ends the load once more when the high watermark has reached what was
// read. Until then a read would not see what may have been acknowledged before the
// start: a leader that counts itself only as far as it is synced begins with a high
// watermark below its log end.
func (l *load[M]) awaitCommit() {
	l.led.Log.Await(l.next, func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			l.end(code)
			return
		}
		l.highWatermark = l.next
		l.end(nil)
	})
}

// read replays the log until its end stands still.
func (l *load[M]) read(begun time.Time) error {
	o := &l.s.r.o
	l.registry = timeline.NewRegistry()
	l.core = o.New(l.s.partition, l.registry)
	l.registry.Direct(true) // nobody sees it before all of it is committed
	defer l.registry.Direct(false)
	reported := begun
	for first := true; ; first = false {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		st, code := l.led.Log.State()
		if code == kafka.ErrReplicaNotAvailable {
			return errNotOpen
		}
		if code != kafka.ErrNone {
			return code
		}
		if first {
			l.buf = make([]byte, min(o.LoadBuffer, firstBuffer))
			l.start.Store(int64(st.Start))
		}
		l.next = max(l.next, st.Start)
		l.highWatermark = st.HighWatermark
		l.at.Store(int64(l.next))
		l.target.Store(int64(st.End))
		if l.next >= st.End {
			return nil
		}
		if err := l.readOnce(st.End); err != nil {
			return err
		}
		if now := o.Now(); now.Sub(reported) >= reportEvery {
			reported = now
			o.Log.Info("loading a coordinator's partition", "partition", l.s.name(), "offset", l.next, "of", st.End,
				"records", l.records.Load(), "since", now.Sub(begun).Round(time.Second))
		}
	}
}

// firstBuffer is the size of the first buffer. Most logs fit into it; for the others
// it grows.
const firstBuffer = 64 << 10

// readOnce reads and replays one buffer.
func (l *load[M]) readOnce(end kafka.Offset) error {
	data, err := l.led.Log.Read(l.next, l.buf)
	if err != nil {
		return fmt.Errorf("read at offset %d: %w", l.next, err)
	}
	if len(data) == 0 {
		// Compaction has left nothing behind this offset.
		l.next = end
		return nil
	}
	if err := l.entries(data); err != nil {
		return err
	}
	if len(data) >= len(l.buf) && len(l.buf) < l.s.r.o.LoadBuffer {
		l.buf = make([]byte, min(4*len(l.buf), l.s.r.o.LoadBuffer))
	}
	return nil
}

// entries replays whole entries; the last one may be cut, and comes again with the
// next buffer.
func (l *load[M]) entries(data []byte) error {
	for rest := data; len(rest) > 0; {
		h, err := record.ParseHeader(rest)
		if errors.Is(err, record.ErrShort) || err == nil && h.Size > len(rest) {
			return nil
		}
		if err == nil {
			err = l.entry(rest[:h.Size], &h)
		}
		if err != nil {
			return fmt.Errorf("entry at or behind offset %d: %w", l.next, err)
		}
		l.bytes.Add(int64(h.Size))
		l.next = max(l.next, h.NextOffset())
		l.at.Store(int64(l.next))
		rest = rest[h.Size:]
	}
	return nil
}

// entry replays a batch.
func (l *load[M]) entry(b []byte, h *record.Header) error {
	if h.Magic >= record.MagicV2 {
		if err := record.Batch(b).CheckCRC(); err != nil {
			return err
		}
	}
	var it record.Iterator
	defer it.Close()
	for it.Reset(b); it.Next(); {
		r := it.Record()
		if r.Offset < l.next {
			continue // below the log start
		}
		l.records.Add(1)
		if err := l.replay(h, r); err != nil {
			return fmt.Errorf("record at offset %d: %w", r.Offset, err)
		}
	}
	return it.Err()
}

func (l *load[M]) replay(h *record.Header, r *record.Record) error {
	if !h.Attributes.IsControl() {
		return l.core.Replay(machine.Replayed{
			Record: machine.Record{Key: r.Key, Value: r.Value}, Offset: r.Offset, Timestamp: time.UnixMilli(r.Timestamp),
			ProducerID: h.ProducerID, ProducerEpoch: h.ProducerEpoch, Transactional: h.Attributes.IsTransactional(),
		})
	}
	switch kind, err := record.ParseControlKey(r.Key); {
	case err != nil:
		return err
	case kind == record.ControlCommit || kind == record.ControlAbort:
		l.core.Ended(h.ProducerID, h.ProducerEpoch, kind == record.ControlCommit)
	}
	return nil
}

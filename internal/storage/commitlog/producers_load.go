package commitlog

import (
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// rebuildProducers brings the producers' state to the log's end after the log was
// opened or truncated: the newest snapshot that can be read, then the batches
// behind it. It returns the names of the snapshots that could not be read.
func (l *Log) rebuildProducers(now kafka.TimestampMs) (bad []string, err error) {
	ps := &l.producers
	// Without producers up to here there are none below either.
	nothing := len(ps.list) == 0 && len(ps.ended) == 0 && ps.mapEnd >= l.end
	if err := l.removeSnapshots(func(o kafka.Offset) bool { return o > l.end || o <= l.start }); err != nil {
		return nil, err
	}
	if l.end == ps.mapEnd {
		ps.forgetEnded(l.start)
		ps.snapEnd = l.newestSnapshot(l.start)
	} else {
		if bad, err = l.loadSnapshot(now, l.end); err != nil {
			return bad, err
		}
	}
	if !nothing {
		if err := l.replayProducers(l.end); err != nil {
			return bad, err
		}
	}
	ps.mapEnd = l.end
	ps.forgetEnded(l.highWatermark) // the replay does not know what is committed
	return bad, l.takeSnapshot(synced)
}

// replayProducers brings the state from where it is to an offset. On its way it
// takes a snapshot at the bases of the last two segments, as Apache does.
func (l *Log) replayProducers(upTo kafka.Offset) error {
	ps := &l.producers
	if upTo <= ps.mapEnd {
		return nil
	}
	last := len(l.segments) - 1
	for i := max(0, floorSegment(l.segments, ps.mapEnd)); i <= last && l.segments[i].base < upTo; i++ {
		from := max(l.segments[i].base, ps.mapEnd, l.start)
		ps.mapEnd = from
		if i >= last-1 {
			if err := l.takeSnapshot(synced); err != nil {
				return err
			}
		}
		if err := l.replaySegment(i, from, upTo); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) replaySegment(i int, from, upTo kafka.Offset) error {
	v := l.viewOf(i)
	at, found, err := v.seek(from)
	if isBadEntry(err) || err == nil && !found {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := v.hold(logSuffix)
	if err != nil {
		return err
	}
	defer f.Release()
	sc := scanner{f: f, pos: at.pos, size: v.size, env: l.env}
	defer sc.close()
	for sc.next() && sc.header.BaseOffset < upTo {
		h := &sc.header
		var marker *record.EndTxnMarker
		if h.HasProducer() && h.Attributes.IsControl() {
			entry := make([]byte, h.Size)
			if _, err := f.ReadAt(entry, sc.at); err != nil {
				return err
			}
			// A marker that cannot be read is damage like any other: it says nothing.
			marker, _ = markerOf(h, entry)
		}
		l.producers.replicate(h, marker)
	}
	if isBadEntry(sc.err) {
		return nil // below the recovery point bad bytes stay where they are
	}
	return sc.err
}

// viewOf is the i-th segment under the lock.
func (l *Log) viewOf(i int) view {
	if i == len(l.segments)-1 {
		return l.activeView()
	}
	return sealedView(l.env, l.dir, l.segments[i], l.segments[i+1].base)
}

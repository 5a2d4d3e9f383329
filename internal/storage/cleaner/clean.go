package cleaner

import (
	"errors"
	"fmt"
	"io"
	"math"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// Target is the log to be cleaned, as its owner lends it.
type Target interface {
	// Snapshot is the log as it is now.
	Snapshot() *commitlog.Snapshot
	// Locked calls do under the log's append lock, or returns an error if the log is
	// no longer the owner's.
	Locked(do func(*commitlog.Log) error) error
	// Swapped hands over the files of segments that were replaced. They are removed
	// when no reader can want them any more.
	Swapped(commitlog.Garbage)
	// Pace is called for each n bytes that were read or are written. It waits, or
	// returns an error that ends the cleaning.
	Pace(n int) error
}

// Config is what the configuration of topic and broker says of a cleaning.
type Config struct {
	SegmentBytes      int64 // segment.bytes
	IndexBytes        int64 // segment.index.bytes
	DeleteRetentionMs int64 // delete.retention.ms
	MaxRecordSize     int   // max.decompressed.message.bytes
	BufferBytes       int   // of one read (log.cleaner.io.buffer.size)
}

// Stats is what a cleaning did.
type Stats struct {
	BytesMapped     int64 // read to learn the keys
	BytesRead       int64 // read to be cleaned
	BytesWritten    int64
	RecordsMapped   int64
	RecordsRead     int64
	RecordsWritten  int64
	Keyless         int64 // records removed because they have no key
	Segments        int   // that were replaced
	SegmentsWritten int
	Keys, MaxKeys   int // of the map: how many there are, and how many fit
}

// ErrMapTooSmall says that the keys of one batch do not fit into the map.
var ErrMapTooSmall = errors.New("the keys of one batch do not fit into log.cleaner.dedupe.buffer.size divided by log.cleaner.threads")

// Clean cleans a log: of the records below the end of a part of r it leaves the last
// one of each key, of all segments below. It returns the first offset that is still
// dirty, which is less than r.FirstUncleanable if the map was full before.
//
// A *CorruptError says that the log cannot be read, ErrStale that it changed while it
// was cleaned; what was put in place before stays good in either case. Other errors
// are of the disk or of the target.
func Clean(t Target, r Range, c Config, keys *OffsetMap, now kafka.TimestampMs) (firstDirty kafka.Offset, stats Stats, err error) {
	cl := &cleaning{
		target: t, config: c, bounds: r, keys: keys, now: now, snap: t.Snapshot(),
		in: batches{step: max(c.BufferBytes, record.HeaderSize), pace: t.Pace},
	}
	defer func() {
		stats = cl.stats
		stats.Keys, stats.MaxKeys = keys.Len(), keys.MaxKeys()
	}()
	latest, err := cl.mapKeys()
	if err != nil {
		return r.FirstDirty, stats, err
	}
	cl.latest = latest
	if err := cl.cleanAll(); err != nil {
		return r.FirstDirty, stats, err
	}
	return latest + 1, stats, nil
}

// cleaning is one run over one log.
type cleaning struct {
	target Target
	config Config
	bounds Range
	keys   *OffsetMap
	now    kafka.TimestampMs
	snap   *commitlog.Snapshot // of the beginning: the plan
	in     batches
	stats  Stats

	latest kafka.Offset // the map knows all up to here
	filter filter
	txns   *transactions
}

// mapKeys reads the dirty part into the map, as far as it has room, and returns the
// last offset that the map knows of.
func (c *cleaning) mapKeys() (latest kafka.Offset, err error) {
	from, upTo := c.bounds.FirstDirty, c.bounds.FirstUncleanable
	c.keys.Reset(int64(upTo - from))
	txns := newTransactions()
	aborted, err := c.snap.AbortedBetween(from, upTo, nil)
	if err != nil {
		return 0, err
	}
	txns.expect(aborted)
	latest = from - 1
	for i := range c.snap.SealedSegments() {
		s, err := c.snap.SealedSegment(i)
		if err != nil {
			return 0, err
		}
		if s.Next <= from || s.Base >= upTo {
			continue
		}
		last, full, err := c.mapSegment(i, s, txns, latest)
		if err != nil {
			return 0, err
		}
		latest = last
		if full {
			break
		}
		latest = s.Next - 1 // where compaction has left a hole at the end
	}
	if latest < from {
		return 0, ErrMapTooSmall
	}
	return latest, nil
}

// mapSegment reads one segment into the map. full says that there was no room for a
// key of the batch behind latest.
func (c *cleaning) mapSegment(i int, s commitlog.SealedSegment, txns *transactions, before kafka.Offset) (latest kafka.Offset, full bool, err error) {
	pos, err := c.snap.SeekPosition(i, c.bounds.FirstDirty)
	if err != nil {
		return 0, false, err
	}
	f, err := c.snap.HoldLog(i)
	if err != nil {
		return 0, false, err
	}
	defer f.Release()
	defer func() { c.stats.BytesMapped += c.in.pos - pos }()
	c.in.open(f, &s, pos)
	var it record.Iterator
	it.MaxRecordSize = c.config.MaxRecordSize
	defer it.Close()
	for latest = before; ; {
		h, entry, err := c.in.next()
		if err == io.EOF {
			return latest, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		full, err := c.mapBatch(&it, &h, entry, txns)
		if err != nil || full {
			return latest, full, err
		}
		latest = max(latest, h.LastOffset())
	}
}

// mapBatch puts the keys of a batch into the map, but for those of aborted
// transactions.
func (c *cleaning) mapBatch(it *record.Iterator, h *record.Header, entry []byte, txns *transactions) (full bool, err error) {
	if h.Attributes.IsControl() {
		if _, _, err := txns.control(h, entry); err != nil {
			return false, c.in.corrupt(err)
		}
		return false, nil
	}
	if txns.data(h) {
		return false, nil
	}
	for it.Reset(entry); it.Next(); {
		r := it.Record()
		c.stats.RecordsMapped++
		if r.Key != nil && r.Offset >= c.bounds.FirstDirty && !c.keys.Put(r.Key, r.Offset) {
			return true, nil
		}
	}
	if err := it.Err(); err != nil {
		return false, c.in.corrupt(err)
	}
	return false, nil
}

// cleanAll cleans all segments that begin at or below what the map knows.
func (c *cleaning) cleanAll() error {
	segments, err := c.segments()
	if err != nil {
		return err
	}
	legacyHorizon, err := c.legacyHorizon(segments)
	if err != nil {
		return err
	}
	c.txns = newTransactions()
	c.filter = filter{
		keys: c.keys, latest: c.latest, upperEnd: c.bounds.FirstUncleanable,
		now: c.now, horizonMs: c.config.DeleteRetentionMs, maxRecord: c.config.MaxRecordSize,
	}
	defer c.filter.it.Close()
	defer func() { c.stats.Keyless = c.filter.keyless }()
	for first := 0; first < len(segments); {
		n := groupSize(segments[first:], c.config, c.bounds.FirstUncleanable)
		if err := c.cleanGroup(first, segments[first:first+n], legacyHorizon); err != nil {
			return err
		}
		first += n
	}
	return nil
}

func (c *cleaning) segments() ([]commitlog.SealedSegment, error) {
	var out []commitlog.SealedSegment
	for i := range c.snap.SealedSegments() {
		s, err := c.snap.SealedSegment(i)
		if err != nil {
			return nil, err
		}
		if s.Base > c.latest || s.Base >= c.bounds.FirstUncleanable {
			break
		}
		out = append(out, s)
	}
	return out, nil
}

// legacyHorizon is the modification time up to which segments lose the tombstones of
// old formats: delete.retention.ms before the last clean segment was written.
func (c *cleaning) legacyHorizon(segments []commitlog.SealedSegment) (kafka.TimestampMs, error) {
	last := -1
	for i, s := range segments {
		if s.Base < c.bounds.FirstDirty {
			last = i
		}
	}
	if last < 0 {
		return 0, nil
	}
	at, err := c.snap.Modified(last)
	return at - c.config.DeleteRetentionMs, err
}

// groupSize is how many segments from the first on become one. Together they are not
// larger than a segment may be, nor are their indexes, and their offsets fit one index.
func groupSize(segments []commitlog.SealedSegment, c Config, firstUncleanable kafka.Offset) int {
	first := segments[0]
	size, index, times := first.Size, first.IndexBytes, first.TimeIndexBytes
	n := 1
	for ; n < len(segments); n++ {
		s := segments[n]
		size, index, times = size+s.Size, index+s.IndexBytes, times+s.TimeIndexBytes
		last := min(s.Next, firstUncleanable) - 1
		if size > c.SegmentBytes || index > c.IndexBytes || times > c.IndexBytes || s.Size > 0 && last-first.Base > math.MaxInt32 {
			break
		}
	}
	return n
}

// cleanGroup writes what stays of neighbouring segments, the first of which is the
// first-th of the log, and puts it in their place.
func (c *cleaning) cleanGroup(first int, group []commitlog.SealedSegment, legacyHorizon kafka.TimestampMs) (err error) {
	if err := c.learnProducers(); err != nil {
		return err
	}
	r, err := c.snap.Replace(first, len(group))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Discard())
		}
	}()
	for n, s := range group {
		modified, err := c.snap.Modified(first + n)
		if err != nil {
			return err
		}
		c.filter.keepLegacyDeletes = modified > legacyHorizon
		if err := c.cleanSegment(first+n, s, r); err != nil {
			return err
		}
	}
	if err := r.Finish(); err != nil {
		return err
	}
	if err := c.swap(r); err != nil {
		return err
	}
	c.stats.Segments += len(group)
	c.stats.SegmentsWritten++
	c.stats.BytesWritten += r.Size()
	return nil
}

// learnProducers asks which producers are known now, and what they did last.
func (c *cleaning) learnProducers() error {
	return c.target.Locked(func(l *commitlog.Log) error {
		c.filter.producers = map[kafka.ProducerID]lastOfProducer{}
		for _, p := range l.Producers(nil) {
			c.filter.producers[p.ID] = lastOfProducer{offset: p.LastOffset, epoch: p.Epoch}
		}
		return nil
	})
}

func (c *cleaning) cleanSegment(i int, s commitlog.SealedSegment, r *commitlog.Replacement) error {
	aborted, err := c.snap.AbortedBetween(s.Base, s.Next, nil)
	if err != nil {
		return err
	}
	c.txns.expect(aborted)
	f, err := c.snap.HoldLog(i)
	if err != nil {
		return err
	}
	defer f.Release()
	c.in.open(f, &s, 0)
	for {
		h, entry, err := c.in.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.cleanBatch(&h, entry, r); err != nil {
			return err
		}
	}
}

func (c *cleaning) cleanBatch(h *record.Header, entry []byte, r *commitlog.Replacement) (err error) {
	var discard bool
	var aborted *commitlog.AbortedTxn
	if h.Attributes.IsControl() {
		discard, aborted, err = c.txns.control(h, entry)
	} else {
		discard = c.txns.data(h)
	}
	if err != nil {
		return c.in.corrupt(err)
	}
	c.stats.BytesRead += int64(h.Size)
	c.stats.RecordsRead += int64(max(h.Count, 0))
	out, records, err := c.filter.apply(h, entry, c.filter.judge(h, discard))
	if err != nil {
		return c.in.corrupt(err)
	}
	if out != nil {
		c.stats.RecordsWritten += int64(records)
		if err := c.target.Pace(len(out)); err != nil {
			return err
		}
		if err := r.Append(out); err != nil {
			return err
		}
	}
	if aborted != nil {
		r.AddAborted(*aborted)
	}
	return nil
}

// swap puts a replacement in place.
func (c *cleaning) swap(r *commitlog.Replacement) error {
	if err := c.target.Locked(func(l *commitlog.Log) error { return l.BeginSwap(r) }); err != nil {
		return err
	}
	if err := r.SyncSwap(); err != nil {
		return err
	}
	var g commitlog.Garbage
	err := c.target.Locked(func(l *commitlog.Log) error {
		var err error
		g, err = l.EndSwap(r)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.SyncSwap(); err != nil {
		return fmt.Errorf("sync after a swap: %w", err)
	}
	c.target.Swapped(g)
	return nil
}

package cleaner

import (
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// keep says what becomes of a batch of which no record stays.
type keep int8

const (
	remove    keep = iota
	keepEmpty      // it stays without records, for what its header says
)

// verdict is what the filter has decided of a batch.
type verdict struct {
	// discard removes all records, whatever they are.
	discard bool
	// emptyTxn says that it is a marker of a transaction of which nothing is left.
	emptyTxn bool
	keep     keep
}

// filter decides record by record what stays.
type filter struct {
	keys      *OffsetMap
	latest    kafka.Offset // keys knows all up to here
	upperEnd  kafka.Offset // the batch that ends before it stays, be it empty
	now       kafka.TimestampMs
	horizonMs int64 // delete.retention.ms
	producers map[kafka.ProducerID]lastOfProducer
	maxRecord int
	// keepLegacyDeletes is for tombstones of magic 0 and 1, which have no horizon.
	keepLegacyDeletes bool

	stay    []bool       // of the batch at hand
	first   kafka.Offset // of the records that stay of it
	builder record.Builder
	it      record.Iterator
	keyless int64
}

// lastOfProducer is what must be kept for a producer that is still known.
type lastOfProducer struct {
	offset kafka.Offset // of its last batch of data; -1: it has none
	epoch  kafka.ProducerEpoch
}

// judge decides about a batch, given what its transaction says. Apache's rules: a
// marker goes when nothing of its transaction is left and its horizon has passed; the
// last batch of each producer stays, because its header holds the last sequence, or a
// marker the epoch that fences; and so does the last batch of the round, so that the
// end of the cleaned part is known.
func (f *filter) judge(h *record.Header, discardable bool) verdict {
	v := verdict{discard: discardable}
	if h.Attributes.IsControl() {
		at, set := h.DeleteHorizon()
		v.discard = discardable && set && at <= f.now
		v.emptyTxn = discardable
	}
	if f.isLastOfProducer(h) || h.NextOffset() == f.upperEnd {
		v.keep = keepEmpty
	}
	return v
}

func (f *filter) isLastOfProducer(h *record.Header) bool {
	if !h.HasProducer() {
		return false
	}
	last, known := f.producers[h.ProducerID]
	switch {
	case !known:
		return false
	case last.offset >= 0:
		return h.LastOffset() == last.offset
	}
	return h.Attributes.IsControl() && h.ProducerEpoch == last.epoch
}

// apply returns what is left of an entry: the entry itself where everything stays, a
// new batch, or nil. records is how many records it holds.
func (f *filter) apply(h *record.Header, entry []byte, v verdict) (out []byte, records int, err error) {
	if v.discard && v.keep == remove {
		return nil, 0, nil
	}
	all, left, tombstones, err := f.sift(h, entry, v)
	if err != nil {
		return nil, 0, err
	}
	if left == 0 {
		if v.keep == remove || h.Magic < record.MagicV2 {
			return nil, 0, nil
		}
		out, err = f.empty(h)
		return out, 0, err
	}
	horizon, set := h.DeleteHorizon()
	setNow := (tombstones || v.emptyTxn) && !set && h.Magic >= record.MagicV2
	if all && !setNow {
		return entry, left, nil
	}
	o := optionsOf(h)
	switch {
	case h.Magic < record.MagicV2:
		o.BaseOffset = f.first // an entry of these has but its last offset
	case setNow:
		at := f.now + f.horizonMs
		o.DeleteHorizon = &at
	case set:
		o.DeleteHorizon = &horizon
	}
	out, err = f.rebuild(entry, o)
	return out, left, err
}

// sift notes in f.stay which records stay.
func (f *filter) sift(h *record.Header, entry []byte, v verdict) (all bool, left int, tombstones bool, err error) {
	f.stay = f.stay[:0]
	all = true
	f.it.MaxRecordSize = f.maxRecord
	for f.it.Reset(entry); f.it.Next(); {
		r := f.it.Record()
		stays := !v.discard && (h.Attributes.IsControl() || f.stays(h, r))
		f.stay = append(f.stay, stays)
		if !stays {
			all = false
			continue
		}
		if left == 0 {
			f.first = r.Offset
		}
		left++
		tombstones = tombstones || r.Value == nil
	}
	return all, left, tombstones, f.it.Err()
}

// stays says whether a record of data stays: it is the last one of its key, and has
// a value or a horizon that has not passed.
func (f *filter) stays(h *record.Header, r *record.Record) bool {
	if r.Offset > f.latest {
		return true
	}
	if r.Key == nil {
		f.keyless++
		return false
	}
	if r.Offset < f.keys.Get(r.Key) {
		return false
	}
	if r.Value != nil {
		return true
	}
	if h.Magic < record.MagicV2 {
		return f.keepLegacyDeletes
	}
	at, set := h.DeleteHorizon()
	return !set || f.now < at
}

// optionsOf are those of a batch that takes the place of another: all that its
// header says stays.
func optionsOf(h *record.Header) record.BatchOptions {
	o := record.BatchOptions{
		BaseOffset: h.BaseOffset, LastOffset: h.LastOffset(), LeaderEpoch: h.LeaderEpoch,
		Compression:   record.Compression{Codec: h.Attributes.Codec()},
		Transactional: h.Attributes.IsTransactional(), Control: h.Attributes.IsControl(),
		TimestampType: h.Attributes.TimestampType(), AppendTime: h.MaxTimestamp,
		Producer: &record.Producer{ID: h.ProducerID, Epoch: h.ProducerEpoch, BaseSequence: h.BaseSequence},
	}
	return o
}

// rebuild builds a batch of the records that stay. One of what was a wrapper of magic
// 0 or 1 has magic 2: the old formats are read here and not written.
func (f *filter) rebuild(entry []byte, o record.BatchOptions) ([]byte, error) {
	f.builder.Reset(o)
	i := 0
	for f.it.Reset(entry); f.it.Next(); i++ {
		if f.stay[i] {
			f.builder.AppendAt(*f.it.Record())
		}
	}
	batch, err := f.builder.Build()
	if itErr := f.it.Err(); itErr != nil {
		return nil, itErr
	}
	return batch, err
}

// empty builds a batch without records.
func (f *filter) empty(h *record.Header) ([]byte, error) {
	o := optionsOf(h)
	o.Compression = record.Compression{}
	f.builder.Reset(o)
	return f.builder.Build()
}

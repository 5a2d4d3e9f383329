package cleaner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

const testDir = "/logs/t-0"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rig is a log in memory, the target of cleanings, and a model of what is in it.
type rig struct {
	t      testing.TB
	mem    *vfs.Mem
	fs     vfs.FS // what the log sees
	env    *commitlog.Env
	config *commitlog.Config
	clean  Config
	log    *commitlog.Log
	keys   *OffsetMap
	now    kafka.TimestampMs
	pace   func(int) error

	written   []written // every record of data, in order
	producers map[kafka.ProducerID]*txnProducer
	dirty     kafka.Offset
	reach     kafka.Offset // what a cleaning that was interrupted would have cleaned
	garbage   []commitlog.Garbage
}

// written is a record as it was appended.
type written struct {
	record.Record
	owner     kafka.ProducerID // of the transaction that it is in
	aborted   bool
	undecided bool
}

// txnProducer is a producer of the workload.
type txnProducer struct {
	id       kafka.ProducerID
	epoch    kafka.ProducerEpoch
	sequence int32
	open     bool
	since    int // index into written where its transaction begins
}

func newRig(t testing.TB, change ...func(*rig)) *rig {
	r := &rig{t: t, config: commitlog.DefaultConfig(), now: 1_700_000_000_000, producers: map[kafka.ProducerID]*txnProducer{}, dirty: kafka.NoOffset}
	r.mem = vfs.NewMem(func() time.Time { return time.UnixMilli(r.now) })
	r.config.SegmentBytes, r.config.IndexIntervalBytes = 4000, 300
	r.clean = Config{SegmentBytes: 4000, IndexBytes: 10 << 20, DeleteRetentionMs: 1000, MaxRecordSize: 1 << 20, BufferBytes: 700}
	r.keys = NewOffsetMap([2]uint64{3, 4}, 1<<20, 0.9)
	for _, c := range change {
		c(r)
	}
	if r.fs == nil {
		r.fs = r.mem
	}
	must(t, r.mem.MkdirAll("/logs"))
	must(t, r.mem.SyncDir("/"))
	r.open(commitlog.Options{Clean: true})
	return r
}

func (r *rig) open(o commitlog.Options) commitlog.OpenReport {
	r.t.Helper()
	r.env = &commitlog.Env{FS: r.fs, Files: vfs.NewCache(0, func(err error) { panic(err) })}
	o.Env, o.Dir, o.Config, o.Now = r.env, testDir, r.config, r.now
	log, report, err := commitlog.Open(o)
	must(r.t, err)
	r.log = log
	log.SetHighWatermark(log.LogEnd())
	return report
}

// A rig is its log's owner.
func (r *rig) Snapshot() *commitlog.Snapshot              { return r.log.Snapshot() }
func (r *rig) Locked(do func(*commitlog.Log) error) error { return do(r.log) }
func (r *rig) Swapped(g commitlog.Garbage)                { r.garbage = append(r.garbage, g) }
func (r *rig) Pace(n int) error {
	if r.pace != nil {
		return r.pace(n)
	}
	return nil
}

// run cleans all that can be cleaned.
func (r *rig) run() (Range, Stats) {
	r.t.Helper()
	must(r.t, r.log.Flush(r.log.LogEnd()))
	at, err := Measure(r.log.Snapshot(), r.dirty, r.log.RecoveryPoint(), Rules{MaxLagMs: 1 << 62}, r.now)
	must(r.t, err)
	if at.FirstDirty == at.FirstUncleanable {
		return at, Stats{}
	}
	dirty, stats, err := Clean(r, at, r.clean, r.keys, r.now)
	must(r.t, err)
	if dirty <= at.FirstDirty || dirty > at.FirstUncleanable {
		r.t.Fatalf("cleaned up to %d in %+v", dirty, at)
	}
	r.dirty = dirty
	return at, stats
}

// append appends a batch of records and puts them into the model.
func (r *rig) append(o record.BatchOptions, records ...record.Record) {
	r.t.Helper()
	b := record.NewBuilder(o)
	for _, rec := range records {
		b.Append(rec)
	}
	batch, err := b.Build()
	must(r.t, err)
	out := make([]commitlog.Appended, 1)
	must(r.t, r.log.AppendLeader(0, r.now, []record.Batch{batch}, out))
	if out[0].Err != kafka.ErrNone {
		r.t.Fatalf("append: %v", out[0].Err)
	}
	r.log.SetHighWatermark(r.log.LogEnd())
	owner := kafka.NoProducerID
	if o.Transactional {
		owner = o.Producer.ID
	}
	for i, rec := range records {
		rec.Offset = out[0].Base + kafka.Offset(i)
		r.written = append(r.written, written{Record: rec, owner: owner, undecided: o.Transactional})
	}
}

// put appends one record.
func (r *rig) put(key, value string) {
	r.t.Helper()
	rec := record.Record{Timestamp: r.now, Key: []byte(key)}
	if value != "" {
		rec.Value = []byte(value)
	}
	r.append(record.BatchOptions{}, rec)
}

func (r *rig) roll() { must(r.t, r.log.Roll(r.now)) }

// producer gives one of the producers of the workload.
func (r *rig) producer(id kafka.ProducerID) *txnProducer {
	p := r.producers[id]
	if p == nil {
		p = &txnProducer{id: id}
		r.producers[id] = p
	}
	return p
}

func (r *rig) produce(p *txnProducer, transactional bool, codec record.Codec, records ...record.Record) {
	r.t.Helper()
	if transactional && !p.open {
		p.open, p.since = true, len(r.written)
	}
	r.append(record.BatchOptions{
		Transactional: transactional, Compression: record.Compression{Codec: codec},
		Producer: &record.Producer{ID: p.id, Epoch: p.epoch, BaseSequence: p.sequence},
	}, records...)
	p.sequence = record.AddSequence(p.sequence, int32(len(records)))
}

// end ends the transaction of a producer.
func (r *rig) end(p *txnProducer, commit bool) {
	r.t.Helper()
	_, err := r.log.AppendMarker(0, r.now, record.CreateTime, kafka.Marker{ProducerID: p.id, ProducerEpoch: p.epoch, Commit: commit, CoordinatorEpoch: 1})
	must(r.t, err)
	r.log.SetHighWatermark(r.log.LogEnd())
	p.open = false
	for i := p.since; i < len(r.written); i++ {
		if w := &r.written[i]; w.undecided && w.owner == p.id {
			w.undecided, w.aborted = false, !commit
		}
	}
}

// workload appends n random batches.
func (r *rig) workload(rnd *rand.Rand, n, keys int) {
	r.t.Helper()
	for range n {
		r.now += rnd.Int64N(20)
		switch k := rnd.IntN(20); {
		case k < 2:
			r.roll()
		case k < 5:
			p := r.producer(kafka.ProducerID(rnd.IntN(3)))
			if p.open {
				r.end(p, rnd.IntN(2) == 0)
			} else {
				r.produce(p, false, 0, r.records(rnd, keys)...)
			}
		case k < 12:
			p := r.producer(kafka.ProducerID(10 + rnd.IntN(3)))
			r.produce(p, true, record.Codec(rnd.IntN(5)), r.records(rnd, keys)...)
			if rnd.IntN(3) == 0 {
				r.end(p, rnd.IntN(2) == 0)
			}
		default:
			o := record.BatchOptions{Compression: record.Compression{Codec: record.Codec(rnd.IntN(5))}}
			if rnd.IntN(4) == 0 {
				o.TimestampType, o.AppendTime = record.LogAppendTime, r.now
			}
			records := r.records(rnd, keys)
			r.append(o, records...)
			if o.TimestampType == record.LogAppendTime {
				for i := range records {
					r.written[len(r.written)-1-i].Timestamp = r.now
				}
			}
		}
	}
}

// decide ends all transactions.
func (r *rig) decide(rnd *rand.Rand) {
	for _, id := range []kafka.ProducerID{10, 11, 12} {
		if p := r.producer(id); p.open {
			r.end(p, rnd.IntN(2) == 0)
		}
	}
}

func (r *rig) records(rnd *rand.Rand, keys int) (out []record.Record) {
	for range 1 + rnd.IntN(8) {
		rec := record.Record{Timestamp: r.now - rnd.Int64N(5), Key: fmt.Appendf(nil, "key-%d", rnd.IntN(keys))}
		if rnd.IntN(5) > 0 {
			rec.Value = fmt.Appendf(nil, "value %d at %d %s", rnd.IntN(1000), r.now, "xxxxxxxxxxxxxxxxxxxx"[:rnd.IntN(20)])
		}
		out = append(out, rec)
	}
	return out
}

// found is a record as a reader finds it.
type found struct {
	record.Record
	header record.Header
}

// readAll reads the whole log by fetches; committed leaves out what a consumer of
// committed data does.
func readAll(t testing.TB, s *commitlog.Snapshot, committed bool) (all []found, headers []record.Header) {
	t.Helper()
	aborting := map[kafka.ProducerID]bool{}
	for o := s.LogStart(); o < s.LogEnd(); {
		slice, err := s.Read(commitlog.ReadRequest{From: o, UpTo: s.LogEnd(), MaxBytes: 1000, WholeFirst: true})
		must(t, err)
		if slice.Length == 0 {
			slice.Release()
			break
		}
		aborted, err := s.AbortedTxns(o, slice, nil)
		must(t, err)
		b := make([]byte, slice.Length)
		_, err = slice.File.ReadAt(b, slice.Position)
		must(t, err)
		slice.Release()
		for len(b) > 0 {
			h, err := record.ParseHeader(b)
			if err != nil || h.Size > len(b) {
				break
			}
			entry := b[:h.Size]
			b = b[h.Size:]
			must(t, record.Verify(entry))
			if h.LastOffset() < o {
				continue
			}
			o = h.NextOffset()
			headers = append(headers, h)
			slices.SortFunc(aborted, func(a, b commitlog.AbortedTxn) int { return int(a.FirstOffset - b.FirstOffset) })
			for len(aborted) > 0 && aborted[0].FirstOffset <= h.LastOffset() {
				aborting[aborted[0].ProducerID] = true
				aborted = aborted[1:]
			}
			if h.Attributes.IsControl() {
				if h.Count > 0 {
					kind, err := controlType(entry)
					must(t, err)
					if kind == record.ControlAbort {
						delete(aborting, h.ProducerID)
					}
				}
				continue
			}
			if committed && h.Attributes.IsTransactional() && aborting[h.ProducerID] {
				continue
			}
			var it record.Iterator
			for it.Reset(entry); it.Next(); {
				rec := *it.Record()
				rec.Key, rec.Value = slices.Clone(rec.Key), slices.Clone(rec.Value)
				all = append(all, found{rec, h})
			}
			must(t, it.Err())
			it.Close()
		}
	}
	return all, headers
}

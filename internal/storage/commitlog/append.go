package commitlog

import (
	"fmt"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// Appended is what became of one batch.
type Appended struct {
	// Err is ErrNone or why the batch was refused. The others of its run are not
	// concerned, except by an error of the whole call.
	Err        kafka.ErrorCode
	Base, Last kafka.Offset // -1 if it was refused
	// Duplicate says that the batch is in the log already, at Base and Last.
	Duplicate bool
	// Timestamp is, for a duplicate, the timestamp of the batch in the log.
	Timestamp kafka.TimestampMs
}

// AppendLeader appends batches that clients sent, in order. They come validated
// (record.Validate); their base offset and leader epoch are stamped in place.
// out, as long as batches, is filled. An error is one of the disk: then the log
// ends where it ended before the write that failed, and the batches of that
// write and those behind it carry ErrKafkaStorageError.
//
// With VerifyTransactions a batch that begins a transaction is refused with
// INVALID_TXN_STATE: see AppendVerified.
func (l *Log) AppendLeader(epoch kafka.LeaderEpoch, now kafka.TimestampMs, batches []record.Batch, out []Appended) error {
	return l.append(originClient, epoch, now, batches, nil, out)
}

// AppendVerified is AppendLeader with a guard, or NoGuard, for each batch.
func (l *Log) AppendVerified(epoch kafka.LeaderEpoch, now kafka.TimestampMs, batches []record.Batch, guards []Guard, out []Appended) error {
	return l.append(originClient, epoch, now, batches, guards, out)
}

// AppendCoordinator is AppendVerified for the batches of a coordinator: producer
// epochs are checked, sequences are not.
func (l *Log) AppendCoordinator(epoch kafka.LeaderEpoch, now kafka.TimestampMs, batches []record.Batch, guards []Guard, out []Appended) error {
	return l.append(originCoordinator, epoch, now, batches, guards, out)
}

// AppendRaft appends batches of a raft leader: offsets and the epoch are stamped
// in place, nothing else is checked. Control batches are allowed.
func (l *Log) AppendRaft(epoch kafka.LeaderEpoch, now kafka.TimestampMs, batches []record.Batch, out []Appended) error {
	return l.append(originRaft, epoch, now, batches, nil, out)
}

// origin says what is checked of a batch.
type origin int8

const (
	originClient origin = iota
	originCoordinator
	originRaft
)

// run is a number of batches that are written by one call, and what changes if
// the write succeeds. Until then only the log's active and end have moved on, and
// run knows what they were.
type run struct {
	iov    [][]byte
	first  int // index in batches of the first one
	before active
	end    kafka.Offset

	producers []producer // new states, the latest of a producer last
	begun     []openTxn
	verified  []kafka.ProducerID // whose verification is used up

	header   record.Header // of the batch at hand
	hasState bool          // it has a producer that is kept account of
	state    producer      // that producer's state, with the batch
	began    bool          // the batch begins a transaction
}

func (l *Log) startRun(r *run, first int) {
	clear(r.iov)
	r.iov, r.producers, r.begun, r.verified = r.iov[:0], r.producers[:0], r.begun[:0], r.verified[:0]
	r.first, r.before, r.end = first, l.act, l.end
}

func (l *Log) append(from origin, epoch kafka.LeaderEpoch, now kafka.TimestampMs, batches []record.Batch, guards []Guard, out []Appended) error {
	r := l.env.getRun()
	defer l.env.putRun(r)
	l.startRun(r, 0)
	err := l.prepareAppend(epoch)
	for i := 0; i < len(batches) && err == nil; i++ {
		guard := NoGuard
		if guards != nil {
			guard = guards[i]
		}
		if out[i] = l.admit(r, from, batches[i], guard); out[i].Err != kafka.ErrNone || out[i].Duplicate {
			continue
		}
		facts := l.factsOf(r)
		if l.act.mustRoll(l.config.Load(), l.active().base, facts, now) {
			if err = l.writeRun(r); err != nil {
				break
			}
			if err = l.rollAt(l.end, now); err != nil {
				r.first = i
				break
			}
			l.startRun(r, i)
		}
		out[i].Base, out[i].Last = facts.base, facts.last
		l.stage(r, batches[i], facts, epoch)
	}
	if err == nil {
		err = l.writeRun(r)
	}
	if err != nil {
		for i := r.first; i < len(batches); i++ {
			out[i] = Appended{Err: kafka.ErrKafkaStorageError, Base: kafka.NoOffset, Last: kafka.NoOffset}
		}
	}
	l.publish()
	return err
}

// prepareAppend does what must be done before anything is written.
func (l *Log) prepareAppend(epoch kafka.LeaderEpoch) error {
	if err := l.change(); err != nil {
		return err
	}
	if err := l.assignEpoch(epoch, l.end); err != nil {
		return err
	}
	return l.spillIndexes()
}

// spillEntries is how many index entries stay in memory before they are written:
// 64 KiB, which stand for 32 MiB of batches.
const spillEntries = 8192

// spillIndexes bounds what is in memory of the indexes.
func (l *Log) spillIndexes() error {
	if len(l.act.index) < spillEntries {
		return nil
	}
	return l.act.writeIndexes(l.env, l.dir, l.active())
}

// admit decides whether a batch is to be appended. The state that its producer
// would have then is left in r.
func (l *Log) admit(r *run, from origin, b record.Batch, guard Guard) Appended {
	r.header = b.Header()
	h := &r.header
	refused := Appended{Base: kafka.NoOffset, Last: kafka.NoOffset}
	if len(b) > min(l.config.Load().SegmentBytes, maxSegmentBytes) {
		refused.Err = kafka.ErrRecordListTooLarge
		return refused
	}
	if r.hasState = h.HasProducer() && from != originRaft; !r.hasState {
		return Appended{}
	}
	r.state = l.stagedProducer(r, h.ProducerID)
	if from == originClient {
		if m, found := r.state.duplicate(h); found {
			return Appended{Base: m.firstOffset(), Last: m.lastOffset, Duplicate: true, Timestamp: m.timestamp}
		}
	}
	if h.Attributes.IsTransactional() && !r.state.inTransaction(h.ProducerEpoch) {
		if refused.Err = l.checkVerified(h, &r.state, guard, from == originClient); refused.Err != kafka.ErrNone {
			return refused
		}
	}
	if code := r.state.checkData(h, from == originClient); code != kafka.ErrNone {
		refused.Err = code
		return refused
	}
	r.began = r.state.addData(h, l.end)
	if r.began && len(l.producers.open)+len(r.begun) >= maxOpenTxns {
		// Retriable, and what producers are told of a transaction that cannot be
		// verified now.
		refused.Err = kafka.ErrNotEnoughReplicas
		return refused
	}
	return Appended{}
}

// stagedProducer is the state of a producer as the batches of the run leave it.
func (l *Log) stagedProducer(r *run, id kafka.ProducerID) producer {
	for i := len(r.producers) - 1; i >= 0; i-- {
		if r.producers[i].id == id {
			return r.producers[i]
		}
	}
	return l.producers.get(id)
}

func (l *Log) factsOf(r *run) batchFacts {
	h := &r.header
	return batchFacts{
		base: l.end, last: l.end + kafka.Offset(h.LastOffsetDelta),
		size: h.Size, maxTimestamp: h.MaxTimestamp,
	}
}

// stage adds a batch to the run.
func (l *Log) stage(r *run, b record.Batch, facts batchFacts, epoch kafka.LeaderEpoch) {
	b.SetBaseOffset(facts.base)
	b.SetLeaderEpoch(epoch)
	r.iov = append(r.iov, b)
	l.act.grow(l.config.Load(), l.active().base, facts)
	l.end = facts.last + 1
	if r.hasState {
		r.producers = append(r.producers, r.state)
		if r.began {
			r.begun = append(r.begun, openTxn{facts.base, r.state.id})
		}
		if r.header.Attributes.IsTransactional() {
			r.verified = append(r.verified, r.state.id)
		}
	}
}

// writeRun writes the batches of the run with one call and lets their effects
// happen. If the write fails, the log is as it was before the run.
func (l *Log) writeRun(r *run) error {
	if len(r.iov) == 0 {
		return nil
	}
	if err := l.write(r.iov, &r.before); err != nil {
		l.act, l.end = r.before, r.end
		return err
	}
	for i := range r.producers {
		l.producers.put(&r.producers[i])
	}
	for _, t := range r.begun {
		l.producers.begin(t.producer, t.start)
	}
	for _, id := range r.verified {
		l.producers.verified(id)
	}
	l.producers.mapEnd = l.end
	return nil
}

// write writes buffers behind the bytes that before counts. After a failed write
// the file is cut back: a full disk may leave bytes behind and say that it wrote
// none.
func (l *Log) write(iov [][]byte, before *active) error {
	f, err := l.active().hold(l.env, l.dir, logSuffix, vfs.ReadWrite)
	if err != nil {
		return err
	}
	defer f.Release()
	l.reserve(f, before.size)
	if _, err = f.WritevAt(iov, before.size); err == nil {
		return nil
	}
	if cutErr := l.cutBack(f, before); cutErr != nil {
		return l.fail(fmt.Errorf("%w; and then %w", err, cutErr))
	}
	return err
}

// cutBack takes off what a failed write may have left behind. A file that was made
// with its full size gets it again.
func (l *Log) cutBack(f vfs.File, before *active) error {
	if err := f.Truncate(before.size); err != nil {
		return err
	}
	if l.config.Load().Preallocate && before.reserved > before.size {
		return f.Truncate(before.reserved)
	}
	before.reserved = before.size
	return nil
}

// Blocks are reserved ahead in steps, but only for a segment that fills: idle
// partitions must not hold disk space.
const (
	reserveFrom = 1 << 20
	reserveStep = 16 << 20
)

// reserve lets the file system allocate blocks ahead of the writes; the size of
// the file stays what it is. It is an optimisation: where it does not work, it is
// not tried again for this segment.
func (l *Log) reserve(f vfs.File, writeAt int64) {
	if ahead := l.config.Load().ReserveAhead; ahead > 0 {
		l.reserveAhead(f, writeAt, ahead)
		return
	}
	a, limit := &l.act, int64(l.config.Load().SegmentBytes)
	if a.size < reserveFrom || a.size <= a.reserved || a.reserved >= limit {
		return
	}
	from := max(a.reserved, writeAt)
	upTo := max(min(a.size+reserveStep, limit), a.size)
	if f.Preallocate(from, upTo-from) == nil {
		a.reserved = upTo
	} else {
		a.reserved = maxSegmentBytes
	}
}

// reserveAhead tops up what is reserved behind the log's end when a part of it is
// used.
func (l *Log) reserveAhead(f vfs.File, writeAt, ahead int64) {
	a := &l.act
	if a.reserved-a.size > ahead-ahead/16 {
		l.short = false
		return
	}
	from, upTo := max(a.reserved, writeAt), a.size+ahead
	err := f.Preallocate(from, upTo-from)
	switch l.short = vfs.IsFull(err); {
	case err == nil:
		a.reserved = upTo
	case !l.short:
		a.reserved = maxSegmentBytes // the file system does not do that
	}
}

// ShortOfSpace says that the disk had no space for what ReserveAhead asks for: what
// was reserved before is being used up.
func (l *Log) ShortOfSpace() bool { return l.short }

// Reserve tries again to reserve what there was no space for.
func (l *Log) Reserve() error {
	if !l.short || l.failed != nil {
		return l.failed
	}
	f, err := l.active().hold(l.env, l.dir, logSuffix, vfs.ReadWrite)
	if err != nil {
		return err
	}
	defer f.Release()
	l.reserveAhead(f, l.act.size, l.config.Load().ReserveAhead)
	return nil
}

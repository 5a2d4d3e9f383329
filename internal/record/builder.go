package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"barnabas/internal/kafka"
)

// Producer is the idempotent producer of a batch.
type Producer struct {
	ID           kafka.ProducerID
	Epoch        kafka.ProducerEpoch
	BaseSequence int32 // NoSequence in control batches
}

// BatchOptions say what a batch is. The zero value is a plain batch at offset 0,
// of leader epoch 0, with timestamps of its records.
type BatchOptions struct {
	BaseOffset    kafka.Offset
	LeaderEpoch   kafka.LeaderEpoch
	Compression   Compression
	Producer      *Producer // nil: not idempotent
	Transactional bool
	Control       bool
	TimestampType TimestampType
	// AppendTime is the timestamp of all records with LogAppendTime. What the
	// records say goes into the deltas all the same, as with Apache. It is also
	// the largest timestamp of a batch without records.
	AppendTime kafka.TimestampMs
	// DeleteHorizon, if not nil, takes the place of the base timestamp.
	DeleteHorizon *kafka.TimestampMs
	// LastOffset, if larger than that of the last record, is the batch's: what
	// compaction keeps of the batch as it was.
	LastOffset kafka.Offset
}

// Builder builds one batch after another. The zero value is ready for Reset.
type Builder struct {
	opts    BatchOptions
	out     output
	enc     encoder // nil for Codec None
	scratch []byte
	err     error

	count         int32
	lastOffset    kafka.Offset
	baseTimestamp kafka.TimestampMs
	maxTimestamp  kafka.TimestampMs
}

// NewBuilder is a builder that has been Reset.
func NewBuilder(opts BatchOptions) *Builder {
	b := new(Builder)
	b.Reset(opts)
	return b
}

// Reset starts a new batch in memory of its own; batches that were built before
// stay as they are.
func (b *Builder) Reset(opts BatchOptions) {
	b.drop()
	*b = Builder{opts: opts, scratch: b.scratch[:0]}
	b.out.b = make([]byte, HeaderSize, 512)
	b.lastOffset = opts.BaseOffset - 1
	b.baseTimestamp, b.maxTimestamp = kafka.NoTimestamp, kafka.NoTimestamp
	if opts.DeleteHorizon != nil {
		b.baseTimestamp = *opts.DeleteHorizon
	}
	if opts.Compression.Codec != None {
		b.enc, b.err = newEncoder(opts.Compression, &b.out)
	}
}

// drop gives back the encoder of a batch that is not going to be built.
func (b *Builder) drop() {
	if b.enc != nil {
		b.enc.free()
		b.enc = nil
	}
}

// Append adds a record at the next offset. Its Offset is not looked at.
func (b *Builder) Append(r Record) {
	r.Offset = b.lastOffset + 1
	b.AppendAt(r)
}

// AppendAt adds a record at its own offset, which must be above the last one. An
// error is told by Build.
func (b *Builder) AppendAt(r Record) {
	if b.err != nil {
		return
	}
	delta := r.Offset - b.opts.BaseOffset
	if r.Offset <= b.lastOffset || delta > math.MaxInt32 {
		b.err = fmt.Errorf("record: offset %d cannot follow %d in a batch from %d", r.Offset, b.lastOffset, b.opts.BaseOffset)
		return
	}
	if b.count == 0 && b.opts.DeleteHorizon == nil {
		b.baseTimestamp = r.Timestamp
	}
	b.write(&r, int32(delta))
	b.count++
	b.lastOffset = r.Offset
	b.maxTimestamp = max(b.maxTimestamp, r.Timestamp)
}

func (b *Builder) write(r *Record, offsetDelta int32) {
	timestampDelta := r.Timestamp - b.baseTimestamp
	if b.enc == nil {
		b.out.b = r.appendTo(b.out.b, offsetDelta, timestampDelta)
		return
	}
	b.scratch = r.appendTo(b.scratch[:0], offsetDelta, timestampDelta)
	_, b.err = b.enc.Write(b.scratch)
}

// Size is the size of the batch so far. What the encoder still holds is not in it.
func (b *Builder) Size() int { return len(b.out.b) }

// Build ends the batch. It belongs to the caller; the builder must be Reset
// before it is used again. A batch without records is built too, with the range
// of offsets that LastOffset gives it, as compaction leaves some.
func (b *Builder) Build() (Batch, error) {
	if b.err == nil && b.enc != nil {
		b.err = b.enc.Close()
	}
	b.drop()
	if b.err == nil {
		b.err = b.check()
	}
	if b.err != nil {
		return nil, b.err
	}
	batch := Batch(b.out.b)
	b.out.b = nil
	b.err = errors.New("record: builder used after Build without Reset")
	b.putHeader(batch)
	return batch, nil
}

func (b *Builder) check() error {
	o := &b.opts
	switch {
	case len(b.out.b)-LogOverhead > math.MaxInt32:
		return fmt.Errorf("%w: batch of %d bytes", ErrBadLength, len(b.out.b))
	case o.Transactional && (o.Producer == nil || o.Producer.ID == kafka.NoProducerID):
		return errors.New("record: a transactional batch needs a producer")
	case o.LastOffset-o.BaseOffset > math.MaxInt32:
		return fmt.Errorf("record: last offset %d does not fit into a batch from %d", o.LastOffset, o.BaseOffset)
	}
	return nil
}

func (b *Builder) putHeader(h Batch) {
	o := &b.opts
	producer := Producer{ID: kafka.NoProducerID, Epoch: kafka.NoProducerEpoch, BaseSequence: NoSequence}
	if o.Producer != nil {
		producer = *o.Producer
	}
	maxTimestamp := b.maxTimestamp
	if o.TimestampType == LogAppendTime || b.count == 0 {
		maxTimestamp = o.AppendTime
	}
	be := binary.BigEndian
	h.SetBaseOffset(o.BaseOffset)
	be.PutUint32(h[posLength:], uint32(len(h)-LogOverhead))
	h.SetLeaderEpoch(o.LeaderEpoch)
	h[posMagic] = MagicV2
	be.PutUint16(h[posAttributes:], uint16(o.attributes()))
	be.PutUint32(h[posLastOffsetDelta:], uint32(max(b.lastOffset, o.LastOffset)-o.BaseOffset))
	be.PutUint64(h[posBaseTimestamp:], uint64(b.baseTimestamp))
	be.PutUint64(h[posMaxTimestamp:], uint64(maxTimestamp))
	be.PutUint64(h[posProducerID:], uint64(producer.ID))
	be.PutUint16(h[posProducerEpoch:], uint16(producer.Epoch))
	be.PutUint32(h[posBaseSequence:], uint32(producer.BaseSequence))
	be.PutUint32(h[posCount:], uint32(b.count))
	h.setCRC()
}

func (o *BatchOptions) attributes() Attributes {
	a := Attributes(o.Compression.Codec)
	if o.TimestampType == LogAppendTime {
		a |= logAppendTimeFlag
	}
	if o.Transactional {
		a |= transactionalFlag
	}
	if o.Control {
		a |= controlFlag
	}
	if o.DeleteHorizon != nil {
		a |= deleteHorizonFlag
	}
	return a
}

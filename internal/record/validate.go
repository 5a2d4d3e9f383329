package record

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"barnabas/internal/kafka"
)

// Origin says who writes a batch to a leader.
type Origin int8

const (
	// OriginClient is a Produce request: everything is checked.
	OriginClient Origin = iota
	// OriginCoordinator is a coordinator in this process. It may write control
	// batches, and batches of a producer without sequences.
	OriginCoordinator
)

// ValidateOptions are the rules for one partition. The zero value of a limit is
// the limit 0, which nothing meets, unless its comment says otherwise.
type ValidateOptions struct {
	Partition kafka.TopicPartition // for texts
	Origin    Origin
	Version   int16 // of the Produce request
	Now       kafka.TimestampMs

	// Recompress is the topic's compression.type with its level; nil is
	// "producer": every batch keeps its codec.
	Recompress    *Compression
	TimestampType TimestampType // message.timestamp.type
	// TimestampBeforeMaxMs and TimestampAfterMaxMs are
	// message.timestamp.before.max.ms and message.timestamp.after.max.ms.
	TimestampBeforeMaxMs int64
	TimestampAfterMaxMs  int64
	Compacted            bool // cleanup.policy has compact: every record needs a key
	MaxMessageBytes      int  // max.message.bytes
	SegmentBytes         int  // segment.bytes; 0 is no limit
	MaxRecordSize        int  // max.decompressed.message.bytes; 0 is DefaultMaxRecordSize
}

// Validated is a batch that may be appended: its records are what its header
// says, its checksum is right, and offsets and leader epoch are to be set.
type Validated struct {
	// Batch aliases the request's bytes unless Rebuilt is set.
	Batch Batch
	// MaxTimestamp is the batch's, kafka.NoTimestamp if no record has one. For
	// the time index its offset is that of the last record of the batch.
	MaxTimestamp kafka.TimestampMs
	// AppendTime is ValidateOptions.Now with LogAppendTime, and otherwise
	// kafka.NoTimestamp: the field of the Produce answer.
	AppendTime kafka.TimestampMs
	// Rebuilt says that the records had to be written anew: another codec, or
	// offsets that did not follow one another.
	Rebuilt bool
}

// Refusal says why a batch is not appended.
type Refusal struct {
	Code kafka.ErrorCode
	// Message is the error message of the Produce answer. Apache sends one with
	// record errors and with impossible headers; empty means null.
	Message string
	// RecordErrors are the records that are at fault, if it is single records.
	RecordErrors []RecordError
	// Reason is the text for people, Message if there is one.
	Reason string
}

// Error is the code and the reason.
func (r *Refusal) Error() string { return r.Code.String() + ": " + r.Reason }

// RecordError is one record that caused a Refusal, by its place in the batch.
type RecordError struct {
	BatchIndex int32
	Message    string
}

func refuse(code kafka.ErrorCode, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// Validate checks what a Produce request has for one partition, by the rules and
// in the order of Apache Kafka: the request must have exactly one batch of magic
// 2; then size, checksum, header and each record are looked at. What has to be
// stamped is stamped in raw, so raw must be writable and of the caller; only
// where records must be written anew is there a new batch.
//
// It knows nothing of the log: sequences are checked against the producer's
// state, and leader epoch and offsets are set, by whoever appends.
func Validate(raw []byte, o *ValidateOptions) (Validated, *Refusal) {
	batch, refusal := onlyBatch(raw, o)
	if refusal != nil {
		return Validated{}, refusal
	}
	if refusal := checkBatch(batch, o); refusal != nil {
		return Validated{}, refusal
	}
	if hasWideWindow(batch.Codec(), batch.Payload()) {
		wideWindows.Lock()
		defer wideWindows.Unlock()
	}
	v := validators.Get().(*validator)
	defer v.release()
	v.opts, v.batch = o, batch
	return v.run()
}

// ValidateForm is the part of Validate that Apache does before it looks for the
// partition's log, so that what it refuses comes before other errors: whether raw
// is exactly one batch that a request of this version may hold.
func ValidateForm(raw []byte, version int16) *Refusal {
	_, refusal := onlyBatch(raw, &ValidateOptions{Version: version})
	return refusal
}

// onlyBatch cuts the one batch out of raw. Bytes behind it that are too few for
// another are dropped, as Apache drops them.
func onlyBatch(raw []byte, o *ValidateOptions) (Batch, *Refusal) {
	batch, rest, err := Next(raw)
	switch {
	case errors.Is(err, ErrShort):
		return nil, refuse(kafka.ErrInvalidRecord, "Produce requests with version %d must have at least one record batch per partition", o.Version)
	case err != nil:
		return nil, badHeader(raw, o, err)
	}
	if o.Origin == OriginClient && o.Version < 7 && batch.Codec() == Zstd {
		return nil, refuse(kafka.ErrUnsupportedCompressionType, "Produce requests with version %d are not allowed to use ZStandard compression", o.Version)
	}
	switch size, _, err := entrySize(rest); {
	case errors.Is(err, ErrShort) || err == nil && size > len(rest):
		return batch, nil
	case err != nil:
		return nil, refuse(kafka.ErrCorruptMessage, "%v", err)
	}
	return nil, refuse(kafka.ErrInvalidRecord, "Produce requests with version %d are only allowed to contain exactly one record batch per partition", o.Version)
}

// badHeader says what is wrong with raw, from which Next could cut no batch.
// Apache finds impossible lengths and magics before it looks at partitions, and
// so sends the texts of those.
func badHeader(raw []byte, o *ValidateOptions, err error) *Refusal {
	length, magic := Batch(raw).i32(posLength), int8(0)
	if len(raw) > posMagic {
		magic = int8(raw[posMagic])
	}
	var r *Refusal
	switch {
	case length < minLegacyLength:
		r = refuse(kafka.ErrCorruptMessage, "Record size %d is less than the minimum record overhead (%d)", length, minLegacyLength)
	case magic < 0 || magic > MagicV2:
		r = refuse(kafka.ErrCorruptMessage, "Invalid magic found in record: %d", magic)
	case magic < MagicV2:
		return refuse(kafka.ErrInvalidRecord, "Produce requests with version %d are only allowed to contain record batches with magic version 2", o.Version)
	default:
		return refuse(kafka.ErrCorruptMessage, "%v", err)
	}
	r.Message = r.Reason
	return r
}

// checkBatch checks all that can be seen without the records.
func checkBatch(b Batch, o *ValidateOptions) *Refusal {
	client := o.Origin == OriginClient
	if client && b.BaseOffset() != 0 {
		return refuse(kafka.ErrInvalidRecord, "The baseOffset of the record batch in the append to %s should be 0, but it is %d", o.Partition, b.BaseOffset())
	}
	if b.Size() > o.MaxMessageBytes {
		return refuse(kafka.ErrMessageTooLarge, "The record batch size in the append to %s is %d bytes which exceeds the maximum configured value of %d).", o.Partition, b.Size(), o.MaxMessageBytes)
	}
	if err := b.CheckCRC(); err != nil {
		return refuse(kafka.ErrCorruptMessage, "Record is corrupt (stored crc = %d) in topic partition %s.", b.CRC(), o.Partition)
	}
	if !b.Codec().Valid() {
		return refuse(kafka.ErrUnsupportedCompressionType, "Unknown compression type id: %d", b.Codec())
	}
	if client {
		return checkClientBatch(b, o)
	}
	return nil
}

func checkClientBatch(b Batch, o *ValidateOptions) *Refusal {
	fromOffsets := int64(b.LastOffsetDelta()) + 1
	switch count := int64(b.Count()); {
	case fromOffsets <= 0:
		return refuse(kafka.ErrInvalidRecord, "Batch has an invalid offset range: [%d, %d] in topic partition %s", b.BaseOffset(), b.LastOffset(), o.Partition)
	case count <= 0:
		return refuse(kafka.ErrInvalidRecord, "Invalid reported count for record batch: %d in topic partition %s", count, o.Partition)
	case fromOffsets != count:
		return refuse(kafka.ErrInvalidRecord, "Inconsistent batch offset range [%d, %d] and count of records %d in topic partition %s", b.BaseOffset(), b.LastOffset(), count, o.Partition)
	case b.IsControl():
		return refuse(kafka.ErrInvalidRecord, "Clients are not allowed to write control records in topic partition %s", o.Partition)
	case b.HasProducer() && b.BaseSequence() < 0:
		return refuse(kafka.ErrInvalidRecord, "Invalid sequence number %d in record batch with producerId %d in topic partition %s", b.BaseSequence(), b.ProducerID(), o.Partition)
	}
	return nil
}

// validator is the part of Validate that looks at the records. It is pooled with
// the buffers of its walks.
type validator struct {
	opts     *ValidateOptions
	batch    Batch
	walker   Walker
	iterator Iterator

	errors       []RecordError
	noKeyText    string // the message of all that are a missing key
	badTime      bool   // one of them is a timestamp
	consecutive  bool   // offsets are 0, 1, 2 ...
	maxTimestamp kafka.TimestampMs
}

// wideWindows lets one batch at a time have a window of more than the usual size:
// a frame of twenty bytes may ask for 128 MiB.
var wideWindows sync.Mutex

var validators = sync.Pool{New: func() any { return new(validator) }}

func (v *validator) release() {
	v.walker.Close()
	v.iterator.Close()
	*v = validator{walker: v.walker, iterator: v.iterator}
	validators.Put(v)
}

func (v *validator) run() (Validated, *Refusal) {
	o := v.opts
	v.consecutive, v.maxTimestamp = true, kafka.NoTimestamp
	v.walker.MaxRecordSize, v.iterator.MaxRecordSize = o.MaxRecordSize, o.maxRebuiltRecord()
	target := Compression{Codec: v.batch.Codec()}
	if o.Recompress != nil && o.Recompress.Codec != target.Codec && !v.plainControl() {
		return v.rebuild(*o.Recompress, v.checkRecord)
	}
	if refusal := v.walk(); refusal != nil {
		return Validated{}, refusal
	}
	if !v.consecutive {
		return v.rebuild(target, nil)
	}
	if o.SegmentBytes > 0 && v.batch.Size() > o.SegmentBytes {
		return Validated{}, v.tooLargeForSegment(v.batch.Size())
	}
	maxTimestamp := v.maxTimestamp
	if o.TimestampType == LogAppendTime {
		maxTimestamp = o.Now
	}
	v.batch.SetMaxTimestamp(o.TimestampType, maxTimestamp)
	return Validated{Batch: v.batch, MaxTimestamp: maxTimestamp, AppendTime: o.appendTime()}, nil
}

// plainControl says whether the batch is an uncompressed control batch. Those
// are never compressed.
func (v *validator) plainControl() bool { return v.batch.IsControl() && v.batch.Codec() == None }

func (o *ValidateOptions) appendTime() kafka.TimestampMs {
	if o.TimestampType == LogAppendTime {
		return o.Now
	}
	return kafka.NoTimestamp
}

// walk goes over the records where they are.
func (v *validator) walk() *Refusal {
	w := &v.walker
	w.Reset(v.batch)
	for i := int32(0); w.Next(); i++ {
		v.checkRecord(i, w.Offset(), w.Timestamp(), w.KeySize(), w.ValueSize())
	}
	return v.verdict(w.Err())
}

// checkRecord notes what is wrong with one record. The sizes of key and value
// are -1 for null.
func (v *validator) checkRecord(i int32, offset kafka.Offset, timestamp kafka.TimestampMs, keySize, valueSize int) {
	o := v.opts
	if o.Compacted && keySize < 0 {
		if v.noKeyText == "" {
			v.noKeyText = "Compacted topic cannot accept message without key in topic partition " + o.Partition.String()
		}
		v.errors = append(v.errors, RecordError{i, v.noKeyText})
		return
	}
	if o.TimestampType == CreateTime && timestamp != kafka.NoTimestamp {
		if age := o.Now - timestamp; age > o.TimestampBeforeMaxMs || -age > o.TimestampAfterMaxMs {
			v.timeError(i, fmt.Sprintf("Timestamp %d of message with offset %d is out of range. The timestamp should be within [%d, %d]",
				timestamp, offset, o.Now-o.TimestampBeforeMaxMs, o.Now+o.TimestampAfterMaxMs))
			return
		}
	} else if v.batch.TimestampType() == LogAppendTime {
		v.timeError(i, fmt.Sprintf("Invalid timestamp type in message %s. Producer should not set timestamp type to LogAppendTime.",
			v.recordText(offset, timestamp, keySize, valueSize)))
		return
	}
	if offset != kafka.Offset(i) {
		v.consecutive = false
	}
	v.maxTimestamp = max(v.maxTimestamp, timestamp)
}

func (v *validator) timeError(i int32, message string) {
	v.badTime = true
	v.errors = append(v.errors, RecordError{i, message})
}

// recordText is a record as Apache prints it, which depends on whether it looked
// at the record or skimmed it.
func (v *validator) recordText(offset kafka.Offset, timestamp kafka.TimestampMs, keySize, valueSize int) string {
	name := "PartialDefaultRecord"
	if v.batch.Codec() == None || v.opts.Recompress != nil && v.opts.Recompress.Codec != v.batch.Codec() {
		name, keySize, valueSize = "DefaultRecord", max(keySize, 0), max(valueSize, 0)
	}
	return fmt.Sprintf("%s(offset=%d, timestamp=%d, key=%d bytes, value=%d bytes)", name, offset, timestamp, keySize, valueSize)
}

// verdict turns the errors of a walk into a refusal, or nil.
func (v *validator) verdict(err error) *Refusal {
	if err != nil {
		return refuse(kafka.ErrInvalidRecord, "%v in topic partition %s", err, v.opts.Partition)
	}
	if len(v.errors) == 0 {
		return nil
	}
	r := &Refusal{Code: kafka.ErrInvalidTimestamp, RecordErrors: v.errors}
	if v.badTime {
		r.Message = "One or more records have been rejected due to invalid timestamp"
	} else {
		r.Code = kafka.ErrInvalidRecord
		r.Message = fmt.Sprintf("One or more records have been rejected due to %d record errors in total, and only showing the first three errors at most: %s",
			len(v.errors), recordErrorsText(v.errors))
	}
	r.Reason = r.Message
	return r
}

func recordErrorsText(errs []RecordError) string {
	text := "["
	for i, e := range errs[:min(len(errs), 3)] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("RecordError(batchIndex=%d, message='%s')", e.BatchIndex, e.Message)
	}
	return text + "]"
}

// recordCheck is checkRecord, or nil where the records have been checked.
type recordCheck func(i int32, offset kafka.Offset, timestamp kafka.TimestampMs, keySize, valueSize int)

// rebuild writes the records anew, with offsets that follow one another, in
// another codec or the same one.
func (v *validator) rebuild(target Compression, check recordCheck) (Validated, *Refusal) {
	o, b := v.opts, v.batch
	builder := NewBuilder(BatchOptions{
		Compression:   target,
		LeaderEpoch:   b.LeaderEpoch(),
		Producer:      &Producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence()},
		Transactional: b.IsTransactional(),
		Control:       b.IsControl(),
		TimestampType: o.TimestampType,
		AppendTime:    o.Now,
	})
	defer builder.drop()
	it := &v.iterator
	it.Reset(b)
	for i := int32(0); it.Next(); i++ {
		r := it.Record()
		if check != nil {
			check(i, r.Offset, r.Timestamp, int(fieldSize(r.Key)), int(fieldSize(r.Value)))
		}
		if len(v.errors) == 0 && builder.Size() <= tooLargeForSure(o.MaxMessageBytes) {
			builder.Append(*r)
		}
	}
	if refusal := v.verdict(it.Err()); refusal != nil {
		return Validated{}, refusal
	}
	batch, err := builder.Build()
	if err != nil {
		return Validated{}, refuse(kafka.ErrInvalidRecord, "%v in topic partition %s", err, o.Partition)
	}
	if batch.Size() > o.MaxMessageBytes {
		return Validated{}, refuse(kafka.ErrMessageTooLarge, "Message batch size is %d bytes in append to partition %s which exceeds the maximum configured size of %d.", batch.Size(), o.Partition, o.MaxMessageBytes)
	}
	if o.SegmentBytes > 0 && batch.Size() > o.SegmentBytes {
		return Validated{}, v.tooLargeForSegment(batch.Size())
	}
	return Validated{Batch: batch, MaxTimestamp: batch.MaxTimestamp(), AppendTime: o.appendTime(), Rebuilt: true}, nil
}

// A walk passes over what it unpacks, but a rebuild holds a record and its new
// batch in memory, so a small request must not unpack to an arbitrarily large
// one. rebuildRatio is how many times max.message.bytes it may, and rebuildFloor
// what it may in any case.
const (
	rebuildRatio = 16
	rebuildFloor = 16 << 20
)

// maxRebuiltRecord is MaxRecordSize for records that are to be written anew.
func (o *ValidateOptions) maxRebuiltRecord() int {
	limit := max(min(o.MaxMessageBytes, math.MaxInt32/rebuildRatio)*rebuildRatio, rebuildFloor)
	if o.MaxRecordSize > 0 {
		limit = min(limit, o.MaxRecordSize)
	}
	return limit
}

// tooLargeForSure is a size from which on a batch is not worth building further.
func tooLargeForSure(limit int) int { return min(limit, math.MaxInt32/2) * 2 }

func (v *validator) tooLargeForSegment(size int) *Refusal {
	return refuse(kafka.ErrRecordListTooLarge, "Message batch size is %d bytes in append to partition %s, which exceeds the maximum configured segment size of %d.", size, v.opts.Partition, v.opts.SegmentBytes)
}

// Package record is the batch format of Kafka's logs and requests: it takes
// batches apart, walks their records, builds batches, compresses, and decides
// whether what a producer sent may be appended.
//
// It knows nothing of files, topics, producer state, offsets to come or clocks:
// the time is passed in. Nothing in it is shared but pools of buffers and
// codecs; a Batch belongs to whoever has its bytes, an Iterator, Walker or
// Builder to one goroutine.
//
// # Reading
//
// Next splits v2 batches off a buffer; ParseHeader tells of any entry, also of
// magic 0 and 1, how long it is and what its header says, from its first bytes
// alone, so that a file can be walked by headers. Iterator reads the records of
// one entry of any magic, Walker passes over keys and values. Both unpack a
// chunk at a time: a walk needs the memory of a chunk (or of the window of a zstd
// frame, or of one snappy chunk), an iteration that of its largest record.
//
// # Invariants
//
//  1. A Batch from Next or a Builder has at least HeaderSize bytes and exactly as
//     many as its length field says. Accessors rely on it and check nothing.
//  2. Memory follows the bytes that are there and what they can unpack to, not
//     numbers that are read. The one exception is the window of a zstd frame: up
//     to 8 MiB anywhere, up to 128 MiB for one batch at a time in Validate.
//  3. A reader gives all records of a batch or an error: more, fewer, longer and
//     shorter records than the header promises are errors.
//  4. Whatever a Java consumer could not read is refused by Validate.
//  5. A validated batch holds the offsets base to base+count-1, one each.
//
// # Files
//
//	header.go    errors, attributes, the header of any entry
//	batch.go     Batch: accessors, setters, checksum; Next
//	record.go    Record, headers, the encoding of a record
//	varint.go    the numbers in it
//	stream.go    the bytes of a records section, unpacked as they are read
//	cursor.go    the walk over a section; iterator.go: its two faces
//	legacy.go    magic 0 and 1
//	unpack.go    streams that are no batches
//	builder.go   Builder
//	control.go   control records
//	codec.go     codecs; gzip.go, snappy.go, lz4.go (xxh32.go), zstd.go: their streams
//	validate.go  what a leader checks before it appends
package record

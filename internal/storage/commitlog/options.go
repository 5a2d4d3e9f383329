package commitlog

import (
	"sync"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// Env is what all logs of one log directory share. It must not be copied after
// its first use.
type Env struct {
	FS    vfs.FS
	Files *vfs.Cache
	// Random returns a number in [0, n), for the jitter of time-based rolls. Nil
	// means no jitter.
	Random func(n int64) int64

	runs   sync.Pool
	blocks sync.Pool
}

// Config is the part of a topic's configuration that a log obeys. A Config is
// shared by many logs and never changed: SetConfig gives a log another one.
type Config struct {
	SegmentBytes       int   // segment.bytes
	SegmentMs          int64 // segment.ms, or max.compaction.lag.ms if that is less and the topic is compacted
	SegmentJitterMs    int64 // segment.jitter.ms
	IndexBytes         int   // segment.index.bytes
	IndexIntervalBytes int   // index.interval.bytes
	Preallocate        bool  // preallocate
	// ReserveAhead is how many bytes of disk space are kept reserved behind the log's
	// end, so that it can still be written when the disk is full; 0 is none.
	ReserveAhead int64

	// MaxDecompressedBytes bounds what a lookup by timestamp unpacks
	// (max.decompressed.message.bytes).
	MaxDecompressedBytes int
	// ProducerExpirationMs is producer.id.expiration.ms.
	ProducerExpirationMs int64
	// VerifyTransactions says that a batch which begins a transaction needs a guard
	// (transaction.partition.verification.enable).
	VerifyTransactions bool
}

// DefaultConfig returns Kafka's defaults.
func DefaultConfig() *Config {
	return &Config{
		SegmentBytes:         1 << 30,
		SegmentMs:            7 * 24 * 3600 * 1000,
		IndexBytes:           10 << 20,
		IndexIntervalBytes:   4096,
		MaxDecompressedBytes: 1<<31 - 1,
		ProducerExpirationMs: 24 * 3600 * 1000,
	}
}

// Options say which log to open and what is known of it.
type Options struct {
	Env    *Env
	Dir    string // the replica's folder; it is created if it is not there
	Config *Config

	// Now is the wall clock. Segments that have no timestamps count their age
	// from it, and it decides which producers have expired.
	Now kafka.TimestampMs

	// Clean says that the last process to write here closed the log: nothing is
	// scanned.
	Clean bool
	// RecoveryPoint is the checkpointed offset below which everything has been
	// synced, LogStart the checkpointed log start; 0 without a checkpoint.
	RecoveryPoint kafka.Offset
	LogStart      kafka.Offset

	// Gapless says that the offsets of the log have no gaps, as where nothing was
	// ever compacted. Then a gap above the recovery point is a loss like any other:
	// a power cut took a segment and spared the one behind it. The log ends at the
	// gap, so that it is a prefix of what it was and can be filled up from another
	// replica. Without it such a log has a hole that nobody sees, as with Apache.
	Gapless bool

	// Progress, which may be nil, is called as recovery advances.
	Progress func(Progress)
}

// Progress is how far the recovery of a log has come.
type Progress struct {
	Segments, SegmentsDone int
	Bytes, BytesDone       int64
}

// OpenReport says what Open found and did. The owner logs it.
type OpenReport struct {
	SegmentsRecovered int   // scanned whole
	BytesScanned      int64 // while doing so
	IndexesRebuilt    []kafka.Offset
	FilesDeleted      []string // left-overs, orphans, stray producer snapshots
	SwapsFinished     []string // files of an interrupted cleaning that were put in place
	BadSnapshots      []string // producer snapshots that could not be read
	BadEpochs         error    // why the epochs were read from the batches instead
	// ResetTo is set when all segments were removed because they end below the
	// checkpointed log start.
	ResetTo *kafka.Offset
	Cuts    []Cut
	Damages []Damage
}

// Cut is the end of a log that recovery took off: the first bad bytes above the
// recovery point and all that followed.
type Cut struct {
	Segment  kafka.Offset // base offset of the segment that was cut
	Position int64        // where the good bytes end
	Offset   kafka.Offset // the log's new end
	Bytes    int64        // how many were taken off, later segments included
	Reason   string
	// Lost says that whole valid batches were among the bytes: then this was no
	// torn tail, and the owner logs an error. FirstLost and LastLost are their
	// offsets.
	Lost                bool
	FirstLost, LastLost kafka.Offset
	// Kept names the files that hold the bytes taken off. They are kept if valid
	// batches were lost, and if the cut is below the recovery point, where
	// everything had been synced.
	Kept []string
}

// Damage is a range of bad bytes below the recovery point. They were left as they
// are: what follows them is good.
type Damage struct {
	Segment kafka.Offset
	From    int64 // positions in the segment
	To      int64
	// Offsets of the records that cannot be read, [FirstLost, LastLost].
	FirstLost, LastLost kafka.Offset
	Reason              string
}

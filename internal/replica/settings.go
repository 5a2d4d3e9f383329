package replica

import (
	"math"
	"time"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// settings are what a topic's configuration means to its partitions here. They
// are immutable and shared by all of them.
type settings struct {
	topic config.Topic
	log   *commitlog.Config
	rules record.ValidateOptions // what is the same for all requests and partitions

	// flushEach says that an answer waits for its own bytes to be synced
	// (flush.messages=1): then the leader counts only what is synced.
	flushEach bool
}

func newSettings(t config.Topic, p *config.Producers) *settings {
	s := &settings{
		topic: t,
		log: &commitlog.Config{
			SegmentBytes:         t.SegmentBytes,
			SegmentMs:            t.SegmentMs,
			SegmentJitterMs:      t.SegmentJitterMs,
			IndexBytes:           t.SegmentIndexBytes,
			IndexIntervalBytes:   t.IndexIntervalBytes,
			Preallocate:          t.Preallocate,
			MaxDecompressedBytes: t.MaxDecompressedMessageBytes,
			ProducerExpirationMs: p.IDExpiration.Milliseconds(),
			VerifyTransactions:   p.VerifyTransactions,
		},
		rules: record.ValidateOptions{
			Recompress:           recompression(t),
			TimestampBeforeMaxMs: t.MessageTimestampBeforeMaxMs,
			TimestampAfterMaxMs:  t.MessageTimestampAfterMaxMs,
			Compacted:            t.Compact,
			MaxMessageBytes:      t.MaxMessageBytes,
			SegmentBytes:         t.SegmentBytes,
			MaxRecordSize:        t.MaxDecompressedMessageBytes,
		},
		flushEach: t.FlushMessages == 1,
	}
	if t.Compact {
		s.log.SegmentMs = min(s.log.SegmentMs, t.MaxCompactionLagMs)
	}
	if t.LogAppendTime {
		s.rules.TimestampType = record.LogAppendTime
	}
	return s
}

// recompression is compression.type with its level; nil keeps what producers
// chose.
func recompression(t config.Topic) *record.Compression {
	switch t.CompressionType {
	case "producer":
		return nil
	case "gzip":
		return &record.Compression{Codec: record.Gzip, Level: t.CompressionGzipLevel}
	case "snappy":
		return &record.Compression{Codec: record.Snappy}
	case "lz4":
		return &record.Compression{Codec: record.LZ4, Level: t.CompressionLz4Level}
	case "zstd":
		return &record.Compression{Codec: record.Zstd, Level: t.CompressionZstdLevel}
	}
	return &record.Compression{Codec: record.None}
}

// flushDue says whether that many unsynced records are to be synced before the
// append that made them so many is answered.
func (s *settings) flushDue(unflushed kafka.Offset) bool {
	return int64(unflushed) >= s.topic.FlushMessages
}

// flushInterval is flush.ms; ok is false when syncing is left to the system.
func (s *settings) flushInterval() (d time.Duration, ok bool) {
	return s.topic.Flush, s.topic.Flush < time.Duration(math.MaxInt64)
}

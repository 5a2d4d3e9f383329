package config

import "time"

// Topic is the resolved configuration of one topic: what is set on the topic,
// else the broker's synonym, else the default.
//
// Limits that are compared with record timestamps stay in milliseconds, as the
// records have them.
type Topic struct {
	SegmentBytes       int   `key:"segment.bytes"` // internal.segment.bytes goes before it
	SegmentMs          int64 `key:"segment.ms"`
	SegmentJitterMs    int64 `key:"segment.jitter.ms"`
	SegmentIndexBytes  int   `key:"segment.index.bytes"`
	IndexIntervalBytes int   `key:"index.interval.bytes"`
	Preallocate        bool  `key:"preallocate"`

	FlushMessages int64         `key:"flush.messages"`
	Flush         time.Duration `key:"flush.ms"`

	Delete          bool          // cleanup.policy holds "delete"
	Compact         bool          // cleanup.policy holds "compact"
	RetentionBytes  int64         `key:"retention.bytes"` // -1: no limit
	RetentionMs     int64         `key:"retention.ms"`    // -1: no limit
	FileDeleteDelay time.Duration `key:"file.delete.delay.ms"`

	DeleteRetentionMs      int64   `key:"delete.retention.ms"`
	MinCompactionLagMs     int64   `key:"min.compaction.lag.ms"`
	MaxCompactionLagMs     int64   `key:"max.compaction.lag.ms"`
	MinCleanableDirtyRatio float64 `key:"min.cleanable.dirty.ratio"`

	MaxMessageBytes             int    `key:"max.message.bytes"`
	MaxDecompressedMessageBytes int    `key:"max.decompressed.message.bytes"`
	CompressionType             string `key:"compression.type"` // producer, uncompressed, gzip, snappy, lz4, zstd
	CompressionGzipLevel        int    `key:"compression.gzip.level"`
	CompressionLz4Level         int    `key:"compression.lz4.level"`
	CompressionZstdLevel        int    `key:"compression.zstd.level"`

	LogAppendTime               bool  // message.timestamp.type is LogAppendTime
	MessageTimestampBeforeMaxMs int64 `key:"message.timestamp.before.max.ms"`
	MessageTimestampAfterMaxMs  int64 `key:"message.timestamp.after.max.ms"`

	MinInsyncReplicas           int  `key:"min.insync.replicas"`
	UncleanLeaderElectionEnable bool `key:"unclean.leader.election.enable"`

	LeaderThrottledReplicas   []string `key:"leader.replication.throttled.replicas"`
	FollowerThrottledReplicas []string `key:"follower.replication.throttled.replicas"`

	RemoteStorageEnable bool `key:"remote.storage.enable"`
}

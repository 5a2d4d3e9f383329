package config

// topicKeys are the keys of a topic, in the order in which Apache checks them
// (class LogConfig).
func topicKeys() []Key {
	rows := []linkedKey{
		{"segment.bytes", Int, "1073741824", atLeast(1048576), from("log.segment.bytes"), Medium, Honoured, public},
		{"segment.ms", Long, "604800000", atLeast(1), []Link{{"log.roll.ms", 1}, {"log.roll.hours", 3600000}}, Medium, Honoured, public},
		{"segment.jitter.ms", Long, "0", atLeast(0), []Link{{"log.roll.jitter.ms", 1}, {"log.roll.jitter.hours", 3600000}}, Medium, Honoured, public},
		{"segment.index.bytes", Int, "10485760", atLeast(4), from("log.index.size.max.bytes"), Medium, Honoured, public},
		{"flush.messages", Long, "9223372036854775807", atLeast(1), from("log.flush.interval.messages"), Medium, Honoured, public},
		{"flush.ms", Long, "9223372036854775807", atLeast(0), []Link{{"log.flush.interval.ms", 1}, {"log.flush.scheduler.interval.ms", 1}}, Medium, Honoured, public},
		{"retention.bytes", Long, "-1", nil, from("log.retention.bytes"), Medium, Honoured, public},
		{"retention.ms", Long, "604800000", atLeast(-1), []Link{{"log.retention.ms", 1}, {"log.retention.minutes", 60000}, {"log.retention.hours", 3600000}}, Medium, Honoured, public},
		{"max.message.bytes", Int, "1048588", atLeast(0), from("message.max.bytes"), Medium, Honoured, public},
		{"max.decompressed.message.bytes", Int, "2147483639", between(1, 2147483639), from("max.decompressed.message.bytes"), Medium, Honoured, public},
		{"index.interval.bytes", Int, "4096", atLeast(0), from("log.index.interval.bytes"), Medium, Honoured, public},
		{"delete.retention.ms", Long, "86400000", atLeast(0), from("log.cleaner.delete.retention.ms"), Medium, Honoured, public},
		{"min.compaction.lag.ms", Long, "0", atLeast(0), from("log.cleaner.min.compaction.lag.ms"), Medium, Honoured, public},
		{"max.compaction.lag.ms", Long, "9223372036854775807", atLeast(1), from("log.cleaner.max.compaction.lag.ms"), Medium, Honoured, public},
		{"file.delete.delay.ms", Long, "60000", atLeast(0), from("log.segment.delete.delay.ms"), Medium, Honoured, public},
		{"min.cleanable.dirty.ratio", Double, "0.5", between(0, 1), from("log.cleaner.min.cleanable.ratio"), Medium, Honoured, public},
		{"cleanup.policy", List, "delete", listOf("compact", "delete"), from("log.cleanup.policy"), Medium, Honoured, public},
		{"unclean.leader.election.enable", Boolean, "false", nil, from("unclean.leader.election.enable"), Medium, Honoured, public},
		{"min.insync.replicas", Int, "1", atLeast(1), from("min.insync.replicas"), Medium, Honoured, public},
		{"compression.type", String, "producer", oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), from("compression.type"), Medium, Honoured, public},
		{"compression.gzip.level", Int, "-1", gzipLevel(), from("compression.gzip.level"), Medium, Honoured, public},
		{"compression.lz4.level", Int, "9", between(1, 17), from("compression.lz4.level"), Medium, Honoured, public},
		{"compression.zstd.level", Int, "3", between(-131072, 22), from("compression.zstd.level"), Medium, Honoured, public},
		{"preallocate", Boolean, "false", nil, from("log.preallocate"), Medium, Honoured, public},
		{"message.timestamp.type", String, "CreateTime", oneOf("CreateTime", "LogAppendTime"), from("log.message.timestamp.type"), Medium, Honoured, public},
		{"message.timestamp.before.max.ms", Long, "9223372036854775807", atLeast(0), from("log.message.timestamp.before.max.ms"), Medium, Honoured, public},
		{"message.timestamp.after.max.ms", Long, "3600000", atLeast(0), from("log.message.timestamp.after.max.ms"), Medium, Honoured, public},
		{"leader.replication.throttled.replicas", List, "", throttledReplicas(), nil, Medium, needsQuotas, public},
		{"follower.replication.throttled.replicas", List, "", throttledReplicas(), nil, Medium, needsQuotas, public},
		{"remote.storage.enable", Boolean, "false", nil, nil, Medium, needsTiering, public},
		{"local.retention.ms", Long, "-2", atLeast(-2), from("log.local.retention.ms"), Medium, needsTiering, public},
		{"local.retention.bytes", Long, "-2", atLeast(-2), from("log.local.retention.bytes"), Medium, needsTiering, public},
		{"remote.log.copy.disable", Boolean, "false", nil, nil, Medium, needsTiering, public},
		{"remote.copy.lag.ms", Long, "0", atLeast(-1), from("log.remote.copy.lag.ms"), Medium, needsTiering, public},
		{"remote.copy.lag.bytes", Long, "-1", atLeast(-1), from("log.remote.copy.lag.bytes"), Medium, needsTiering, public},
		{"remote.log.delete.on.disable", Boolean, "false", nil, nil, Medium, needsTiering, public},
		{"errors.deadletterqueue.group.enable", Boolean, "false", nil, nil, Medium, needsShareGroups, public},
		{"internal.segment.bytes", Int, null, nil, nil, Medium, Honoured, internal},
	}
	return link(rows)
}

// groupKeys are the keys of a group (class GroupConfig).
func groupKeys() []Key {
	rows := []linkedKey{
		{"consumer.session.timeout.ms", Int, "45000", atLeast(1), from("group.consumer.session.timeout.ms"), Medium, Honoured, public},
		{"consumer.heartbeat.interval.ms", Int, "5000", atLeast(1), from("group.consumer.heartbeat.interval.ms"), Medium, Honoured, public},
		{"consumer.assignment.interval.ms", Int, "1000", atLeast(0), from("group.consumer.assignment.interval.ms"), Medium, Honoured, public},
		{"consumer.assignor.offload.enable", Boolean, "true", nil, from("group.consumer.assignor.offload.enable"), Medium, meaningless, internal},
		{"share.session.timeout.ms", Int, "45000", atLeast(1), from("group.share.session.timeout.ms"), Medium, needsShareGroups, public},
		{"share.heartbeat.interval.ms", Int, "5000", atLeast(1), from("group.share.heartbeat.interval.ms"), Medium, needsShareGroups, public},
		{"share.record.lock.duration.ms", Int, "30000", atLeast(1000), from("group.share.record.lock.duration.ms"), Medium, needsShareGroups, public},
		{"share.delivery.count.limit", Int, "5", atLeast(2), from("group.share.delivery.count.limit"), Medium, needsShareGroups, public},
		{"share.partition.max.record.locks", Int, "2000", atLeast(100), from("group.share.partition.max.record.locks"), Medium, needsShareGroups, public},
		{"share.auto.offset.reset", String, "latest", offsetReset(), nil, Medium, needsShareGroups, public},
		{"share.isolation.level", String, "read_uncommitted", oneOf("read_committed", "read_uncommitted"), nil, Medium, needsShareGroups, public},
		{"share.renew.acknowledge.enable", Boolean, "true", nil, nil, Medium, needsShareGroups, public},
		{"share.assignment.interval.ms", Int, "1000", atLeast(0), from("group.share.assignment.interval.ms"), Medium, needsShareGroups, public},
		{"share.assignor.offload.enable", Boolean, "true", nil, from("group.share.assignor.offload.enable"), Medium, needsShareGroups, internal},
		{"streams.session.timeout.ms", Int, "45000", atLeast(1), from("group.streams.session.timeout.ms"), Medium, needsStreamsGroups, public},
		{"streams.heartbeat.interval.ms", Int, "5000", atLeast(1), from("group.streams.heartbeat.interval.ms"), Medium, needsStreamsGroups, public},
		{"streams.num.standby.replicas", Int, "0", atLeast(0), from("group.streams.num.standby.replicas"), Medium, needsStreamsGroups, public},
		{"streams.initial.rebalance.delay.ms", Int, "3000", atLeast(0), from("group.streams.initial.rebalance.delay.ms"), Medium, needsStreamsGroups, public},
		{"streams.assignment.interval.ms", Int, "1000", atLeast(0), from("group.streams.assignment.interval.ms"), Medium, needsStreamsGroups, public},
		{"streams.assignor.offload.enable", Boolean, "true", nil, from("group.streams.assignor.offload.enable"), Medium, needsStreamsGroups, internal},
		{"streams.task.offset.interval.ms", Int, "60000", atLeast(1), from("group.streams.task.offset.interval.ms"), Medium, needsStreamsGroups, internal},
		{"streams.num.warmup.replicas", Int, "2", atLeast(0), from("group.streams.num.warmup.replicas"), Medium, needsStreamsGroups, internal},
		{"streams.rack.aware.assignment.tags", List, "", anyList(), from("group.streams.rack.aware.assignment.tags"), Low, needsStreamsGroups, public},
		{"streams.acceptable.recovery.lag", Long, "10000", atLeast(0), from("group.streams.acceptable.recovery.lag"), Medium, needsStreamsGroups, internal},
		{"streams.assignor.name", String, null, nil, from("group.streams.assignors"), Medium, needsStreamsGroups, public},
		{"errors.deadletterqueue.topic.name", String, "", nil, nil, Medium, needsShareGroups, public},
		{"errors.deadletterqueue.copy.record.enable", Boolean, "false", nil, nil, Medium, needsShareGroups, public},
	}
	return link(rows)
}

package config

import (
	"fmt"
)

// checkNumbers holds the rules that span several numeric keys (KafkaConfig,
// validateValues), with Apache's texts. Rules of parts that this release does
// not serve come with those parts.
func (b *Broker) checkNumbers(v values, static settings) []error {
	var errs []error
	must := func(key string, holds bool, format string, args ...any) {
		if !holds {
			errs = append(errs, static.at(key, brokenRule{fmt.Errorf(format, args...)}))
		}
	}
	n := &b.Network
	must("max.connections.per.ip", n.MaxConnectionsPerIP > 0 || len(n.MaxConnectionsPerIPOverrides) > 0,
		"max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set.")
	must("queued.max.request.bytes", n.QueuedMaxRequestBytes <= 0 || n.QueuedMaxRequestBytes >= int64(n.SocketRequestMaxBytes),
		"queued.max.request.bytes must be larger or equal to socket.request.max.bytes")
	idle, delay := v.int("connections.max.idle.ms"), v.int("connection.failed.authentication.delay.ms")
	must("connections.max.idle.ms", idle < 0 || delay < idle,
		"connection.failed.authentication.delay.ms=%d should always be less than connections.max.idle.ms=%d to prevent failed authentication responses from timing out", delay, idle)

	roll, jitter, retention := b.linked(topicSet().Lookup("segment.ms")), b.linked(topicSet().Lookup("segment.jitter.ms")), b.linked(topicSet().Lookup("retention.ms"))
	must("log.roll.ms", roll.(int64) >= 1, "log.roll.ms must be greater than or equal to 1")
	must("log.roll.jitter.ms", jitter.(int64) >= 0, "log.roll.jitter.ms must be greater than or equal to 0")
	must("log.retention.ms", retention.(int64) != 0, "log.retention.ms must be unlimited (-1) or, greater than or equal to 1")
	codec := b.InternalTopics.OffsetsCompressionCodec
	must("offsets.topic.compression.codec", codec >= 0 && codec <= 4, "Unknown compression type id: %d", codec)
	must("replica.fetch.wait.max.ms", v.int("replica.fetch.wait.max.ms") <= v.int("replica.lag.time.max.ms"),
		"replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent frequent changes in ISR")
	threads, buffer := v.int("log.cleaner.threads"), v.int("log.cleaner.dedupe.buffer.size")
	must("log.cleaner.dedupe.buffer.size", threads < 1 || buffer/threads > 1<<20, "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.")
	for _, kind := range []string{"consumer", "share", "streams"} {
		interval, most := "group."+kind+".assignment.interval.ms", "group."+kind+".max.assignment.interval.ms"
		if v.int(interval) > v.int(most) {
			errs = append(errs, static.at(interval, fmt.Errorf("%s must be less than or equal to %s", interval, most)))
		}
	}
	return errs
}

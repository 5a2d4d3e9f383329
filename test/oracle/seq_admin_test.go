package oracle

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// adminSequences are changes of configurations of brokers, groups and others, on
// both kinds of listeners.
var adminSequences = []sequence{
	{"admin/broker-names", func(s *Session) {
		c := s.Conn("a")
		for _, name := range []string{"2", "x", "-1", " 1", "1.0", "2147483648", "1 "} {
			c.change("broker:"+name, "+message.max.bytes=5")
			c.change("logger:"+name, "+root=INFO")
			c.change("broker:" + name)
		}
	}},
	{"admin/read-only-keys", func(s *Session) {
		c := s.Conn("a")
		for _, resource := range []string{"broker:1", "broker:"} {
			c.try(resource, "+node.id=7", "+broker.id=7", "+process.roles=broker", "+log.dirs=/x", "+log.dir=/x", "+num.partitions=3", "+auto.create.topics.enable=false", "+log.retention.hours=5",
				"+log.retention.minutes=5", "+log.roll.hours=5", "+delete.topic.enable=false", "+advertised.listeners=PLAINTEXT://h:1", "+broker.rack=r", "+authorizer.class.name=x",
				"+unclean.leader.election.interval.ms=5", "+quota.window.num=5", "+controller.quorum.voters=1@h:1", "+offsets.topic.num.partitions=5", "+fetch.max.bytes=1024",
				"+socket.request.max.bytes=5", "+default.replication.factor=1", "-node.id", "+node.id=x")
		}
	}},
	{"admin/values-of-brokers-refused", func(s *Session) {
		c := s.Conn("a")
		for _, resource := range []string{"broker:1", "broker:"} {
			c.try(resource, "+message.max.bytes=abc", "+message.max.bytes=-1", "+log.segment.bytes=5", "+log.message.timestamp.type=Foo", "+compression.type=x", "+compression.gzip.level=0",
				"+producer.id.expiration.ms=0", "+transaction.partition.verification.enable=x", "+log.message.timestamp.before.max.ms=-1", "+log.index.size.max.bytes=1", "+log.cleanup.policy=x",
				"+max.decompressed.message.bytes=0", "+min.insync.replicas=0", "+log.cleaner.min.cleanable.ratio=2", "+max.connections=-1", "+max.connection.creation.rate=-1",
				"+remote.fetch.max.wait.ms=0", "+group.coordinator.cached.buffer.max.bytes=1", "+follower.replication.throttled.rate=-5", "+leader.replication.throttled.rate=x")
		}
	}},
	{"admin/rules-of-brokers", func(s *Session) {
		c := s.Conn("a")
		for _, resource := range []string{"broker:1", "broker:"} {
			c.try(resource, "+log.retention.ms=0", "+log.roll.ms=0", "+max.connections.per.ip=0", "+log.cleaner.dedupe.buffer.size=1", "+log.cleaner.dedupe.buffer.size=1048576",
				"+group.consumer.assignment.interval.ms=99999999", "+group.share.assignment.interval.ms=99999999", "+group.streams.assignment.interval.ms=99999999",
				"+max.connections=0", "+log.local.retention.ms=999999999999", "+log.local.retention.ms=-1", "+log.remote.copy.lag.ms=999999999999", "+log.local.retention.bytes=5|+log.retention.bytes=4")
		}
	}},
	{"admin/threads", func(s *Session) {
		c := s.Conn("a")
		for _, key := range []string{"num.io.threads", "num.network.threads", "num.replica.fetchers", "num.recovery.threads.per.data.dir", "background.threads", "log.cleaner.threads",
			"remote.log.reader.threads", "remote.log.manager.copier.thread.pool.size", "remote.log.manager.expiration.thread.pool.size", "remote.log.manager.follower.thread.pool.size"} {
			for _, resource := range []string{"broker:1", "broker:"} {
				c.try(resource, "+"+key+"=1000", "+"+key+"=x", "+"+key+"=-1")
			}
		}
		c.try("broker:1", "+num.io.threads=3", "+num.io.threads=1", "+background.threads=4", "+listener.name.plaintext.num.network.threads=100")
		c.change("broker:1", "+num.io.threads=16")
		c.described("broker:1", "16", "num.io.threads")
		c.try("broker:1", "+num.io.threads=33", "+num.io.threads=7")
		c.change("broker:1", "-num.io.threads")
		c.described("broker:1", "", "num.io.threads")
	}},
	{"admin/broker-and-default", func(s *Session) {
		c := s.Conn("a")
		c.change("broker:1", "+message.max.bytes=2000000")
		c.described("broker:1", "2000000", "message.max.bytes")
		c.change("broker:", "+message.max.bytes=3000000", "+log.flush.interval.ms=1000")
		c.described("broker:", "3000000", "message.max.bytes", "log.flush.interval.ms")
		c.described("broker:1", "1000", "log.flush.interval.ms", "message.max.bytes")
		c.change("broker:1", "-message.max.bytes")
		c.described("broker:1", "3000000", "message.max.bytes")
		c.change("broker:", "-message.max.bytes", "-log.flush.interval.ms")
		c.described("broker:1", "", "message.max.bytes", "log.flush.interval.ms")
	}},
	{"admin/lists-of-brokers", func(s *Session) {
		c := s.Conn("a")
		for _, resource := range []string{"broker:1", "broker:"} {
			c.change(resource, "~log.cleanup.policy=compact")
			c.described(resource, "delete,compact", "log.cleanup.policy")
			c.change(resource, "~log.cleanup.policy=compact")
			c.change(resource, "!log.cleanup.policy=compact")
			c.described(resource, "delete", "log.cleanup.policy")
			c.change(resource, "~log.cleanup.policy=bogus")
			c.change(resource, "-log.cleanup.policy")
			c.described(resource, "", "log.cleanup.policy")
		}
	}},
	{"admin/keys-that-nobody-knows", func(s *Session) {
		c := s.Conn("a")
		c.change("broker:1", "+nosuch.key=7", "+super.users=User:x", "+message.max.bytes=2000000")
		c.described("broker:1", "2000000", "message.max.bytes", "nosuch.key", "super.users")
		c.change("broker:1", "-nosuch.key", "-super.users", "-message.max.bytes")
		c.change("broker:", "+nosuch.key=7", "+message.max.bytes=2000000")
		c.described("broker:", "2000000", "message.max.bytes", "nosuch.key")
		c.described("broker:1", "2000000", "message.max.bytes", "nosuch.key")
		c.change("broker:", "-nosuch.key", "-message.max.bytes")
		c.described("broker:1", "", "message.max.bytes", "nosuch.key")
	}},
	{"admin/keys-of-a-listener", func(s *Session) {
		c := s.Conn("a")
		c.change("broker:1", "+listener.name.plaintext.max.connections=500", "+listener.name.nosuch.max.connections=400", "+message.max.bytes=2000000")
		c.described("broker:1", "2000000", "message.max.bytes", "listener.name.plaintext.max.connections", "listener.name.nosuch.max.connections", "max.connections")
		c.change("broker:1", "-listener.name.plaintext.max.connections", "-listener.name.nosuch.max.connections")
		c.change("broker:", "+listener.name.plaintext.max.connections=500", "+message.max.bytes=3000000")
		c.described("broker:", "3000000", "message.max.bytes", "listener.name.plaintext.max.connections")
		c.change("broker:", "-listener.name.plaintext.max.connections", "-message.max.bytes")
		c.change("broker:1", "-message.max.bytes")
		c.described("broker:1", "", "message.max.bytes", "listener.name.plaintext.max.connections")
		c.try("broker:1", "+listener.name.plaintext.max.connections=x", "+listener.name.plaintext.max.connections=0", "+listener.name.plaintext.max.connections=-1",
			"+listener.name.plaintext.max.connection.creation.rate=x", "+listener.name.plaintext.message.max.bytes=x", "+listener.name.plaintext.ssl.client.auth=x")
	}},
	{"admin/keys-of-security", func(s *Session) {
		c := s.Conn("a")
		for _, resource := range []string{"broker:1", "broker:"} {
			c.try(resource, "+ssl.keystore.location=x", "+ssl.keystore.password=x", "+ssl.truststore.location=x", "+ssl.key.password=x")
		}
		c.try("broker:", "+ssl.client.auth=required", "+sasl.jaas.config=x", "+sasl.enabled.mechanisms=PLAIN")
		c.try("broker:1", "+ssl.client.auth=required", "-ssl.client.auth", "+sasl.enabled.mechanisms=PLAIN", "-sasl.enabled.mechanisms")
		c.try("broker:", "+listener.name.plaintext.ssl.keystore.location=x", "+listener.name.plaintext.sasl.enabled.mechanisms=PLAIN", "+message.max.bytes=x|+ssl.keystore.location=x")
		c.change("broker:1", "+listener.name.plaintext.ssl.keystore.password=secret", "+listener.name.plaintext.ssl.keystore.location=/x", "+listener.name.plaintext.plain.sasl.jaas.config=x", "+message.max.bytes=2000000")
		c.described("broker:1", "2000000", "message.max.bytes", "listener.name.plaintext.ssl.keystore.password", "listener.name.plaintext.ssl.keystore.location", "listener.name.plaintext.plain.sasl.jaas.config")
		c.change("broker:1", "-listener.name.plaintext.ssl.keystore.password", "-listener.name.plaintext.ssl.keystore.location", "-listener.name.plaintext.plain.sasl.jaas.config", "-message.max.bytes")
		c.described("broker:1", "", "message.max.bytes")
	}},
	{"admin/keys-of-one-broker", func(s *Session) {
		c := s.Conn("a")
		c.try("broker:", "+listeners=x", "+listener.security.protocol.map=x", "+cordoned.log.dirs=*", "+principal.builder.class=org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder")
		c.try("broker:1", "+cordoned.log.dirs=/nosuch", "+cordoned.log.dirs=*,/nosuch", "+listeners=X://127.0.0.1:1")
		c.change("broker:1", "+cordoned.log.dirs=*")
		c.described("broker:1", "*", "cordoned.log.dirs")
		c.change("broker:1", "-cordoned.log.dirs")
		c.described("broker:1", "", "cordoned.log.dirs")
	}},
	{"admin/cordoned-broker-gets-no-partitions", func(s *Session) {
		c := s.Conn("a")
		c.change("broker:1", "+cordoned.log.dirs=*")
		c.described("broker:1", "*", "cordoned.log.dirs")
		refused := func(want bool) {
			r := createTopics(7, newTopic(s.Topic("dry"), 1, 1))
			r.ValidateOnly = true
			c.until(func() bool {
				return (c.Ask(r).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode != 0) == want
			})
		}
		refused(true)
		c.Send(createTopics(7, newTopic(s.Topic("t"), 1, 1)))
		c.change("broker:1", "-cordoned.log.dirs")
		refused(false)
		c.topic("t", 1)
	}},
	{"admin/min-isr-with-elr", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.try("broker:1", "+min.insync.replicas=2", "-min.insync.replicas")
		c.try("broker:", "-min.insync.replicas", "+min.insync.replicas=2")
		c.described(t, "2", "min.insync.replicas")
		c.try(t, "+min.insync.replicas=3", "-min.insync.replicas")
		c.Send(replacing(2, "broker:"))
		c.change("broker:", "+min.insync.replicas=1")
		c.described(t, "1", "min.insync.replicas")
	}},

	{"admin/client-metrics", func(s *Session) {
		c := s.Conn("a")
		m := "metrics:" + s.Topic("m")
		c.change(m, "+interval.ms=100", "+metrics=a,b,a", "+match=client_id=a.*,client_software_name=x")
		c.described(m, "100", "interval.ms", "metrics", "match")
		c.change(m, "-metrics", "+interval.ms=3600000", "+match=")
		c.described(m, "3600000", "interval.ms", "metrics", "match")
		for version := int16(0); version <= 1; version++ {
			c.Send(listResources(version, 16))
		}
		c.change(m, "-interval.ms", "-match")
		c.described(m, "", "interval.ms", "metrics", "match")
		c.Send(listResources(1, 16))
	}},
	{"admin/client-metrics-refused", func(s *Session) {
		c := s.Conn("a")
		c.change("metrics:", "+interval.ms=100")
		c.change("metrics:")
		c.change("metrics:", "+nosuch=1")
		c.try("metrics:m", "+interval.ms=1", "+interval.ms=99", "+interval.ms=3600001", "+interval.ms=x", "+interval.ms=", "+nosuch=1", "+nosuch=1|+interval.ms=x", "+interval.ms=x|+match=y", "+match=y|+interval.ms=5")
	}},
	{"admin/client-metrics-matches", func(s *Session) {
		c := s.Conn("a")
		m := "metrics:" + s.Topic("m")
		c.try(m, "+match=x", "+match=client_id=(", "+match=client_id=[a", "+match=client_id=", "+match=client_id=a=b", "+match=client_id==a", "+match=nosuch=b", "+match=client_id=a,bogus", "+match=CLIENT_ID=a",
			"+match=client_id=a,client_id=b", "+match=client_id=a,client_id=a", "+match= client_id = a", "+match=client_instance_id=x,client_software_version=b,client_source_address=c,client_source_port=5", "-match")
	}},
	{"admin/groups", func(s *Session) {
		c := s.Conn("a")
		g := "group:" + s.Topic("g")
		c.described(g, "", "consumer.session.timeout.ms", "share.auto.offset.reset", "streams.assignor.name", "errors.deadletterqueue.topic.name")
		c.change(g, "+consumer.session.timeout.ms=46000", "+share.auto.offset.reset=by_duration:PT1H", "+streams.assignor.name=sticky", "+streams.rack.aware.assignment.tags=a,b")
		c.described(g, "46000", "consumer.session.timeout.ms", "share.auto.offset.reset", "streams.assignor.name", "streams.rack.aware.assignment.tags")
		c.change(g, "-consumer.session.timeout.ms", "-share.auto.offset.reset", "-streams.assignor.name", "-streams.rack.aware.assignment.tags")
		c.described(g, "", "consumer.session.timeout.ms", "share.auto.offset.reset")
	}},
	{"admin/groups-described", func(s *Session) {
		c := s.Conn("a")
		for version := int16(1); version <= 4; version++ {
			for _, synonyms := range []bool{false, true} {
				r := describeConfigs(version, configResource(kmsg.ConfigResourceTypeGroupConfig, "nosuch"), configResource(kmsg.ConfigResourceTypeClientMetrics, "nosuch"))
				r.IncludeSynonyms = synonyms
				c.Send(r)
			}
		}
		for _, kind := range []string{"group:", "metrics:", "topic:", "logger:", "logger:2", "logger:x", "broker:x", "broker:2"} {
			k, name := configResourceOf(kind)
			c.Say("%s", kind).Send(describeConfigs(4, configResource(k, name, "nosuch")))
		}
	}},
	{"admin/limits-of-groups", func(s *Session) {
		c := s.Conn("a")
		g := "group:" + s.Topic("g")
		for _, key := range []string{"consumer.session.timeout.ms", "consumer.heartbeat.interval.ms", "consumer.assignment.interval.ms", "share.session.timeout.ms", "share.heartbeat.interval.ms",
			"share.record.lock.duration.ms", "share.delivery.count.limit", "share.partition.max.record.locks", "share.assignment.interval.ms", "streams.session.timeout.ms", "streams.heartbeat.interval.ms",
			"streams.num.standby.replicas", "streams.assignment.interval.ms", "streams.num.warmup.replicas", "streams.initial.rebalance.delay.ms"} {
			c.try(g, "+"+key+"=-1", "+"+key+"=0", "+"+key+"=1", "+"+key+"=100000000", "+"+key+"=x", "-"+key)
		}
	}},
	{"admin/values-of-groups", func(s *Session) {
		c := s.Conn("a")
		g := "group:" + s.Topic("g")
		c.try(g, "+share.auto.offset.reset=none", "+share.auto.offset.reset=earliest", "+share.auto.offset.reset=EARLIEST", "+share.auto.offset.reset=by_duration:x", "+share.auto.offset.reset=by_duration:-PT1H",
			"+share.auto.offset.reset=by_duration:P", "+share.auto.offset.reset=by_duration:P1D", "+share.auto.offset.reset=by_duration:p1dt2h3m4.5s", "+share.auto.offset.reset=BY_DURATION:P1D",
			"+share.isolation.level=x", "+share.isolation.level=read_committed", "+share.renew.acknowledge.enable=7", "+consumer.assignor.offload.enable=x", "+streams.assignor.name=nosuch", "+streams.assignor.name=",
			"+streams.rack.aware.assignment.tags=a,a", "+streams.rack.aware.assignment.tags=a,,b", "+streams.rack.aware.assignment.tags=", "+streams.acceptable.recovery.lag=-1", "+streams.task.offset.interval.ms=1",
			"+errors.deadletterqueue.topic.name=__x", "+errors.deadletterqueue.topic.name=a b", "+errors.deadletterqueue.copy.record.enable=1")
		c.Send(replacing(2, g))
	}},
	{"admin/groups-refused", func(s *Session) {
		c := s.Conn("a")
		c.change("group:", "+consumer.session.timeout.ms=46000")
		c.change("group:")
		c.change("group:", "+nosuch=1")
		c.try("group:g", "+nosuch=1", "+nosuch=1|+consumer.session.timeout.ms=x", "+group.consumer.session.timeout.ms=1", "-nosuch")
	}},

	{"admin/loggers", func(s *Session) {
		c := s.Conn("a")
		c.change("logger:1", "+root=WARN")
		c.Say("root").Send(describeConfigs(4, configResource(kmsg.ConfigResourceTypeBrokerLogger, "1", "root")))
		c.change("logger:1", "+root=INFO")
		for version := int16(1); version <= 4; version++ {
			r := describeConfigs(version, configResource(kmsg.ConfigResourceTypeBrokerLogger, "1", "root", "nosuch"))
			r.IncludeSynonyms = true
			c.Send(r)
		}
	}},
	{"admin/loggers-refused", func(s *Session) {
		c := s.Conn("a")
		c.try("logger:1", "-root", "+nosuch=INFO", "-nosuch", "+root=info", "+root=OFF", "+root=", "+root= INFO", "+root=FOO", "+=INFO", "+root=INFO|+nosuch=INFO", "~root=INFO", "!root=INFO", "~nosuch=INFO", "+root=ALL")
		c.change("logger:", "+root=INFO")
		c.change("logger:", "-root")
	}},

	{"admin/list-resources", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1).name
		c.change("group:"+s.Topic("g"), "+consumer.session.timeout.ms=46000")
		c.described("group:"+s.Topic("g"), "46000", "consumer.session.timeout.ms")
		for _, kinds := range [][]int8{{8}, {4}, {4, 8}, {8, 4, 4}} {
			c.Say("%v", kinds).Send(listResources(1, kinds...))
		}
		for _, kinds := range [][]int8{{}, {2}, {32}, {2, 32, 16}} {
			r := c.Ask(listResources(1, kinds...)).(*kmsg.ListConfigResourcesResponse)
			mine := func(row kmsg.ListConfigResourcesResponseConfigResource) bool {
				return row.Name == t || strings.HasPrefix(row.Name, s.Name)
			}
			rows := slices.DeleteFunc(r.ConfigResources, func(row kmsg.ListConfigResourcesResponseConfigResource) bool { return !mine(row) })
			for _, row := range rows {
				s.Note("%v lists %d:%s", kinds, row.Type, row.Name)
			}
			s.Note("%v: error %d", kinds, r.ErrorCode)
		}
		c.change("group:"+s.Topic("g"), "-consumer.session.timeout.ms")
	}},
	{"admin/list-resources-refused", func(s *Session) {
		c := s.Conn("a")
		for _, kinds := range [][]int8{{0}, {1}, {3}, {64}, {99}, {-1}, {2, 99}, {99, 2}} {
			c.Say("%v", kinds).Send(listResources(1, kinds...))
		}
	}},

	{"admin/controller-alters", func(s *Session) {
		c, b := s.Controller("controller"), s.Conn("a")
		t := "topic:" + b.topic("t", 1).name
		for version := int16(0); version <= 1; version++ {
			c.Send(incremental(version))
			c.Send(incremental(version, t, "+retention.ms=5000"))
			b.described(t, "5000", "retention.ms")
			c.Say("a null deletes").Send(incremental(version, t, "+retention.ms"))
			b.described(t, "", "retention.ms")
			c.Say("the last one counts").Send(incremental(version, t, "+retention.ms=5", "+retention.ms=6"))
			b.described(t, "6", "retention.ms")
			c.Send(incremental(version, t, "-retention.ms"))
			b.described(t, "", "retention.ms")
		}
		for version := int16(0); version <= 2; version++ {
			c.Send(replacing(version, t, "+retention.ms=7"))
			b.described(t, "7", "retention.ms")
			c.Send(replacing(version, t))
			b.described(t, "", "retention.ms")
		}
	}},
	{"admin/controller-refuses", func(s *Session) {
		c, b := s.Controller("controller"), s.Conn("a")
		t := "topic:" + b.topic("t", 1).name
		c.change("topic:nosuch", "+retention.ms=5")
		c.change("topic:nosuch", "+retention.ms=x")
		c.change("topic:", "+retention.ms=5")
		c.change("topic:a b", "+retention.ms=5")
		c.try(t, "+nosuch=1", "+retention.ms=x", "~retention.ms=5", "~cleanup.policy=bogus", "!nosuch=1")
		c.change(t, t)
		c.change("group:", "+a=1")
		c.try("group:g", "+nosuch=1", "+consumer.session.timeout.ms=1", "+consumer.session.timeout.ms", "~streams.rack.aware.assignment.tags=a")
		c.change("metrics:")
		c.try("metrics:m", "+interval.ms=1", "+interval.ms")
		for _, kind := range []string{"0:x", "1:x", "99:x", "-1:x"} {
			c.change(kind, "+a=1")
			c.Send(replacing(2, kind))
		}
		c.Send(replacing(2, "logger:1", "+root=INFO"))
		c.Send(replacing(2, t, t))
		r := replacing(2, t, "+retention.ms=x")
		r.ValidateOnly = true
		c.Send(r)
	}},
	{"admin/controller-and-brokers", func(s *Session) {
		c, b := s.Controller("controller"), s.Conn("a")
		for _, name := range []string{"7", "x", "-1", "3000000000", "07", " 1"} {
			c.change("broker:"+name, "+message.max.bytes=5")
			c.change("broker:"+name, "-message.max.bytes")
			c.change("broker:"+name, "~message.max.bytes=5")
			c.change("broker:" + name)
		}
		c.Say("brokers look at the values").Send(incremental(1, "broker:1", "+message.max.bytes=x"))
		c.change("broker:1", "+node.id=9", "+message.max.bytes=2000000", "+nosuch.key=1")
		b.described("broker:1", "2000000", "message.max.bytes", "node.id", "nosuch.key")
		c.change("broker:1", "-node.id", "-message.max.bytes", "-nosuch.key")
		b.described("broker:1", "", "message.max.bytes", "node.id", "nosuch.key")
		c.try("broker:1", "~nosuch=a", "!message.max.bytes=5")
	}},
	{"admin/controller-and-min-isr", func(s *Session) {
		c := s.Controller("controller")
		c.try("broker:1", "+min.insync.replicas=2", "-min.insync.replicas")
		c.try("broker:7", "+min.insync.replicas=2")
		c.try("broker:", "-min.insync.replicas", "+min.insync.replicas=1")
		c.Send(replacing(2, "broker:"))
	}},
	{"admin/controller-and-directories", func(s *Session) {
		c, b := s.Controller("controller"), s.Conn("a")
		c.try("broker:1", "+cordoned.log.dirs=*", "+cordoned.log.dirs=/x", "+cordoned.log.dirs=", "-cordoned.log.dirs")
		c.try("broker:", "+cordoned.log.dirs=*")
		c.try("broker:7", "+cordoned.log.dirs=*")
		b.change("broker:1", "+cordoned.log.dirs=*")
		b.described("broker:1", "*", "cordoned.log.dirs")
		c.try("broker:1", "+cordoned.log.dirs=*", "-cordoned.log.dirs")
		b.described("broker:1", "", "cordoned.log.dirs")
	}},
	{"admin/controller-and-loggers", func(s *Session) {
		c := s.Controller("controller")
		c.try("logger:1", "+root=INFO", "+nosuch=INFO", "-root", "-nosuch", "+root=x", "+root=INFO|+root=INFO", "~root=INFO")
		c.change("logger:2", "+root=INFO")
		c.change("logger:x", "+root=INFO")
		c.change("logger:", "+root=INFO")
	}},
	{"admin/controller-describes", func(s *Session) {
		c, b := s.Controller("controller"), s.Conn("a")
		t := b.topic("t", 1, "retention.ms", "5000").name
		for version := int16(1); version <= 4; version++ {
			r := describeConfigs(version, configResource(kmsg.ConfigResourceTypeTopic, t))
			r.IncludeSynonyms = true
			c.Send(r)
			c.Send(describeConfigs(version, configResource(kmsg.ConfigResourceTypeBroker, "1", "node.id", "num.partitions", "message.max.bytes")))
		}
		for _, kind := range []string{"broker:", "broker:2", "broker:x", "topic:nosuch", "topic:", "group:g", "group:", "metrics:m", "metrics:", "logger:", "logger:2", "99:x"} {
			k, name := configResourceOf(kind)
			c.Say("%s", kind).Send(describeConfigs(4, configResource(k, name, "min.insync.replicas", "interval.ms", "consumer.session.timeout.ms")))
		}
	}},
}

// listResources is a ListConfigResources; version 0 has no kinds.
func listResources(version int16, kinds ...int8) *kmsg.ListConfigResourcesRequest {
	r := At(version, kmsg.NewPtrListConfigResourcesRequest())
	r.ResourceTypes = kinds
	return r
}

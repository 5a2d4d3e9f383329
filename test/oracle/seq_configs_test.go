package oracle

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The kinds of resources that have configurations, as sequences name them.
var configKinds = map[string]kmsg.ConfigResourceType{
	"topic": kmsg.ConfigResourceTypeTopic, "broker": kmsg.ConfigResourceTypeBroker, "logger": kmsg.ConfigResourceTypeBrokerLogger,
	"metrics": kmsg.ConfigResourceTypeClientMetrics, "group": kmsg.ConfigResourceTypeGroupConfig,
}

// configResourceOf reads "kind:name", where kind may be a number.
func configResourceOf(word string) (kmsg.ConfigResourceType, string) {
	kind, name, _ := strings.Cut(word, ":")
	if k, ok := configKinds[kind]; ok {
		return k, name
	}
	var n int8
	if _, err := fmt.Sscan(kind, &n); err != nil {
		check(err)
	}
	return kmsg.ConfigResourceType(n), name
}

// incremental makes a request of resources, "kind:name", each with what follows it:
// "+key=value" sets, "-key" deletes, "~key=item" appends, "!key=item" subtracts; a
// key without "=" has no value.
func incremental(version int16, words ...string) *kmsg.IncrementalAlterConfigsRequest {
	r := At(version, kmsg.NewPtrIncrementalAlterConfigsRequest())
	for _, w := range words {
		op := strings.IndexByte("+-~!", w[0])
		if op < 0 || strings.HasPrefix(w, "-1:") {
			rr := kmsg.NewIncrementalAlterConfigsRequestResource()
			rr.ResourceType, rr.ResourceName = configResourceOf(w)
			r.Resources = append(r.Resources, rr)
			continue
		}
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		key, value, set := strings.Cut(w[1:], "=")
		c.Name, c.Op = key, kmsg.IncrementalAlterConfigOp(op)
		if set {
			c.Value = &value
		}
		last := &r.Resources[len(r.Resources)-1]
		last.Configs = append(last.Configs, c)
	}
	return r
}

// replacing makes an AlterConfigs in the same way; there is only "+".
func replacing(version int16, words ...string) *kmsg.AlterConfigsRequest {
	r := At(version, kmsg.NewPtrAlterConfigsRequest())
	for _, w := range words {
		if w[0] != '+' {
			rr := kmsg.NewAlterConfigsRequestResource()
			rr.ResourceType, rr.ResourceName = configResourceOf(w)
			r.Resources = append(r.Resources, rr)
			continue
		}
		c := kmsg.NewAlterConfigsRequestResourceConfig()
		key, value, set := strings.Cut(w[1:], "=")
		c.Name = key
		if set {
			c.Value = &value
		}
		last := &r.Resources[len(r.Resources)-1]
		last.Configs = append(last.Configs, c)
	}
	return r
}

// change sends an incremental change of one resource, which is remarked.
func (c *Conn) change(words ...string) {
	c.Say("%s", strings.Join(words, " ")).Send(incremental(1, words...))
}

// try sends each change by itself.
func (c *Conn) try(resource string, changes ...string) {
	for _, change := range changes {
		c.change(append([]string{resource}, strings.Split(change, "|")...)...)
	}
}

// until waits for a condition.
func (c *Conn) until(holds func() bool) {
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			check(fmt.Errorf("%s: it does not come to pass", c.label))
		}
	}
}

// described asks for keys of a resource until the first of them has a value, "" for
// what holds while nothing is set: answers come before the nodes have taken the
// change over.
func (c *Conn) described(resource, value string, keys ...string) {
	kind, name := configResourceOf(resource)
	r := describeConfigs(4, configResource(kind, name, keys...))
	r.IncludeSynonyms = true
	c.until(func() bool {
		now := ""
		for _, row := range c.Ask(r).(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
			if row.Name == keys[0] && !unsetSource(row.Source) && row.Value != nil {
				now = *row.Value
			}
		}
		return now == value
	})
	c.Say("%s %v", resource, keys).Send(r)
}

// unsetSource says whether a value is what holds while nothing is set by clients.
func unsetSource(s kmsg.ConfigSource) bool {
	return s == kmsg.ConfigSourceStaticBrokerConfig || s == kmsg.ConfigSourceDefaultConfig
}

// configSequences are changes of configurations.
var configSequences = []sequence{
	{"configs/alter-a-topic", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		for version := int16(0); version <= 1; version++ {
			c.Send(incremental(version, t, "+retention.ms=5000", "+segment.bytes=2000000"))
			c.described(t, "5000", "retention.ms", "segment.bytes", "segment.ms")
			c.Send(incremental(version, t, "-retention.ms", "-segment.bytes"))
			c.described(t, "", "retention.ms", "segment.bytes")
		}
	}},
	{"configs/alter-nothing", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		for version := int16(0); version <= 1; version++ {
			c.Send(incremental(version))
			c.Send(incremental(version, t))
			c.Send(incremental(version, t, "-retention.ms"))
			c.Send(incremental(version, "broker:1"))
			c.Send(incremental(version, "broker:"))
			c.Send(incremental(version, "logger:1"))
			c.Send(incremental(version, "group:g"))
			c.Send(incremental(version, "metrics:m"))
		}
		for version := int16(0); version <= 2; version++ {
			c.Send(replacing(version))
			c.Send(replacing(version, t))
		}
	}},
	{"configs/keys-twice-and-nulls", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.try(t, "+retention.ms=5|+retention.ms=6", "+retention.ms=5|-retention.ms", "+retention.ms", "+retention.ms|+segment.ms", "-retention.ms=5", "~cleanup.policy", "!cleanup.policy", "+nosuch")
		c.try("broker:1", "+message.max.bytes", "+message.max.bytes=5|+message.max.bytes=6")
		c.try("group:g", "+consumer.session.timeout.ms", "+nosuch=1|+nosuch=2")
		c.try("metrics:m", "+interval.ms")
		c.try("logger:1", "+root")
		for version := int16(0); version <= 2; version++ {
			c.Send(replacing(version, t, "+retention.ms"))
			c.Send(replacing(version, t, "+retention.ms=5", "+retention.ms=6"))
		}
	}},
	{"configs/resources-twice", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.change(t, t)
		c.change(t, "+retention.ms=5", t, "+segment.ms=6")
		c.change("topic:nosuch", t, "+segment.ms=6000", "topic:nosuch")
		c.described(t, "6000", "segment.ms", "retention.ms")
		c.change("broker:1", "broker:1")
		c.change("logger:1", "+root=INFO", "logger:1")
	}},
	{"configs/appended-and-subtracted", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.change(t, "~cleanup.policy=compact")
		c.described(t, "delete,compact", "cleanup.policy")
		c.change(t, "~cleanup.policy=compact,delete")
		c.change(t, "!cleanup.policy=delete,nosuch")
		c.described(t, "compact", "cleanup.policy")
		c.change(t, "!cleanup.policy=compact")
		c.change(t, "~cleanup.policy=delete")
		c.described(t, "delete", "cleanup.policy")
		c.change(t, "~follower.replication.throttled.replicas=0:1,0:1")
		c.described(t, "0:1", "follower.replication.throttled.replicas")
		c.change(t, "~follower.replication.throttled.replicas=0:2")
		c.described(t, "0:1,0:2", "follower.replication.throttled.replicas")
		c.change(t, "!follower.replication.throttled.replicas=0:1,0:2")
		c.described(t, "", "follower.replication.throttled.replicas")
	}},
	{"configs/lists-with-blanks", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.change(t, "+cleanup.policy=compact, delete")
		c.described(t, "compact,delete", "cleanup.policy")
		c.change(t, "!cleanup.policy=delete")
		c.change(t, "!cleanup.policy= delete")
		c.described(t, "compact", "cleanup.policy")
		c.try(t, "~cleanup.policy=", "~cleanup.policy=bogus", "~cleanup.policy= compact ", "+cleanup.policy=,", "+cleanup.policy=delete,,compact")
	}},
	{"configs/lists-that-are-none", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.try(t, "~retention.ms=5", "!retention.ms=5", "~nosuch=1", "!nosuch=1", "~compression.type=gzip", "~retention.ms=x|+segment.ms=y")
		c.try("broker:1", "~message.max.bytes=5", "!message.max.bytes=5", "~nosuch=5", "!nosuch=5")
		c.try("broker:", "~message.max.bytes=5", "!nosuch=5")
		c.try("group:g", "~nosuch=a", "~streams.rack.aware.assignment.tags=a", "!consumer.session.timeout.ms=1")
		c.try("metrics:m", "~metrics=a", "!match=a", "~interval.ms=5")
		c.try("logger:1", "~root=INFO", "!root=INFO")
	}},
	{"configs/values-of-topics-refused", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.try(t, "+retention.ms=x", "+retention.ms=-2", "+segment.bytes=1", "+segment.bytes=14", "+max.message.bytes=-1", "+compression.type=lzma", "+message.timestamp.type=Never",
			"+cleanup.policy=keep", "+min.cleanable.dirty.ratio=2", "+unclean.leader.election.enable=maybe", "+min.insync.replicas=0", "+flush.messages=0", "+flush.ms=-1",
			"+leader.replication.throttled.replicas=a", "+compression.gzip.level=10", "+compression.lz4.level=0", "+compression.zstd.level=23", "+segment.ms=0", "+max.compaction.lag.ms=0",
			"+local.retention.ms=-3", "+nosuch=1", "+=1", "+retention.ms=x|+nosuch=1", "+Retention.ms=1", "+log.retention.ms=1", "+message.max.bytes=1")
	}},
	{"configs/rules-of-topics", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.try(t, "+min.compaction.lag.ms=100|+max.compaction.lag.ms=50", "+max.compaction.lag.ms=50", "+min.compaction.lag.ms=100", "+min.compaction.lag.ms=40")
		c.try(t, "+remote.storage.enable=true", "+remote.log.copy.disable=true", "+remote.log.delete.on.disable=true", "+local.retention.ms=5", "+retention.ms=4", "+remote.copy.lag.ms=9")
	}},
	{"configs/hidden-keys-of-topics", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.change(t, "+internal.segment.bytes=1000000")
		c.described(t, "1000000", "internal.segment.bytes", "segment.bytes")
		c.change(t, "-internal.segment.bytes")
		c.described(t, "", "internal.segment.bytes")
	}},
	{"configs/topics-that-are-not-there", func(s *Session) {
		c := s.Conn("a")
		for _, name := range append([]string{s.Topic("nosuch"), "__cluster_metadata", "__consumer_offsets_"}, invalidNames...) {
			c.Say("%.30q", name).Send(incremental(1, "topic:"+name, "+retention.ms=5"))
			c.Say("%.30q, bad value", name).Send(incremental(1, "topic:"+name, "+retention.ms=x"))
			c.Say("%.30q, no list", name).Send(incremental(1, "topic:"+name, "~retention.ms=5"))
			c.Say("%.30q, replaced", name).Send(replacing(2, "topic:"+name))
		}
	}},
	{"configs/values-are-kept-as-they-come", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		c.change(t, "+retention.ms= 5 ", "+unclean.leader.election.enable=TRUE", "+min.cleanable.dirty.ratio=1")
		c.described(t, "5", "retention.ms", "unclean.leader.election.enable", "min.cleanable.dirty.ratio")
		c.change(t, "+retention.ms=+7")
		c.described(t, "7", "retention.ms")
	}},
	{"configs/several-resources-at-once", func(s *Session) {
		c := s.Conn("a")
		a, b := "topic:"+c.topic("a", 1).name, "topic:"+c.topic("b", 1).name
		c.change(a, "+retention.ms=5", "topic:nosuch", "+retention.ms=6", b, "+segment.ms=x", "broker:1", "+node.id=5", "99:x", "logger:1", "+nosuch=INFO")
		c.described(a, "5", "retention.ms")
		c.Send(replacing(2, a, "+segment.ms=5", "topic:nosuch", "99:x", "logger:1", b))
		c.described(a, "", "retention.ms")
		c.described(a, "5", "segment.ms")
	}},
	{"configs/validate-only", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1).name
		dry := func(words ...string) {
			r := incremental(1, words...)
			r.ValidateOnly = true
			c.Say("%s", strings.Join(words, " ")).Send(r)
		}
		dry(t, "+retention.ms=5")
		dry(t, "+retention.ms=x")
		dry(t, "~retention.ms=5")
		dry("topic:nosuch", "+retention.ms=5")
		dry("broker:1", "+message.max.bytes=5")
		dry("broker:1", "+node.id=5")
		dry("broker:", "-min.insync.replicas")
		dry("logger:1", "+root=DEBUG")
		dry("logger:1", "+nosuch=INFO")
		dry("group:g", "+consumer.session.timeout.ms=1")
		dry("metrics:m", "+interval.ms=1")
		for version := int16(0); version <= 2; version++ {
			r := replacing(version, t, "+retention.ms=5")
			r.ValidateOnly = true
			c.Send(r)
			r = replacing(version, t, "+retention.ms=x")
			r.ValidateOnly = true
			c.Send(r)
		}
		c.change(t, "+segment.ms=6000")
		c.described(t, "6000", "segment.ms", "retention.ms")
	}},
	{"configs/replaced", func(s *Session) {
		c := s.Conn("a")
		t := "topic:" + c.topic("t", 1, "retention.ms", "1000", "segment.ms", "2000").name
		for version := int16(0); version <= 2; version++ {
			c.Send(replacing(version, t, "+retention.ms=5000", "+retention.bytes=9"))
			c.described(t, "5000", "retention.ms", "retention.bytes", "segment.ms")
			c.Send(replacing(version, t, "+retention.bytes=8"))
			c.described(t, "", "retention.ms", "retention.bytes", "segment.ms")
			c.Send(replacing(version, t, "+retention.ms=x"))
			c.Send(replacing(version, t, "+nosuch=x"))
			c.Send(replacing(version, t))
			c.described(t, "", "retention.bytes")
		}
	}},
	{"configs/replaced-of-others", func(s *Session) {
		c := s.Conn("a")
		for version := int16(0); version <= 2; version++ {
			for _, words := range [][]string{{"99:x"}, {"0:x"}, {"1:x"}, {"logger:1", "+root=INFO"}, {"group:", "+a=1"}, {"group:g", "+nosuch=1"}, {"metrics:"}, {"metrics:m", "+interval.ms=1"},
				{"broker:2"}, {"broker:x"}, {"broker:1", "+node.id=5"}, {"broker:1", "+node.id"}, {"broker:", "+ssl.keystore.location=x"}, {"topic:"}} {
				c.Say("%s", strings.Join(words, " ")).Send(replacing(version, words...))
			}
		}
	}},
	{"configs/kinds-that-are-none", func(s *Session) {
		c := s.Conn("a")
		for version := int16(0); version <= 1; version++ {
			for _, kind := range []string{"0:x", "1:x", "3:x", "5:", "64:x", "99:x", "-1:x"} {
				c.Say("%s", kind).Send(incremental(version, kind, "+a=1"))
				c.Say("%s, nothing", kind).Send(incremental(version, kind))
			}
		}
	}},
	{"configs/new-topics-have-what-brokers-have", func(s *Session) {
		c := s.Conn("a")
		c.change("broker:", "+log.segment.bytes=3000000")
		c.described("broker:", "3000000", "log.segment.bytes")
		c.described("broker:1", "3000000", "log.segment.bytes")
		t := "topic:" + c.topic("t", 1).name
		c.described(t, "3000000", "segment.bytes")
		c.change("broker:1", "+log.segment.bytes=4000000")
		c.described(t, "4000000", "segment.bytes")
		c.change(t, "+segment.bytes=5000000")
		c.described(t, "5000000", "segment.bytes")
		c.change("broker:1", "-log.segment.bytes")
		c.change("broker:", "-log.segment.bytes")
		c.described("broker:1", "", "log.segment.bytes")
		c.change(t, "-segment.bytes")
		c.described(t, "", "segment.bytes")
	}},
}

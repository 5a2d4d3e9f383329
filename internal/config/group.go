package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// GroupSources is the configuration of a group as DescribeConfigs answers it:
// what is set on the group, else the broker's key, else the default.
func (b *Broker) GroupSources(overrides map[string]string) []Entry {
	return b.describeLinked(groupSet(), overrides, SourceGroup)
}

// ConsumerGroup is the configuration of one group of the consumer protocol.
type ConsumerGroup struct {
	SessionTimeout     time.Duration // consumer.session.timeout.ms
	HeartbeatInterval  time.Duration // consumer.heartbeat.interval.ms
	AssignmentInterval time.Duration // consumer.assignment.interval.ms
}

// ConsumerGroup works out the configuration of a group from what is set on it. Each
// number is held between the limits of the broker, which may have changed since it was
// set; what cannot be read counts as not set.
func (b *Broker) ConsumerGroup(overrides map[string]string) ConsumerGroup {
	number := func(l groupLimit) time.Duration {
		k := groupSet().Lookup(l.key)
		n := b.linked(k).(int64)
		if text, ok := overrides[l.key]; ok {
			if parsed, err := k.parse(text); err == nil {
				n = min(max(parsed.(int64), b.values.int(l.min)), b.values.int(l.max))
			}
		}
		return duration(l.key, n)
	}
	return ConsumerGroup{HeartbeatInterval: number(groupLimits[0]), SessionTimeout: number(groupLimits[1]), AssignmentInterval: number(groupLimits[2])}
}

// ValidateGroup checks the whole set of values that a client wants a group to
// have. Errors have Apache's texts (class GroupConfig), and the first counts.
func (b *Broker) ValidateGroup(wanted map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if groupSet().Lookup(name) == nil {
			return fmt.Errorf("Unknown group config name: %s", name)
		}
	}
	v := values{}
	for i := range groupSet().keys {
		k := &groupSet().keys[i]
		v[k.Name] = b.linked(k)
		text, ok := wanted[k.Name]
		if !ok {
			continue
		}
		parsed, err := k.parse(text)
		if err != nil {
			return err
		}
		v[k.Name] = parsed
	}
	for _, l := range groupLimits {
		if err := l.check(b.values, v); err != nil {
			return err
		}
	}
	return checkGroupTexts(b.values, v, wanted)
}

// groupLimit holds a group's key between keys of the broker; "" is no limit.
type groupLimit struct{ key, min, max string }

// groupLimits are in the order in which they are checked.
var groupLimits = []groupLimit{
	{"consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"},
	{"consumer.session.timeout.ms", "group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"},
	{"consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms", "group.consumer.max.assignment.interval.ms"},
	{"share.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"},
	{"share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"},
	{"share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms", "group.share.max.record.lock.duration.ms"},
	{"share.delivery.count.limit", "group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit"},
	{"share.partition.max.record.locks", "group.share.min.partition.max.record.locks", "group.share.max.partition.max.record.locks"},
	{"share.assignment.interval.ms", "group.share.min.assignment.interval.ms", "group.share.max.assignment.interval.ms"},
	{"streams.heartbeat.interval.ms", "group.streams.min.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"},
	{"streams.session.timeout.ms", "group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms"},
	{"streams.num.standby.replicas", "", "group.streams.max.standby.replicas"},
	{"streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms", "group.streams.max.assignment.interval.ms"},
	{"streams.num.warmup.replicas", "", "group.streams.max.warmup.replicas"},
	{"streams.task.offset.interval.ms", "group.streams.min.task.offset.interval.ms", ""},
}

func (l groupLimit) check(broker, group values) error {
	n := group.int(l.key)
	switch lo, hi := broker.int(l.min), broker.int(l.max); {
	case l.min == "" && n > hi:
		return fmt.Errorf("%s must be less than or equal to %d", l.key, hi)
	case l.max == "" && n < lo:
		return fmt.Errorf("%s must be greater than or equal to %d", l.key, lo)
	case l.min != "" && l.max != "" && (n < lo || n > hi):
		return fmt.Errorf("%s must be in the range %d to %d inclusive.", l.key, lo, hi)
	}
	return nil
}

// checkGroupTexts holds the rules of keys that are no numbers, and those between keys.
func checkGroupTexts(broker, group values, wanted map[string]string) error {
	if assignor, set := wanted["streams.assignor.name"]; set {
		if all := broker.list("group.streams.assignors"); !slices.Contains(all, strings.TrimSpace(assignor)) {
			return fmt.Errorf("streams.assignor.name '%s' is not a registered task assignor. Registered assignors are: [%s].", assignor, strings.Join(all, ", "))
		}
	}
	if tags, set := wanted["streams.rack.aware.assignment.tags"]; set && strings.TrimSpace(tags) != "" {
		if items := comma.Split(strings.TrimSpace(tags), -1); len(items) > len(group.list("streams.rack.aware.assignment.tags")) {
			return fmt.Errorf("streams.rack.aware.assignment.tags must not contain duplicate tag keys.")
		}
	}
	for _, kind := range []string{"consumer", "share", "streams"} {
		session, heartbeat := kind+".session.timeout.ms", kind+".heartbeat.interval.ms"
		if group.int(session) <= group.int(heartbeat) {
			return fmt.Errorf("%s must be greater than %s", session, heartbeat)
		}
	}
	if strings.HasPrefix(group.text("errors.deadletterqueue.topic.name"), "__") {
		return fmt.Errorf("errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'")
	}
	return nil
}

package config

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Topic resolves the configuration of a topic from what is set on it. A value
// that breaks a rule is passed over and named in the error; the topic returned
// is usable all the same.
func (b *Broker) Topic(overrides map[string]string) (Topic, error) {
	v, err := b.topicValues(overrides)
	var t Topic
	fill(&t, v)
	if small := v.int("internal.segment.bytes"); small != 0 {
		t.SegmentBytes = int(small)
	}
	t.Delete = slices.Contains(v.list("cleanup.policy"), "delete")
	t.Compact = slices.Contains(v.list("cleanup.policy"), "compact")
	t.LogAppendTime = v.text("message.timestamp.type") == "LogAppendTime"
	return t, err
}

func (b *Broker) topicValues(overrides map[string]string) (values, error) {
	out := values{}
	var errs []error
	keys := topicSet().keys
	for i := range keys {
		k := &keys[i]
		out[k.Name] = b.linked(k)
		text, ok := overrides[k.Name]
		if !ok {
			continue
		}
		v, err := k.parse(text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out[k.Name] = v
	}
	return out, errors.Join(errs...)
}

// linked is the value of a topic's key that is not set on the topic: the first
// broker key that has one, else the default.
func (b *Broker) linked(k *Key) any {
	for _, l := range k.Links {
		v := b.values[l.Name]
		if v == nil {
			continue
		}
		if n, ok := v.(int64); ok {
			v = n * l.Factor
			if k.Name == "retention.ms" {
				v = max(n*l.Factor, -1) // each negative number is no limit
			}
		}
		return v
	}
	if !k.HasDefault() {
		return nil
	}
	v, err := k.parse(k.Default)
	if err != nil {
		panic("BUG: default of " + k.Name + ": " + err.Error())
	}
	return v
}

// ValidateTopic checks the whole set of values that a client wants a topic to
// have; existing is what the topic has now, nil for a new one. A nil value is
// null. The errors have Apache's texts (class LogConfig), and the first counts.
func (b *Broker) ValidateTopic(wanted map[string]*string, existing map[string]string) error {
	names := make([]string, 0, len(wanted))
	for name := range wanted {
		names = append(names, name)
	}
	sort.Strings(names)
	overrides := make(map[string]string, len(wanted))
	var nulls []string
	for _, name := range names {
		if wanted[name] == nil {
			nulls = append(nulls, name)
			continue
		}
		overrides[name] = *wanted[name]
	}
	if len(nulls) > 0 {
		return fmt.Errorf("Null value not supported for topic configs: %s", strings.Join(nulls, ","))
	}
	for _, name := range names {
		if topicSet().Lookup(name) == nil {
			return fmt.Errorf("Unknown topic config name: %s", name)
		}
	}
	keys := topicSet().keys
	for i := range keys {
		if text, ok := overrides[keys[i].Name]; ok {
			if _, err := keys[i].parse(text); err != nil {
				return err
			}
		}
	}
	return b.checkTopic(overrides, existing)
}

// checkTopic holds the rules that span several keys.
func (b *Broker) checkTopic(overrides, existing map[string]string) error {
	v, err := b.topicValues(overrides)
	if err != nil {
		return err
	}
	if lo, hi := v.int("min.compaction.lag.ms"), v.int("max.compaction.lag.ms"); lo > hi {
		return fmt.Errorf("conflict topic config setting min.compaction.lag.ms (%d) > max.compaction.lag.ms (%d)", lo, hi)
	}
	remote, wipe := v["remote.storage.enable"] == true, v["remote.log.delete.on.disable"] == true
	if remote {
		return errors.New("Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.")
	}
	if strings.EqualFold(strings.TrimSpace(existing["remote.storage.enable"]), "true") && !wipe {
		return errors.New("It is invalid to disable remote storage without deleting remote data. " +
			"If you want to keep the remote data and turn to read only, please set `remote.storage.enable=true,remote.log.copy.disable=true`. " +
			"If you want to disable remote storage and delete all remote data, please set `remote.storage.enable=false,remote.log.delete.on.disable=true`.")
	}
	return nil
}

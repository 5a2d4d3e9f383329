package group

import (
	"slices"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// deletedTopic is a topic whose offsets have to go.
type deletedTopic struct {
	name string
	id   kafka.UUID
}

// expireOffsets takes out what is older than the retention time, and empty groups
// with nothing left. Groups of other kinds are not ours to judge.
func (c *Core) expireOffsets(now time.Time) []machine.Decision {
	var d machine.Decision
	var gone []string
	for _, id := range c.ids() {
		e, _ := c.groups.Get(id)
		records, all := c.expired(now, id, e)
		if all && e.isEmpty() {
			records = append(records, e.tombstones(id)...)
			gone = append(gone, id)
		}
		d.Records = append(d.Records, records...)
	}
	d.Done = func(kafka.ErrorCode) {
		for _, id := range gone {
			if c.consumer(id) == nil {
				c.forgetSoft(id)
			}
		}
	}
	return divisible(d)
}

// expired are the tombstones of a group's offsets that have expired, and whether
// those are all that it has.
func (c *Core) expired(now time.Time, id string, e *entry) (records []machine.Record, all bool) {
	set, _ := c.offsets.partitions.Get(id)
	_, open := c.offsets.open.Get(id)
	if set.Len() == 0 {
		return nil, !open
	}
	since, expires := e.retentionBegins()
	if !expires {
		return nil, false
	}
	all = !open
	for tp := range set.Keys() {
		key := offsetKey{id, tp}
		v := c.offsets.get(key)
		if e.subscribed(tp.Topic) || c.offsets.isPending(key) || !c.isExpired(now, v, since) {
			all = false
			continue
		}
		records = append(records, offsetTombstone(key))
	}
	return records, all
}

// isEmpty says whether nobody is in the group, nor has been given an id for it.
func (e *entry) isEmpty() bool {
	if e.consumer != nil {
		return e.consumer.Size() == 0
	}
	return e.classic.state == stateEmpty && len(e.classic.pending) == 0
}

// retentionBegins says from when on the retention time of a group's offsets counts:
// -1 is the time of the commit. Offsets of a group that is in a rebalance, or
// whose subscriptions cannot be read, do not expire (KIP-211).
func (e *entry) retentionBegins() (ms int64, expires bool) {
	g := e.classic
	switch {
	case e.consumer != nil, g.protocolType == "":
		return -1, true
	case g.state == stateEmpty:
		return g.stateSince, true
	case g.isConsumer() && g.knowsTopics && g.state == stateStable:
		return -1, true
	}
	return 0, false
}

func (c *Core) isExpired(now time.Time, v *committed, sinceMs int64) bool {
	if v.expireMs >= 0 {
		return now.UnixMilli() >= v.expireMs
	}
	if sinceMs < 0 {
		sinceMs = v.commitMs
	}
	return now.UnixMilli()-sinceMs >= c.settings.OffsetsRetention.Milliseconds()
}

// TopicsDeleted has the offsets of topics go that are no more. The ids keep those of
// new topics with the same names.
func (c *Core) TopicsDeleted(now time.Time, topics map[string]kafka.UUID) {
	for name, id := range topics {
		c.deleted = append(c.deleted, deletedTopic{name, id})
	}
	c.timers.set(&c.deletion, now)
}

func (c *Core) deleteOffsetsOfTopics() []machine.Decision {
	gone := make(map[string]kafka.UUID, len(c.deleted))
	for _, t := range c.deleted {
		gone[t.name] = t.id
	}
	c.deleted = nil
	var keys []offsetKey
	for key, v := range c.offsets.values.All() {
		if id, is := gone[key.Topic]; is && (v.topicID.IsZero() || v.topicID == id) {
			keys = append(keys, key)
		}
	}
	for _, set := range c.offsets.pending.All() {
		for key := range set.Keys() {
			if _, is := gone[key.Topic]; is && c.offsets.get(key) == nil {
				keys = append(keys, key)
			}
		}
	}
	slices.SortFunc(keys, compareKeys)
	var d machine.Decision
	for _, key := range slices.Compact(keys) {
		d.Records = append(d.Records, offsetTombstone(key))
	}
	return divisible(d)
}

// divisible is a decision to tidy up, none if there is nothing.
func divisible(d machine.Decision) []machine.Decision {
	if len(d.Records) == 0 {
		return nil
	}
	d.Divisible = true
	return []machine.Decision{d}
}

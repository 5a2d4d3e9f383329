package group

import (
	"testing"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// FuzzReplay loads two records that may say anything. A core refuses them or lives
// with them: its operations and its time go on.
func FuzzReplay(f *testing.F) {
	r := newRig(defaults())
	s := &stage{rig: r}
	for _, line := range []string{"a", "b"} {
		v := grouprec.NewOffsetCommitValue()
		s.put(&grouprec.OffsetCommitKey{Group: "g", Topic: line}, v, 4, kafka.NoProducerID)
	}
	g := newClassicGroup("g", 1)
	protocol, instance := "range", "i"
	g.protocol = &protocol
	g.add(&member{id: "m", instance: &instance, protocolType: "consumer", protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscription("t")}}})
	record := groupRecord(g, (*member).assigned)
	f.Add(record.Key, record.Value, s.rig.Log[0].Key, s.rig.Log[0].Value, false)
	f.Add(s.rig.Log[0].Key, s.rig.Log[0].Value, s.rig.Log[0].Key, []byte{}, true)
	head := keyOf(&grouprec.ConsumerGroupMetadataKey{GroupID: "g"})
	f.Add(head, valueOf(grouprec.NewConsumerGroupMetadataValue(), 0), record.Key, record.Value, false)
	f.Fuzz(func(t *testing.T, key1, value1, key2, value2 []byte, transactional bool) {
		registry := timeline.NewRegistry()
		c := New(newRig(defaults()).options(registry))
		registry.Direct(true)
		for i, rec := range []machine.Record{{Key: key1, Value: value1}, {Key: key2, Value: value2}, {Key: key1}} {
			played := machine.Replayed{Record: rec, Offset: kafka.Offset(i), Timestamp: beginning, ProducerID: 1, Transactional: transactional}
			if i == 2 && len(value2)%2 == 0 {
				break // without a tombstone
			}
			if err := c.Replay(played); err != nil {
				return
			}
		}
		c.Ended(1, 0, true)
		registry.Direct(false)
		exercise(t, c)
	})
}

// exercise does to the core of a fuzzed log what clients and time do.
func exercise(t *testing.T, c *Core) {
	now := beginning
	c.Loaded(now)
	for _, g := range c.List(nil, nil) {
		c.Describe(6, g.Group)
		r := kmsg.NewPtrJoinGroupRequest()
		r.Version, r.Group, r.ProtocolType, r.SessionTimeoutMillis, r.InstanceID = 9, g.Group, "consumer", 10_000, kmsg.StringPtr("i")
		r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscription("t")}}
		if g.Group == "" {
			continue
		}
		c.Join(now, Client{ID: "c"}, r, func(*kmsg.JoinGroupResponse) {})
	}
	for range 20 {
		if next := c.Next(); next.After(now) {
			now = next
		}
		c.Tick(now)
	}
	c.Unload(kafka.ErrNotCoordinator)
}

package group

import (
	"errors"
	"fmt"

	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Replay applies a record. Types that are not known are passed over: a later
// release may have written them.
func (c *Core) Replay(r machine.Replayed) error {
	key, err := grouprec.DecodeKey(r.Key)
	if errors.Is(err, grouprec.ErrUnknownType) {
		return nil
	}
	if err != nil {
		return err
	}
	var value grouprec.Message
	if r.Value != nil {
		if value, _, err = grouprec.DecodeValue(key.Type(), r.Value); err != nil {
			return fmt.Errorf("record of type %d: %w", key.Type(), err)
		}
	}
	switch k := key.(type) {
	case *grouprec.OffsetCommitKey:
		v, _ := value.(*grouprec.OffsetCommitValue)
		c.replayOffset(r, offsetKey{k.Group, kafka.TopicPartition{Topic: k.Topic, Partition: k.Partition}}, v)
	case *grouprec.LegacyOffsetCommitKey:
		var v *grouprec.OffsetCommitValue
		if old, ok := value.(*grouprec.LegacyOffsetCommitValue); ok {
			v = grouprec.NewOffsetCommitValue()
			v.Offset, v.Metadata, v.CommitTimestamp = old.Offset, old.Metadata, old.CommitTimestamp
		}
		c.replayOffset(r, offsetKey{k.Group, kafka.TopicPartition{Topic: k.Topic, Partition: k.Partition}}, v)
	case *grouprec.GroupMetadataKey:
		v, _ := value.(*grouprec.GroupMetadataValue)
		c.replayGroup(k.Group, v)
	default:
		if consumergroup.Is(key.Type()) {
			c.replayConsumer(key, value)
			return nil
		}
		return c.replayForeign(r, key, value)
	}
	return nil
}

// Ended moves the offsets of a transaction to where they count, or drops them.
func (c *Core) Ended(id kafka.ProducerID, _ kafka.ProducerEpoch, commit bool) {
	c.offsets.end(id, commit)
}

func (c *Core) replayOffset(r machine.Replayed, key offsetKey, v *grouprec.OffsetCommitValue) {
	if v == nil {
		c.offsets.remove(key)
		return
	}
	if _, ok := c.groups.Get(key.group); !ok {
		c.groups.Set(key.group, &entry{classic: newClassicGroup(key.group, r.Timestamp.UnixMilli())})
	}
	value := &committed{
		offset: v.Offset, leaderEpoch: v.LeaderEpoch, metadata: v.Metadata, commitMs: v.CommitTimestamp,
		expireMs: v.ExpireTimestamp, topicID: v.TopicID, record: r.Offset,
	}
	if r.Transactional {
		c.offsets.setPending(r.ProducerID, key, value)
		return
	}
	c.offsets.set(key, value)
}

// replayGroup applies a generation. What this core has written it knows already,
// but for the group being there.
func (c *Core) replayGroup(id string, v *grouprec.GroupMetadataValue) {
	switch {
	case v == nil:
		c.groups.Delete(id)
	case c.fresh[id] != nil:
		c.groups.Set(id, &entry{classic: c.fresh[id]})
		delete(c.fresh, id)
	case !c.loaded:
		if e, ok := c.groups.Get(id); ok && e.classic != nil {
			c.heldBytes -= e.classic.bytes()
		}
		g := loadGroup(id, v)
		c.heldBytes += g.bytes()
		c.groups.Set(id, &entry{classic: g})
	}
}

// replayConsumer applies a record of a consumer group, which takes the place of a
// classic one of the same name.
func (c *Core) replayConsumer(key, value grouprec.Message) {
	id := consumergroup.GroupOf(key)
	g := c.consumer(id)
	if g == nil {
		if value == nil {
			return // of a group that is gone
		}
		g = consumergroup.New(id)
	}
	before := g.Bytes()
	if g = g.Apply(key, value); g == nil {
		c.holdConsumer(-before)
		c.groups.Delete(id)
		return
	}
	if by := g.Bytes() - before; by != 0 {
		c.holdConsumer(by)
	}
	c.groups.Set(id, &entry{consumer: g})
}

func (c *Core) holdConsumer(by int64) {
	held, _ := c.consumerBytes.Get(struct{}{})
	c.consumerBytes.Set(struct{}{}, held+by)
}

// bytes is what the members' protocols hold.
func (g *classicGroup) bytes() int64 {
	var n int64
	for m := range g.all() {
		n += int64(m.bytes())
	}
	return n
}

// loadGroup makes a group of its last record: stable, or empty without members.
func loadGroup(id string, v *grouprec.GroupMetadataValue) *classicGroup {
	g := newClassicGroup(id, v.CurrentStateTimestamp)
	g.generation, g.protocol, g.protocolType = v.Generation, v.Protocol, v.ProtocolType
	if v.Leader != nil {
		g.leader = *v.Leader
	}
	for i := range v.Members {
		if mm := &v.Members[i]; g.members[mm.MemberID] == nil {
			g.load(mm, v)
		}
	}
	if g.size() > 0 {
		g.state = stateStable
		if g.protocol == nil {
			none := ""
			g.protocol = &none
		}
		g.protocolType = v.ProtocolType
		if g.members[g.leader] == nil {
			for m := range g.all() {
				g.leader = m.id
				break
			}
		}
	}
	g.learnTopics()
	return g
}

func (g *classicGroup) load(mm *grouprec.MemberMetadata, v *grouprec.GroupMetadataValue) {
	m := &member{
		id: mm.MemberID, instance: mm.GroupInstanceID, client: Client{mm.ClientID, mm.ClientHost}, protocolType: v.ProtocolType,
		sessionTimeout: milliseconds(mm.SessionTimeout), rebalanceTimeout: milliseconds(mm.RebalanceTimeout), assignment: mm.Assignment,
	}
	if mm.RebalanceTimeout == -1 {
		m.rebalanceTimeout = m.sessionTimeout
	}
	name := ""
	if v.Protocol != nil {
		name = *v.Protocol
	}
	m.protocols = []kmsg.JoinGroupRequestProtocol{{Name: name, Metadata: mm.Subscription}}
	m.session = timer{kind: timerSession, group: g, member: m}
	if m.instance != nil && g.static[*m.instance] != nil {
		m.instance = nil // no two members may have one instance id
	}
	g.add(m)
}

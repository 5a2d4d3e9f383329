package txn

import (
	"encoding/binary"
	"errors"
	"fmt"

	"barnabas/internal/base/immut"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// valueVersion is the version of values at a level of transaction.version: from 1 on
// the flexible one.
func valueVersion(level int16) int16 { return min(level, 1) }

// record is the step as it stands in the log.
func (c *Core) record(t *transaction) machine.Record {
	return machine.Record{Key: keyOf(t.id), Value: t.value(valueVersion(c.version()))}
}

func keyOf(id string) []byte {
	key := kmsg.NewTxnMetadataKey()
	key.TransactionalID = id
	return key.AppendTo(nil)
}

// value encodes t. Partitions are null while there is no transaction.
func (t *transaction) value(version int16) []byte {
	v := kmsg.NewTxnMetadataValue()
	v.Version = version
	v.ProducerID, v.ProducerEpoch = int64(t.producer), int16(t.epoch)
	v.PreviousProducerID, v.NextProducerID, v.NextProducerEpoch = int64(t.previous), int64(t.next), int16(t.nextEpoch)
	v.TimeoutMillis, v.State = t.timeoutMs, kmsg.TransactionState(t.state)
	v.LastUpdateTimestamp, v.StartTimestamp, v.ClientTransactionVersion = t.updatedMs, t.startMs, t.client
	if t.state != Empty {
		v.Topics = t.topics()
	}
	return v.AppendTo(nil)
}

// topics are the partitions by topic.
func (t *transaction) topics() []kmsg.TxnMetadataValueTopic {
	out := []kmsg.TxnMetadataValueTopic{}
	for tp := range t.partitions.Keys() {
		if n := len(out); n == 0 || out[n-1].Topic != tp.Topic {
			topic := kmsg.NewTxnMetadataValueTopic()
			topic.Topic = tp.Topic
			out = append(out, topic)
		}
		last := &out[len(out)-1]
		last.Partitions = append(last.Partitions, tp.Partition)
	}
	return out
}

// Replay applies a record. Keys of types that are not known are passed over: a later
// release may have written them.
func (c *Core) Replay(r machine.Replayed) error {
	if len(r.Key) < 2 {
		return errors.New("a record without a key")
	}
	if binary.BigEndian.Uint16(r.Key) != 0 {
		return nil
	}
	key := kmsg.NewTxnMetadataKey()
	if err := key.ReadFrom(r.Key); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	t := c.decided[key.TransactionalID]
	delete(c.decided, key.TransactionalID)
	switch {
	case r.Value == nil:
		c.put(key.TransactionalID, nil)
		return nil
	case t == nil:
		var err error
		if t, err = read(key.TransactionalID, r.Value); err != nil {
			return fmt.Errorf("state of transactional id %q: %w", key.TransactionalID, err)
		}
	}
	c.put(t.id, t)
	return nil
}

// put makes t the state of an id; nil forgets it.
func (c *Core) put(id string, t *transaction) {
	bytes, _ := c.total.Get(struct{}{})
	if old := c.get(id); old != nil {
		bytes -= old.bytes()
	}
	if t == nil {
		c.ids.Delete(id)
	} else {
		c.ids.Set(id, t)
		bytes += t.bytes()
	}
	c.total.Set(struct{}{}, bytes)
	_, wasOpen := c.open.Get(id)
	switch isOpen := t != nil && !t.state.over(); {
	case isOpen && !wasOpen:
		c.open.Set(id, struct{}{})
	case wasOpen && !isOpen:
		c.open.Delete(id)
	}
}

// read decodes a value.
func read(id string, value []byte) (*transaction, error) {
	if len(value) < 2 {
		return nil, errors.New("a value without a version")
	}
	if version := binary.BigEndian.Uint16(value); version > 1 {
		return nil, fmt.Errorf("a value of version %d", version)
	}
	v := kmsg.NewTxnMetadataValue()
	if err := v.ReadFrom(value); err != nil {
		return nil, err
	}
	if v.State < 0 || int(v.State) >= len(stateNames) {
		return nil, fmt.Errorf("no such state: %d", v.State)
	}
	t := &transaction{
		id: id, producer: kafka.ProducerID(v.ProducerID), epoch: kafka.ProducerEpoch(v.ProducerEpoch),
		previous: kafka.ProducerID(v.PreviousProducerID), next: kafka.ProducerID(v.NextProducerID),
		nextEpoch: kafka.ProducerEpoch(v.NextProducerEpoch), last: kafka.NoProducerEpoch,
		timeoutMs: v.TimeoutMillis, state: State(v.State), partitions: noPartitions(),
		updatedMs: v.LastUpdateTimestamp, startMs: v.StartTimestamp, client: v.ClientTransactionVersion,
	}
	if t.state == Empty {
		return t, nil
	}
	owner := immut.NewOwner()
	for i := range v.Topics {
		for _, p := range v.Topics[i].Partitions {
			t.partitions.Set(owner, kafka.TopicPartition{Topic: v.Topics[i].Topic, Partition: p}, struct{}{})
		}
	}
	return t, nil
}

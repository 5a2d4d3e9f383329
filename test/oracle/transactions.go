package oracle

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnClient is who asks the coordinator of one transactional id.
type txnClient struct {
	*Conn
	id    string
	pid   int64
	epoch int16
}

// transactional makes a client whose coordinator serves.
func (s *Session) transactional(label, suffix string) *txnClient {
	p := &txnClient{Conn: s.Conn(label), id: s.Topic(suffix), pid: -1, epoch: -1}
	p.producerID() // the broker has ids
	find := At(4, kmsg.NewPtrFindCoordinatorRequest())
	find.CoordinatorType, find.CoordinatorKeys = 1, []string{p.id}
	p.untilDone("a coordinator of "+p.id, func() bool {
		r, ok := p.Ask(find).(*kmsg.FindCoordinatorResponse)
		return ok && r.Coordinators[0].ErrorCode == 0 && p.described().ErrorCode == 105
	})
	return p
}

func (c *Conn) untilDone(what string, done func() bool) {
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			check(fmt.Errorf("not after 30s: %s", what))
		}
	}
}

func (p *txnClient) described() kmsg.DescribeTransactionsResponseTransactionState {
	r := At(0, kmsg.NewPtrDescribeTransactionsRequest())
	r.TransactionalIDs = []string{p.id}
	states := p.Ask(r).(*kmsg.DescribeTransactionsResponse).TransactionStates
	if len(states) == 0 {
		check(fmt.Errorf("no answer about %s", p.id))
	}
	return states[0]
}

// await waits until the id is in a state: the end of a transaction is answered before
// its markers are written.
func (p *txnClient) await(state string) {
	p.untilDone(p.id+" "+state, func() bool { return p.described().State == state })
}

func (p *txnClient) describe() {
	r := At(0, kmsg.NewPtrDescribeTransactionsRequest())
	r.TransactionalIDs = []string{p.id}
	p.Send(r)
}

func initTransactional(v int16, id string, pid int64, epoch int16, timeout int32) *kmsg.InitProducerIDRequest {
	r := initProducerID(v, &id, pid, epoch)
	r.TransactionTimeoutMillis = timeout
	return r
}

// begin gives the client its producer id; with a remark it stands in the transcript.
func (p *txnClient) begin(v int16) {
	r := p.Send(initTransactional(v, p.id, -1, -1, 60_000)).(*kmsg.InitProducerIDResponse)
	p.pid, p.epoch = r.ProducerID, r.ProducerEpoch
}

func addPartitions(v int16, id string, pid int64, epoch int16, topics ...kmsg.AddPartitionsToTxnRequestTopic) *kmsg.AddPartitionsToTxnRequest {
	r := At(v, kmsg.NewPtrAddPartitionsToTxnRequest())
	r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Topics = id, pid, epoch, topics
	return r
}

func partitionsOf(topic string, partitions ...int32) kmsg.AddPartitionsToTxnRequestTopic {
	return kmsg.AddPartitionsToTxnRequestTopic{Topic: topic, Partitions: partitions}
}

// transactionOf is a transaction as brokers name it.
func transactionOf(id string, pid int64, epoch int16, verify bool, topic string, partitions ...int32) kmsg.AddPartitionsToTxnRequestTransaction {
	t := kmsg.NewAddPartitionsToTxnRequestTransaction()
	t.TransactionalID, t.ProducerID, t.ProducerEpoch, t.VerifyOnly = id, pid, epoch, verify
	t.Topics = []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: topic, Partitions: partitions}}
	return t
}

func addTransactions(v int16, list ...kmsg.AddPartitionsToTxnRequestTransaction) *kmsg.AddPartitionsToTxnRequest {
	r := At(v, kmsg.NewPtrAddPartitionsToTxnRequest())
	r.Transactions = list
	return r
}

// add adds partitions as a client of version 3 or as a broker of version 5 does.
func (p *txnClient) add(v int16, topic string, partitions ...int32) {
	if v < 4 {
		p.Send(addPartitions(v, p.id, p.pid, p.epoch, partitionsOf(topic, partitions...)))
		return
	}
	p.Send(addTransactions(v, transactionOf(p.id, p.pid, p.epoch, false, topic, partitions...)))
}

func (p *txnClient) verify(v int16, topic string, partitions ...int32) {
	p.Send(addTransactions(v, transactionOf(p.id, p.pid, p.epoch, true, topic, partitions...)))
}

func endTransaction(v int16, id string, pid int64, epoch int16, commit bool) *kmsg.EndTxnRequest {
	r := At(v, kmsg.NewPtrEndTxnRequest())
	r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Commit = id, pid, epoch, commit
	return r
}

// end ends the transaction and waits until its markers are written.
func (p *txnClient) end(v int16, commit bool) {
	r := p.Send(endTransaction(v, p.id, p.pid, p.epoch, commit)).(*kmsg.EndTxnResponse)
	if r.ErrorCode != 0 {
		return
	}
	if v >= 5 {
		p.pid, p.epoch = r.ProducerID, r.ProducerEpoch
	}
	p.awaitEnd(commit)
}

func (p *txnClient) awaitEnd(commit bool) {
	if commit {
		p.await("CompleteCommit")
	} else {
		p.await("CompleteAbort")
	}
}

func (p *txnClient) offsets(v int16, group string) {
	r := At(v, kmsg.NewPtrAddOffsetsToTxnRequest())
	r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Group = p.id, p.pid, p.epoch, group
	p.Send(r)
}

func markers(v int16, list ...kmsg.WriteTxnMarkersRequestMarker) *kmsg.WriteTxnMarkersRequest {
	r := At(v, kmsg.NewPtrWriteTxnMarkersRequest())
	r.Markers = list
	return r
}

func marker(pid int64, epoch int16, coordinator int32, level int8, commit bool, topic string, partitions ...int32) kmsg.WriteTxnMarkersRequestMarker {
	m := kmsg.NewWriteTxnMarkersRequestMarker()
	m.ProducerID, m.ProducerEpoch, m.CoordinatorEpoch, m.TransactionVersion, m.Committed = pid, epoch, coordinator, level, commit
	m.Topics = []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: topic, Partitions: partitions}}
	return m
}

const transactionLog = "__transaction_state"

// partitionOf is the partition of __transaction_state in which an id lives.
func (c *Conn) partitionOf(id string) int32 {
	m := c.Ask(metadata(12, transactionLog)).(*kmsg.MetadataResponse).Topics[0]
	hash := int32(0)
	for _, b := range []byte(id) {
		hash = 31*hash + int32(b)
	}
	return max(hash, -hash) % int32(len(m.Partitions))
}

// logged writes the records that the coordinator has of the id into the transcript,
// byte for byte but for producer ids and times.
func (p *txnClient) logged() {
	partition := p.partitionOf(p.id)
	f := fetch(12, at(topic{name: transactionLog}, partition, 0))
	f.MaxWaitMillis, f.MaxBytes = 0, 50<<20
	f.Topics[0].Partitions[0].PartitionMaxBytes = 50 << 20
	p.step("records of " + transactionLog)
	raw := p.Ask(f).(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches
	for _, line := range p.s.out.transactionRecords(raw, p.id) {
		p.s.out.printf("%s", line)
	}
}

// transactionRecords are the records of an id, as lines.
func (t *Transcript) transactionRecords(raw []byte, id string) (lines []string) {
	for len(raw) > 0 {
		var b kmsg.RecordBatch
		check(b.ReadFrom(raw))
		size := int(b.Length) + 12
		raw = raw[size:]
		rest := b.Records
		for range b.NumRecords {
			var r kmsg.Record
			check(r.ReadFrom(rest))
			length, n := binary.Varint(rest)
			rest = rest[n+int(length):]
			var key kmsg.TxnMetadataKey
			check(key.ReadFrom(r.Key))
			if key.TransactionalID != id {
				continue
			}
			lines = append(lines, fmt.Sprintf("batch %v pid %d epoch %d sequence %d key %x", b.Attributes, b.ProducerID, b.ProducerEpoch, b.FirstSequence, r.Key[:4]),
				t.transactionValue(r.Value))
		}
	}
	return lines
}

// transactionValue is a value as hexadecimal, with names in the place of producer ids
// and of times. That those are all that was changed is checked.
func (t *Transcript) transactionValue(raw []byte) string {
	if raw == nil {
		return "tombstone"
	}
	var v kmsg.TxnMetadataValue
	check(v.ReadFrom(raw))
	if !slices.Equal(v.AppendTo(nil), raw) {
		return fmt.Sprintf("value %x, which nobody else would write so", raw)
	}
	ids := ""
	for _, id := range []*int64{&v.ProducerID, &v.PreviousProducerID, &v.NextProducerID} {
		ids += " " + t.pid(*id)
		if *id >= 0 {
			*id = 0
		}
	}
	started := v.StartTimestamp >= 0
	v.LastUpdateTimestamp, v.StartTimestamp = 0, min(v.StartTimestamp, 0)
	for i := range v.Topics {
		slices.Sort(v.Topics[i].Partitions)
	}
	slices.SortFunc(v.Topics, func(a, b kmsg.TxnMetadataValueTopic) int {
		if a.Topic < b.Topic {
			return -1
		}
		return 1
	})
	return fmt.Sprintf("value %x ids%s state %v epoch %d began %v", v.AppendTo(nil), ids, v.State, v.ProducerEpoch, started)
}

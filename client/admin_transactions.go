package client

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TransactionListing is a transactional.id in a list.
type TransactionListing struct {
	TransactionalID string
	ProducerID      int64
	State           string // such as "Ongoing", "CompleteCommit"
}

// ListTransactions lists the transactional ids of all coordinators (listTransactions).
func (a *Admin) ListTransactions(ctx context.Context) (listed []TransactionListing, err error) {
	err = a.call(ctx, "listTransactions", func(ctx context.Context) error {
		r, err := a.kadm.ListTransactions(ctx, nil, nil)
		for _, t := range r.Sorted() {
			listed = append(listed, TransactionListing{t.TxnID, t.ProducerID, t.State})
		}
		return err
	})
	return listed, err
}

// TransactionDescription is where a transactional.id stands.
type TransactionDescription struct {
	TransactionListing
	Coordinator   int32
	ProducerEpoch int16
	Timeout       time.Duration
	Started       time.Time // zero when no transaction is open
	Partitions    []TopicPartition
}

// DescribeTransactions describes transactional ids (describeTransactions).
// TRANSACTIONAL_ID_NOT_FOUND.
func (a *Admin) DescribeTransactions(ctx context.Context, ids ...string) (described map[string]TransactionDescription, err error) {
	described = make(map[string]TransactionDescription)
	err = a.call(ctx, "describeTransactions", func(ctx context.Context) error {
		r, err := a.kadm.DescribeTransactions(ctx, ids...)
		if err != nil {
			return err
		}
		var all refusals
		for _, t := range r.Sorted() {
			if t.Err != nil {
				all.add("transactional.id "+t.TxnID, t.Err, "")
				continue
			}
			d := TransactionDescription{TransactionListing{t.TxnID, t.ProducerID, t.State}, t.Coordinator, t.ProducerEpoch,
				time.Duration(t.TimeoutMillis) * time.Millisecond, time.Time{}, ofSet(t.Topics)}
			if t.StartTimestamp >= 0 {
				d.Started = time.UnixMilli(t.StartTimestamp)
			}
			described[t.TxnID] = d
		}
		return all.join()
	})
	return described, err
}

// ProducerState is what a partition knows of a producer.
type ProducerState struct {
	TopicPartition
	ProducerID       int64
	ProducerEpoch    int16
	LastSequence     int32
	LastTimestamp    time.Time
	CoordinatorEpoch int32
	// TransactionStart is the offset where its open transaction begins here, -1 when
	// none is open.
	TransactionStart int64
}

// DescribeProducers describes the producers that write to partitions (describeProducers).
func (a *Admin) DescribeProducers(ctx context.Context, partitions ...TopicPartition) (producers []ProducerState, err error) {
	err = a.call(ctx, "describeProducers", func(ctx context.Context) error {
		set := kadm.TopicsSet{}
		for _, tp := range partitions {
			set.Add(tp.Topic, tp.Partition)
		}
		r, err := a.kadm.DescribeProducers(ctx, set)
		if err != nil {
			return err
		}
		var all refusals
		for _, p := range r.SortedPartitions() {
			tp := TopicPartition{p.Topic, p.Partition}
			all.add("partition "+tp.String(), p.Err, p.ErrMessage)
			for _, q := range p.ActiveProducers.Sorted() {
				producers = append(producers, ProducerState{tp, q.ProducerID, q.ProducerEpoch, q.LastSequence, time.UnixMilli(q.LastTimestamp),
					q.CoordinatorEpoch, q.CurrentTxnStartOffset})
			}
		}
		return all.join()
	})
	return producers, err
}

// AbortTransaction writes the end of a transaction that hangs into its partition, past
// the coordinator (abortTransaction). The producer is one of DescribeProducers.
func (a *Admin) AbortTransaction(ctx context.Context, producer ProducerState) error {
	return a.call(ctx, "abortTransaction", func(ctx context.Context) error {
		set := kadm.TopicsSet{}
		set.Add(producer.Topic, producer.Partition)
		r, err := a.kadm.WriteTxnMarkers(ctx, kadm.TxnMarkers{ProducerID: producer.ProducerID, ProducerEpoch: producer.ProducerEpoch,
			CoordinatorEpoch: producer.CoordinatorEpoch, Topics: set})
		if err != nil {
			return err
		}
		var all refusals
		for _, p := range r.SortedPartitions() {
			all.add("partition "+TopicPartition{p.Topic, p.Partition}.String(), p.Err, "")
		}
		return all.join()
	})
}

// FenceProducers has the coordinator refuse the producers that use these transactional
// ids now, and abort what they have open (fenceProducers).
func (a *Admin) FenceProducers(ctx context.Context, ids ...string) error {
	return a.call(ctx, "fenceProducers", func(ctx context.Context) error {
		var all refusals
		for _, id := range ids {
			request := kmsg.NewPtrInitProducerIDRequest()
			request.TransactionalID, request.TransactionTimeoutMillis = &id, 1
			request.ProducerID, request.ProducerEpoch = -1, -1
			all.add("transactional.id "+id, untilCoordinated(ctx, func() error {
				r, err := request.RequestWith(ctx, a.engine)
				if err != nil {
					return err
				}
				return kerr.ErrorForCode(r.ErrorCode)
			}), "")
		}
		return all.join()
	})
}

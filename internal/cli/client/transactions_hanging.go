package client

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
)

// partitionProducer is a producer that a partition knows.
type partitionProducer struct {
	topicPartition
	kmsg.DescribeProducersResponseTopicPartitionActiveProducer
}

// producersOf are the producers that partitions know, as their leaders say, or a broker
// if one is named.
func (t *transactionTool) producersOf(ctx context.Context, broker int64, list []topicPartition) ([]partitionProducer, error) {
	req := kmsg.NewPtrDescribeProducersRequest()
	for _, tp := range list {
		at := slices.IndexFunc(req.Topics, func(x kmsg.DescribeProducersRequestTopic) bool { return x.Topic == tp.Topic })
		if at < 0 {
			at = len(req.Topics)
			req.Topics = append(req.Topics, kmsg.DescribeProducersRequestTopic{Topic: tp.Topic})
		}
		req.Topics[at].Partitions = append(req.Topics[at].Partitions, tp.Partition)
	}
	var answers []*kmsg.DescribeProducersResponse
	if broker >= 0 {
		resp, err := t.askNode(ctx, int32(broker), req)
		if err != nil {
			return nil, err
		}
		answers = append(answers, resp.(*kmsg.DescribeProducersResponse))
	} else {
		for _, shard := range t.cl.RequestSharded(ctx, req) {
			if shard.Err != nil {
				return nil, asUnsupported(req, shard.Err)
			}
			answers = append(answers, shard.Resp.(*kmsg.DescribeProducersResponse))
		}
	}
	var all []partitionProducer
	for _, resp := range answers {
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				if p.ErrorCode != 0 {
					return nil, codeError(p.ErrorCode, p.ErrorMessage)
				}
				for _, producer := range p.ActiveProducers {
					all = append(all, partitionProducer{topicPartition{topic.Topic, p.Partition}, producer})
				}
			}
		}
	}
	return all, nil
}

func (t *transactionTool) partition() topicPartition {
	return topicPartition{t.text("--topic"), int32(t.number("--partition", 0))}
}

func (t *transactionTool) describeProducers(ctx context.Context) error {
	tp := t.partition()
	all, err := t.producersOf(ctx, t.number("--broker-id", -1), []topicPartition{tp})
	if err != nil {
		return plain("Failed to describe producers for partition %s-%d: %v. Enable debug logging for additional detail.", tp.Topic, tp.Partition, err)
	}
	rows := [][]string{{"ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence", "LastTimestamp", "CurrentTransactionStartOffset"}}
	for _, p := range all {
		start := "None"
		if p.CurrentTxnStartOffset >= 0 {
			start = fmt.Sprint(p.CurrentTxnStartOffset)
		}
		rows = append(rows, []string{fmt.Sprint(p.ProducerID), fmt.Sprint(p.ProducerEpoch), fmt.Sprint(p.CoordinatorEpoch), fmt.Sprint(p.LastSequence), fmt.Sprint(p.LastTimestamp), start})
	}
	printTable(t.io, rows)
	return nil
}

// abort writes a marker to a partition in which a transaction is open that its
// coordinator does not know.
func (t *transactionTool) abort(ctx context.Context) error {
	tp := t.partition()
	m := kadm.TxnMarkers{
		ProducerID: t.number("--producer-id", -1), ProducerEpoch: int16(t.number("--producer-epoch", -1)), CoordinatorEpoch: int32(t.number("--coordinator-epoch", -1)),
	}
	if start := t.number("--start-offset", -1); m.ProducerID < 0 {
		all, err := t.producersOf(ctx, -1, []topicPartition{tp})
		if err != nil {
			return plain("Failed to find the transaction that starts at offset %d on partition %s-%d: %v. Enable debug logging for additional detail.", start, tp.Topic, tp.Partition, err)
		}
		at := slices.IndexFunc(all, func(p partitionProducer) bool {
			return p.CurrentTxnStartOffset >= 0 && p.CurrentTxnStartOffset == start
		})
		if at < 0 {
			return plain("Could not find any open transactions starting at offset %d on partition %s-%d", start, tp.Topic, tp.Partition)
		}
		m.ProducerID, m.ProducerEpoch, m.CoordinatorEpoch = all[at].ProducerID, int16(all[at].ProducerEpoch), all[at].CoordinatorEpoch
	}
	m.CoordinatorEpoch = max(m.CoordinatorEpoch, 0)
	m.Topics.Add(tp.Topic, tp.Partition)
	answers, err := kadm.NewClient(t.cl).WriteTxnMarkers(ctx, m)
	if err == nil {
		answers.EachPartition(func(p kadm.TxnMarkersPartitionResponse) {
			if p.Err != nil {
				err = p.Err
			}
		})
	}
	if err != nil {
		return plain("Failed to abort the transaction of producer %d on partition %s-%d: %v. Enable debug logging for additional detail.", m.ProducerID, tp.Topic, tp.Partition, err)
	}
	return nil
}

// findHanging looks for transactions that are open in partitions for longer than any may
// be and that no coordinator has under way there.
func (t *transactionTool) findHanging(ctx context.Context) error {
	most := time.Duration(t.number("--max-transaction-timeout", 15)) * time.Minute
	list, err := t.scope(ctx)
	if err != nil {
		return err
	}
	all, err := t.producersOf(ctx, t.number("--broker-id", -1), list)
	if err != nil {
		return plain("Failed to describe producers for %d partitions: %v. Enable debug logging for additional detail.", len(list), err)
	}
	old := slices.DeleteFunc(all, func(p partitionProducer) bool {
		return p.CurrentTxnStartOffset < 0 || t.age(p) <= most
	})
	hanging, err := t.unknown(ctx, old)
	if err != nil {
		return err
	}
	rows := [][]string{{"Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset", "LastTimestamp", "Duration(min)"}}
	for _, p := range hanging {
		rows = append(rows, []string{
			p.Topic, fmt.Sprint(p.Partition), fmt.Sprint(p.ProducerID), fmt.Sprint(p.ProducerEpoch), fmt.Sprint(p.CoordinatorEpoch),
			fmt.Sprint(p.CurrentTxnStartOffset), fmt.Sprint(p.LastTimestamp), fmt.Sprint(int64(t.age(p).Minutes())),
		})
	}
	printTable(t.io, rows)
	return nil
}

func (t *transactionTool) age(p partitionProducer) time.Duration {
	return time.Duration(t.now.UnixMilli()-p.LastTimestamp) * time.Millisecond
}

// scope are the partitions that are searched.
func (t *transactionTool) scope(ctx context.Context) ([]topicPartition, error) {
	topic, broker := t.text("--topic"), t.number("--broker-id", -1)
	if _, one := t.args.Value("--partition"); one {
		return []topicPartition{t.partition()}, nil
	}
	var topics []string
	if topic != "" {
		topics = append(topics, topic)
	}
	details, err := kadm.NewClient(t.cl).ListTopicsWithInternal(ctx, topics...)
	if err != nil {
		return nil, err
	}
	var list []topicPartition
	for _, d := range details.Sorted() {
		if d.Err != nil {
			return nil, plain("Failed to describe topic %s: %v. Enable debug logging for additional detail.", d.Topic, d.Err)
		}
		for _, p := range d.Partitions.Sorted() {
			if broker < 0 || slices.Contains(p.Replicas, int32(broker)) {
				list = append(list, topicPartition{d.Topic, p.Partition})
			}
		}
	}
	return list, nil
}

// unknown are those of which no coordinator has the transaction under way in the
// partition.
func (t *transactionTool) unknown(ctx context.Context, candidates []partitionProducer) ([]partitionProducer, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	req := kmsg.NewPtrListTransactionsRequest()
	for _, p := range candidates {
		if !slices.Contains(req.ProducerIDFilters, p.ProducerID) {
			req.ProducerIDFilters = append(req.ProducerIDFilters, p.ProducerID)
		}
	}
	listed, err := t.listed(ctx, req)
	if err != nil {
		return nil, plain("Failed to list transactions: %v. Enable debug logging for additional detail.", err)
	}
	underWay := map[int64][]topicPartition{}
	for _, l := range listed {
		_, s, err := t.described(ctx, l.TransactionalID)
		if codeOf(err) == kafka.ErrTransactionalIDNotFound {
			continue
		}
		if err != nil {
			return nil, plain("Failed to describe transaction state of transactional-id `%s`: %v. Enable debug logging for additional detail.", l.TransactionalID, err)
		}
		for _, topic := range s.Topics {
			for _, p := range topic.Partitions {
				underWay[s.ProducerID] = append(underWay[s.ProducerID], topicPartition{topic.Topic, p})
			}
		}
	}
	return slices.DeleteFunc(candidates, func(p partitionProducer) bool {
		return slices.Contains(underWay[p.ProducerID], p.topicPartition)
	}), nil
}

package controller

import (
	"slices"

	"barnabas/internal/controller/election"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterPartition serves AlterPartition v2-v3: a leader tells the ISR that it sees.
//
//	v2 topics by id (KIP-841)
//	v3 ISR members with their broker epochs (KIP-903)
func (c *Controller) AlterPartition(ctx Context, req *kmsg.AlterPartitionRequest, done func(*kmsg.AlterPartitionResponse)) {
	answer := req.ResponseKind().(*kmsg.AlterPartitionResponse)
	c.submit(operation{
		name: "alter partition",
		decide: func(a *active) (decision, *refusal) {
			if refused := a.checkEpoch(kafka.BrokerID(req.BrokerID), kafka.BrokerEpoch(req.BrokerEpoch)); refused != nil {
				return decision{}, refused
			}
			records := a.alterPartitions(req, answer)
			return decision{
				records: records, divisible: true,
				applied: func(a *active, _ kafka.Offset) { a.fillAltered(answer) },
				answer:  func() { done(answer) },
			}, nil
		},
		refuse: func(r refusal) {
			answer.ErrorCode, answer.Topics = int16(r.code), nil
			done(answer)
		},
	})
}

// alterPartitions decides on each partition and fills the answer but for the new
// state of those that are accepted.
func (a *active) alterPartitions(req *kmsg.AlterPartitionRequest, answer *kmsg.AlterPartitionResponse) (records []metarec.Message) {
	for _, t := range req.Topics {
		row := kmsg.NewAlterPartitionResponseTopic()
		row.TopidID = t.TopicID // kmsg's spelling
		topic := a.image.Topics.ByID(t.TopicID)
		for _, p := range t.Partitions {
			record, code := a.alterPartition(kafka.BrokerID(req.BrokerID), topic, proposal(req.Version, p))
			if record != nil {
				records = append(records, record)
			}
			pr := kmsg.NewAlterPartitionResponseTopicPartition()
			pr.Partition, pr.ErrorCode = p.Partition, int16(code)
			row.Partitions = append(row.Partitions, pr)
		}
		answer.Topics = append(answer.Topics, row)
	}
	return records
}

// fillAltered tells the state of the partitions that were accepted.
func (a *active) fillAltered(answer *kmsg.AlterPartitionResponse) {
	for i := range answer.Topics {
		topic := a.image.Topics.ByID(answer.Topics[i].TopidID)
		for j := range answer.Topics[i].Partitions {
			pr := &answer.Topics[i].Partitions[j]
			if pr.ErrorCode != 0 {
				continue
			}
			p := topic.Partition(pr.Partition)
			pr.LeaderID, pr.LeaderEpoch, pr.PartitionEpoch = int32(p.Leader), int32(p.LeaderEpoch), int32(p.PartitionEpoch)
			pr.ISR, pr.LeaderRecoveryState = rawIDs(p.ISR), int8(p.RecoveryState)
		}
	}
}

// proposed is a partition as its leader sees it.
type proposed struct {
	number         int32
	leaderEpoch    kafka.LeaderEpoch
	partitionEpoch kafka.PartitionEpoch
	isr            []kafka.BrokerID
	epochs         []kafka.BrokerEpoch // of the ISR; NoBrokerEpoch: not to be checked
	recovery       kafka.LeaderRecoveryState
}

func proposal(version int16, p kmsg.AlterPartitionRequestTopicPartition) proposed {
	out := proposed{
		number: p.Partition, leaderEpoch: kafka.LeaderEpoch(p.LeaderEpoch), partitionEpoch: kafka.PartitionEpoch(p.PartitionEpoch),
		recovery: kafka.LeaderRecoveryState(p.LeaderRecoveryState),
	}
	if version < 3 {
		out.isr = brokerIDs(p.NewISR)
		for range out.isr {
			out.epochs = append(out.epochs, kafka.NoBrokerEpoch)
		}
		return out
	}
	for _, m := range p.NewEpochISR {
		out.isr = append(out.isr, kafka.BrokerID(m.BrokerID))
		out.epochs = append(out.epochs, kafka.BrokerEpoch(m.BrokerEpoch))
	}
	return out
}

func (a *active) alterPartition(from kafka.BrokerID, topic *image.Topic, want proposed) (*metarec.PartitionChangeRecord, kafka.ErrorCode) {
	if topic == nil {
		return nil, kafka.ErrUnknownTopicID
	}
	p := topic.Partition(want.number)
	if code, why := a.checkProposal(from, p, want); code != kafka.ErrNone {
		a.o.Logger.Info("in-sync replicas refused", "topic", topic.Name, "partition", want.number, "from", from, "isr", want.isr, "error", code, "reason", why)
		return nil, code
	}
	rules := a.rulesOf(topic)
	change := a.change(topic, want.number, p, rules)
	change.ISR, change.Recovery = want.isr, want.recovery
	if rules.unclean {
		change.Kind = election.Unclean
	}
	record := change.Record()
	if record != nil && record.Leader != metarec.NoLeaderChange && record.Leader != from {
		// The ISR ended a reassignment that removes the leader: it must fetch the
		// new metadata.
		return record, kafka.ErrNewLeaderElected
	}
	return record, kafka.ErrNone
}

// checkProposal holds a proposal against the partition, in Apache's order.
func (a *active) checkProposal(from kafka.BrokerID, p *image.Partition, want proposed) (code kafka.ErrorCode, why string) {
	switch {
	case p == nil:
		return kafka.ErrUnknownTopicOrPartition, "there is no such partition"
	case want.leaderEpoch > p.LeaderEpoch, want.partitionEpoch > p.PartitionEpoch:
		// The leader knows more than this controller: it is probably not active
		// any more.
		return kafka.ErrNotController, "its epoch is not known yet"
	case want.leaderEpoch < p.LeaderEpoch:
		return kafka.ErrFencedLeaderEpoch, "the leader epoch is old"
	case from != p.Leader:
		return kafka.ErrInvalidRequest, "it is not the leader"
	case want.partitionEpoch < p.PartitionEpoch:
		return kafka.ErrInvalidUpdateVersion, "the partition epoch is old"
	case !validISR(p.Replicas, want.isr):
		return kafka.ErrInvalidRequest, "the ISR is not a set of replicas"
	case !slices.Contains(want.isr, p.Leader):
		return kafka.ErrInvalidRequest, "the leader is not in the ISR"
	case want.recovery == kafka.Recovering && len(want.isr) > 1:
		return kafka.ErrInvalidRequest, "the leader is recovering, but not alone in the ISR"
	case want.recovery == kafka.Recovering && p.RecoveryState == kafka.Recovered:
		return kafka.ErrInvalidRequest, "the leader has recovered already"
	}
	for i, id := range want.isr {
		b := a.image.Cluster.Broker(id)
		if b == nil || !b.Active() || want.epochs[i] != kafka.NoBrokerEpoch && want.epochs[i] != b.Epoch {
			return kafka.ErrIneligibleReplica, "a replica is fenced, shutting down or of another epoch"
		}
	}
	return kafka.ErrNone, ""
}

// validISR says whether isr is a set of replicas that is not empty.
func validISR(replicas, isr []kafka.BrokerID) bool {
	if len(isr) == 0 {
		return false
	}
	for i, id := range isr {
		if !slices.Contains(replicas, id) || slices.Contains(isr[:i], id) {
			return false
		}
	}
	return true
}

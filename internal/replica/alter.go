package replica

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/base/wheel"
	"barnabas/internal/kafka"
	"barnabas/internal/replica/isr"
	"barnabas/internal/replica/purgatory"
)

// Controller is what the replicas ask of the active controller. done is called
// once, on any goroutine.
type Controller interface {
	AlterPartition(q *kmsg.AlterPartitionRequest, done func(*kmsg.AlterPartitionResponse, error))
}

// alterRetry is the pause after a request of which something failed.
const alterRetry = 50 * time.Millisecond

// alterSender sends ISR proposals, one request at a time: what is proposed while
// one is under way goes with the next.
type alterSender struct {
	env        *env
	controller Controller
	epoch      func() kafka.BrokerEpoch

	mu      sync.Mutex
	waiting map[*Partition]isr.Proposal // guarded by mu
	busy    bool                        // a request, or a pause, is under way; guarded by mu
	failing bool                        // the last request failed as a whole; guarded by mu
	closed  bool                        // guarded by mu
	retry   wheel.Timer
}

// propose queues a proposal. A newer one of a partition replaces the older.
func (s *alterSender) propose(p *Partition, proposal isr.Proposal) {
	s.mu.Lock()
	s.waiting[p] = proposal
	s.mu.Unlock()
	s.send()
}

func (s *alterSender) send() {
	s.mu.Lock()
	if s.busy || s.closed || len(s.waiting) == 0 {
		s.mu.Unlock()
		return
	}
	sent := s.waiting
	s.waiting, s.busy = map[*Partition]isr.Proposal{}, true
	s.mu.Unlock()
	s.controller.AlterPartition(s.request(sent), func(a *kmsg.AlterPartitionResponse, err error) { s.answered(sent, a, err) })
}

func (s *alterSender) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.env.wheel.Cancel(&s.retry)
}

func (s *alterSender) request(sent map[*Partition]isr.Proposal) *kmsg.AlterPartitionRequest {
	q := kmsg.NewPtrAlterPartitionRequest()
	q.Version = 3
	own := s.epoch()
	q.BrokerID, q.BrokerEpoch = int32(s.env.self), int64(own)
	byTopic := map[kafka.UUID]int{}
	for p, proposal := range sent {
		i, ok := byTopic[p.id.ID]
		if !ok {
			i = len(q.Topics)
			byTopic[p.id.ID] = i
			q.Topics = append(q.Topics, kmsg.AlterPartitionRequestTopic{TopicID: p.id.ID})
		}
		part := kmsg.NewAlterPartitionRequestTopicPartition()
		part.Partition, part.LeaderEpoch = p.id.Partition, int32(proposal.LeaderEpoch)
		part.PartitionEpoch, part.LeaderRecoveryState = int32(proposal.PartitionEpoch), int8(proposal.Recovery)
		for _, m := range proposal.ISR {
			if m.ID == s.env.self {
				m.Epoch = own
			}
			part.NewEpochISR = append(part.NewEpochISR, kmsg.AlterPartitionRequestTopicPartitionNewEpochISR{BrokerID: int32(m.ID), BrokerEpoch: int64(m.Epoch)})
		}
		q.Topics[i].Partitions = append(q.Topics[i].Partitions, part)
	}
	return q
}

// answered hands each partition its answer. What was not answered is refused
// with the error of the whole and proposed again after a pause.
func (s *alterSender) answered(sent map[*Partition]isr.Proposal, a *kmsg.AlterPartitionResponse, err error) {
	whole := kafka.ErrNone
	answers := map[kafka.TopicIDPartition]*kmsg.AlterPartitionResponseTopicPartition{}
	if err != nil {
		whole = kafka.ErrUnknownServerError
	} else if whole = kafka.ErrorCode(a.ErrorCode); whole == kafka.ErrNone {
		for i := range a.Topics {
			t := &a.Topics[i]
			for j := range t.Partitions {
				answers[kafka.TopicIDPartition{ID: t.TopidID, Partition: t.Partitions[j].Partition}] = &t.Partitions[j]
			}
		}
	}
	again := false
	for p, proposal := range sent {
		code, now := whole, isr.Registration{}
		if answer := answers[kafka.TopicIDPartition{ID: p.id.ID, Partition: p.id.Partition}]; answer != nil {
			code, now = kafka.ErrorCode(answer.ErrorCode), registrationOf(answer)
		} else if whole == kafka.ErrNone {
			code = kafka.ErrUnknownServerError // left out of the answer
		}
		again = again || code != kafka.ErrNone
		p.altered(proposal, code, now)
	}
	s.note(whole, err)
	if again {
		s.env.wheel.Schedule(&s.retry, s.env.now().Add(alterRetry), s.resume)
	} else {
		s.resume()
	}
}

// resume lets the next request go.
func (s *alterSender) resume() {
	s.mu.Lock()
	s.busy = false
	s.mu.Unlock()
	s.send()
}

// note logs when requests begin to fail as a whole.
func (s *alterSender) note(code kafka.ErrorCode, err error) {
	s.mu.Lock()
	begins := code != kafka.ErrNone && !s.failing
	s.failing = code != kafka.ErrNone
	s.mu.Unlock()
	if begins {
		s.env.log.Warn("the controller does not take changes of in-sync replicas; asking again", "error", code.String(), "cause", err)
	}
}

func registrationOf(a *kmsg.AlterPartitionResponseTopicPartition) isr.Registration {
	r := isr.Registration{
		LeaderEpoch:    kafka.LeaderEpoch(a.LeaderEpoch),
		PartitionEpoch: kafka.PartitionEpoch(a.PartitionEpoch),
		Recovery:       kafka.LeaderRecoveryState(a.LeaderRecoveryState),
	}
	for _, id := range a.ISR {
		r.ISR = append(r.ISR, kafka.BrokerID(id))
	}
	return r
}

// altered takes in what the controller says to a proposal.
func (p *Partition) altered(proposal isr.Proposal, code kafka.ErrorCode, now isr.Registration) {
	var e effects
	p.mu.Lock()
	if p.leader != nil && p.role.Load().leaderEpoch == proposal.LeaderEpoch {
		if code == kafka.ErrNone {
			p.leader.Accepted(now)
		} else {
			p.leader.Refused(proposal.PartitionEpoch, code)
		}
		p.advanceLocked(p.role.Load(), &e)
	}
	p.mu.Unlock()
	var woken purgatory.Woken
	p.settle(e, &woken)
	p.env.wake(&woken)
}

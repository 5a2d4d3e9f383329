package replica

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/replica/purgatory"
	"barnabas/internal/storage/commitlog"
)

// The values of Produce.Acks.
const (
	AcksNone   int16 = 0
	AcksLeader int16 = 1
	AcksAll    int16 = -1
)

// Produce is one Produce request. Its owner may use it again after Answered.
type Produce struct {
	Version int16
	Acks    int16
	Timeout time.Duration
	// Internal allows batches for internal topics, which clients may not write.
	Internal bool
	// TransactionalID is that of a request with batches of transactions.
	TransactionalID string
	Appends         []Append
	Caller          ProduceCaller

	verified bool // what the coordinator was asked about is answered
}

// ProduceCaller is told about the fate of its requests.
type ProduceCaller interface {
	// Placed is called when all batches of the request have their place in the
	// logs (or were refused) but its answer has to wait: the connection may go on
	// reading, and the bytes of the request are not used any more.
	Placed(p *Produce)
	// Answered is called once when the Out of each Append is filled. It comes
	// after Placed and may come on another goroutine; without a wait it comes
	// before Manager.Produce returns and there is no Placed.
	Answered(p *Produce)
}

// Append is what a request brings for one partition.
type Append struct {
	// Topic and Out.Partition name the partition.
	Topic   string
	Records []byte // nil: null on the wire; written to
	// Out is answered in place. If it carries an error code already, the append
	// is left alone.
	Out *kmsg.ProduceResponseTopicPartition

	acks      int16
	partition *Partition
	epoch     kafka.LeaderEpoch
	batch     record.Validated
	guard     commitlog.Guard // of the verification that the batch needs
	// end is the offset behind the batch. The answer waits until the high
	// watermark has reached it, or until everything below it is synced.
	end                   kafka.Offset
	awaitHigh, awaitFlush bool
}

// Produce takes in a run of requests of one connection: it validates them,
// groups their batches so that each partition gets one append, and has each
// request answered. A request that begins a transaction in a partition is verified
// first, and with it all behind it wait (verify.go).
func (m *Manager) Produce(run []*Produce) {
	s := produceScratches.Get().(*produceScratch)
	defer s.release()
	for len(run) > 0 {
		n, ask := m.admitRun(s, run)
		m.placeRun(s, run[:n])
		if run = run[n:]; ask && !m.verify(run[0], run[1:]) {
			break
		}
	}
	m.env.wake(&s.woken)
}

// admitRun admits requests, and says how many. It stops before one that has to be
// verified, and then ask is set, and behind one that was: with its place in the log it
// spares others their verification.
func (m *Manager) admitRun(s *produceScratch, run []*Produce) (n int, ask bool) {
	for i, p := range run {
		if p.verified {
			if i > 0 {
				return i, false
			}
			s.admitted(p)
			return 1, false
		}
		from, unverified := len(s.appends), false
		for j := range p.Appends {
			if a := &p.Appends[j]; m.admit(p, a, &s.rules) {
				s.appends = append(s.appends, a)
				unverified = unverified || a.guard != commitlog.NoGuard
			}
		}
		if unverified {
			clear(s.appends[from:])
			s.appends = s.appends[:from]
			return i, true
		}
	}
	return len(run), false
}

// admitted takes what was admitted of a request before it was verified.
func (s *produceScratch) admitted(p *Produce) {
	for i := range p.Appends {
		if a := &p.Appends[i]; a.Out.ErrorCode == 0 {
			s.appends = append(s.appends, a)
		}
	}
}

// placeRun appends what was admitted of the requests, and has them answered.
func (m *Manager) placeRun(s *produceScratch, run []*Produce) {
	// Stable: the batches of a partition stay in the order of their requests.
	slices.SortStableFunc(s.appends, func(a, b *Append) int { return cmp.Compare(a.partition.seq, b.partition.seq) })
	for rest := s.appends; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].partition == rest[0].partition && rest[n].epoch == rest[0].epoch {
			n++
		}
		s.place(rest[:n])
		rest = rest[n:]
	}
	clear(s.appends)
	s.appends = s.appends[:0]
	for _, p := range run {
		m.env.conclude(p)
	}
}

// admit finds the partition of an append and checks all that needs no lock, in
// the order in which Apache does: the form of the request, acks, whether the topic
// may be written, whether this node leads, min.insync.replicas, then the records.
// It is false when the append is refused.
func (m *Manager) admit(p *Produce, a *Append, rules *record.ValidateOptions) bool {
	a.acks, a.awaitHigh, a.awaitFlush = p.Acks, false, false
	if a.Out.ErrorCode != 0 {
		return false
	}
	a.Out.BaseOffset, a.Out.LogAppendTime, a.Out.LogStartOffset = -1, -1, -1
	part, code := m.hosted(a.Topic, a.Out.Partition)
	if code == kafka.ErrUnknownTopicOrPartition {
		return a.refuse(code)
	}
	if refusal := record.ValidateForm(a.Records, p.Version); refusal != nil {
		return a.refuseRecords(refusal, kafka.NoOffset)
	}
	if p.Acks != AcksNone && p.Acks != AcksLeader && p.Acks != AcksAll {
		return a.refuse(kafka.ErrInvalidRequiredAcks)
	}
	if !p.Internal && kafka.IsInternalTopic(a.Topic) {
		return a.refuse(kafka.ErrInvalidTopicException)
	}
	if code != kafka.ErrNone {
		return m.refuseNotLeader(a, code)
	}
	r := part.role.Load()
	if code := r.forClient(kafka.NoLeaderEpoch); code != kafka.ErrNone {
		return m.refuseNotLeader(a, code)
	}
	a.partition, a.epoch = part, r.leaderEpoch
	if p.Acks == AcksAll && part.belowMin.Load() {
		a.Out.LogStartOffset = int64(r.log.Snapshot().LogStart())
		return a.refuse(kafka.ErrNotEnoughReplicas)
	}
	*rules = r.settings.rules
	rules.Partition = part.id.TopicPartition()
	rules.Version, rules.Now = p.Version, part.env.now().UnixMilli()
	batch, refusal := record.Validate(a.Records, rules)
	if refusal != nil {
		return a.refuseRecords(refusal, r.log.Snapshot().LogStart())
	}
	a.batch, a.guard = batch, commitlog.NoGuard
	if b := batch.Batch; b.IsTransactional() && b.ProducerID() != kafka.NoProducerID {
		a.guard = part.beginVerification(r, b, p.Version)
	}
	return true
}

func (a *Append) refuse(code kafka.ErrorCode) bool {
	a.Out.ErrorCode = int16(code)
	return false
}

// refuseRecords answers with what is wrong with the records. Apache names the log
// start with some of these errors and not with others.
func (a *Append) refuseRecords(refusal *record.Refusal, logStart kafka.Offset) bool {
	switch refusal.Code {
	case kafka.ErrMessageTooLarge, kafka.ErrRecordListTooLarge, kafka.ErrCorruptMessage:
	default:
		a.Out.LogStartOffset = int64(logStart)
	}
	if refusal.Message != "" {
		a.Out.ErrorMessage = &refusal.Message
	}
	for _, e := range refusal.RecordErrors {
		a.Out.ErrorRecords = append(a.Out.ErrorRecords, kmsg.ProduceResponseTopicPartitionErrorRecord{
			RelativeOffset: e.BatchIndex, ErrorMessage: &e.Message,
		})
	}
	return a.refuse(refusal.Code)
}

// refuseNotLeader refuses an append for which this node is the wrong one, and
// tells who leads (KIP-951).
func (m *Manager) refuseNotLeader(a *Append, code kafka.ErrorCode) bool {
	if code == kafka.ErrNotLeaderOrFollower {
		leader, epoch := m.otherLeader(a.Topic, a.Out.Partition)
		a.Out.CurrentLeader.LeaderID, a.Out.CurrentLeader.LeaderEpoch = int32(leader), int32(epoch)
	}
	return a.refuse(code)
}

// produceScratch is the memory of one call of Produce.
type produceScratch struct {
	appends []*Append
	batches []record.Batch
	guards  []commitlog.Guard
	out     []commitlog.Appended
	rules   record.ValidateOptions
	woken   purgatory.Woken
}

var produceScratches = sync.Pool{New: func() any { return new(produceScratch) }}

func (s *produceScratch) release() {
	clear(s.appends)
	clear(s.batches)
	s.appends, s.batches, s.guards, s.out = s.appends[:0], s.batches[:0], s.guards[:0], s.out[:0]
	produceScratches.Put(s)
}

// place appends the batches of one partition and fills in their answers.
func (s *produceScratch) place(group []*Append) {
	s.batches, s.guards, s.out = s.batches[:0], s.guards[:0], s.out[:0]
	for _, a := range group {
		s.batches = append(s.batches, a.batch.Batch)
		s.guards = append(s.guards, a.guard)
		s.out = append(s.out, commitlog.Appended{})
	}
	part := group[0].partition
	at, code := part.appendLeader(producers, group[0].epoch, s.batches, s.guards, s.out, &s.woken)
	for i, a := range group {
		if code != kafka.ErrNone {
			a.refuse(code)
			continue
		}
		a.placed(&s.out[i], at)
	}
}

// placed takes over what became of the batch.
func (a *Append) placed(out *commitlog.Appended, at placement) {
	if out.Err != kafka.ErrNone {
		if out.Err != kafka.ErrKafkaStorageError {
			a.Out.LogStartOffset = int64(at.logStart)
		}
		a.refuse(out.Err)
		return
	}
	a.Out.BaseOffset, a.Out.LogStartOffset = int64(out.Base), int64(at.logStart)
	a.Out.LogAppendTime = a.batch.AppendTime
	if out.Duplicate {
		a.Out.LogAppendTime = out.Timestamp // Apache's answer, whatever the timestamp type
	}
	a.end = out.Last + 1
	switch a.acks {
	case AcksAll:
		a.awaitHigh, a.awaitFlush = true, at.awaitFlush
	case AcksLeader:
		a.awaitFlush = at.awaitFlush
	}
}

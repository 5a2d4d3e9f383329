package isr

import (
	"slices"
	"time"

	"barnabas/internal/kafka"
)

// Registration is what the metadata says about a partition. Its lists are shared
// with the metadata and never written to.
type Registration struct {
	Replicas       []kafka.BrokerID // the assignment, the leader among them
	ISR            []kafka.BrokerID
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	Recovery       kafka.LeaderRecoveryState
}

// Start is how a leader begins.
type Start struct {
	Local         kafka.BrokerID
	Registration  Registration
	HighWatermark kafka.Offset // this replica's own, from before
	LogEnd        kafka.Offset // counted end: flushed, where flushing is asked for
	EpochStart    kafka.Offset // where the leader's epoch begins
	MinISR        int          // min.insync.replicas
	MaxLag        time.Duration
	Now           time.Time
}

// Leader is the view of the leader of one partition in one leader epoch.
type Leader struct {
	local         kafka.BrokerID
	localEnd      kafka.Offset
	epochStart    kafka.Offset
	highWatermark kafka.Offset
	minISR        int
	maxLag        time.Duration
	now           time.Time // the latest time that was told

	isr            []kafka.BrokerID // committed; never written in place
	followers      []follower       // the assignment without the leader
	leaderEpoch    kafka.LeaderEpoch
	partitionEpoch kafka.PartitionEpoch
	recovery       kafka.LeaderRecoveryState

	pending *Proposal // sent or about to be
	unsent  bool      // pending was not taken yet
}

// NewLeader begins a leader epoch. Followers of the ISR count as caught up at
// that moment, so that they have the maximal lag to show themselves.
func NewLeader(s Start) *Leader {
	l := &Leader{
		local: s.Local, localEnd: s.LogEnd, epochStart: s.EpochStart, highWatermark: s.HighWatermark,
		minISR: s.MinISR, maxLag: s.MaxLag, now: s.Now,
	}
	l.register(s.Registration)
	return l
}

// Update takes in a newer registration of the same leader epoch; an older one
// is ignored. Progress of followers that stay is kept.
func (l *Leader) Update(r Registration) {
	if r.LeaderEpoch != l.leaderEpoch || r.PartitionEpoch <= l.partitionEpoch {
		return
	}
	l.register(r)
}

func (l *Leader) register(r Registration) {
	old := l.followers
	l.followers = make([]follower, 0, max(0, len(r.Replicas)-1))
	for _, id := range r.Replicas {
		if id == l.local {
			continue
		}
		if i := slices.IndexFunc(old, func(f follower) bool { return f.id == id }); i >= 0 {
			l.followers = append(l.followers, old[i])
			continue
		}
		f := follower{
			id: id, logEnd: kafka.NoOffset, leaderEndAtLastFetch: l.localEnd,
			epoch: kafka.NoBrokerEpoch, registered: kafka.NoBrokerEpoch,
		}
		if slices.Contains(r.ISR, id) {
			f.lastCaughtUp, f.lastFetch = l.now, l.now
		}
		l.followers = append(l.followers, f)
	}
	l.leaderEpoch, l.partitionEpoch, l.recovery = r.LeaderEpoch, r.PartitionEpoch, r.Recovery
	l.isr = r.ISR
	l.pending, l.unsent = nil, false
	l.advance()
	if l.recovery == kafka.Recovering {
		// Nothing needs recovery beyond what opening the log did: say at once
		// that the partition is whole, or it could not take in other replicas.
		l.propose(l.isr)
	}
}

// LocalEnd tells how far the leader's own log counts, and gives the high
// watermark that follows.
func (l *Leader) LocalEnd(end kafka.Offset) kafka.Offset {
	l.localEnd = end
	l.advance()
	return l.highWatermark
}

// SetMinISR changes min.insync.replicas.
func (l *Leader) SetMinISR(n int) {
	l.minISR = n
	l.advance()
}

// HighWatermark is the offset below which records are committed.
func (l *Leader) HighWatermark() kafka.Offset { return l.highWatermark }

// ISR is the committed in-sync set. The caller does not change it.
func (l *Leader) ISR() []kafka.BrokerID { return l.isr }

// Replicas says how many replicas the partition has.
func (l *Leader) Replicas() int { return len(l.followers) + 1 }

// PartitionEpoch is that of the last registration that the leader knows.
func (l *Leader) PartitionEpoch() kafka.PartitionEpoch { return l.partitionEpoch }

// BelowMinISR says whether acks=all is refused and the high watermark stands
// (I5). No more can be asked for than there are replicas.
func (l *Leader) BelowMinISR() bool {
	return len(l.isr) < min(l.minISR, l.Replicas())
}

// advance moves the high watermark as far as I3 and I5 allow. Replicas outside
// the ISR that have caught up count too, or they could never get in under load.
func (l *Leader) advance() {
	if l.BelowMinISR() {
		return
	}
	next := l.localEnd
	for i := range l.followers {
		f := &l.followers[i]
		if f.logEnd < next && (l.inMaximalISR(f.id) || f.eligible() && f.caughtUp(l.localEnd, l.now, l.maxLag)) {
			next = f.logEnd
		}
	}
	l.highWatermark = max(l.highWatermark, next)
}

func (l *Leader) inMaximalISR(id kafka.BrokerID) bool {
	return slices.Contains(l.isr, id) || l.pending != nil && l.pending.has(id)
}

package election

import (
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// Partition is the registered state of a partition, as far as it matters here.
type Partition struct {
	Replicas     []kafka.BrokerID // in order of preference
	Directories  []kafka.UUID     // of each replica
	ISR          []kafka.BrokerID
	Removing     []kafka.BrokerID
	Adding       []kafka.BrokerID
	ELR          []kafka.BrokerID
	LastKnownELR []kafka.BrokerID
	Leader       kafka.BrokerID
	Recovery     kafka.LeaderRecoveryState
}

// Kind says how far an election may go.
type Kind uint8

const (
	// Online keeps the leader if it can, else takes a clean one.
	Online Kind = iota
	// Preferred moves to the first replica if that is clean.
	Preferred
	// Unclean takes any live replica rather than none.
	Unclean
)

// Rules are what the cluster and the topic say.
type Rules struct {
	MetadataVersion kafka.MetadataVersion
	ELR             bool // eligible.leader.replicas.version is 1 or higher
	MinISR          int  // min.insync.replicas, at most the replication factor
}

// Change is a partition and what happened to it. ISR is needed; the other zero
// values change nothing, and Unclean and Directory are left out by NoBroker.
type Change struct {
	Topic     kafka.UUID
	Partition int32
	Current   Partition
	Rules     Rules

	// ISR is the ISR that is wanted; the current one if it is not to change.
	ISR []kafka.BrokerID
	// Recovery is the leader recovery state that is wanted.
	Recovery kafka.LeaderRecoveryState
	Kind     Kind
	// UncleanShutdown is a broker that may have lost data: it is not eligible.
	UncleanShutdown kafka.BrokerID
	// MovedBroker's replica now lies in MovedTo.
	MovedBroker kafka.BrokerID
	MovedTo     kafka.UUID

	// Acceptable says whether a broker may lead: it is active and the directory
	// of its replica is online.
	Acceptable func(kafka.BrokerID) bool
}

// New returns a change that changes nothing yet.
func New(topic kafka.UUID, partition int32, current Partition, rules Rules, acceptable func(kafka.BrokerID) bool) Change {
	return Change{
		Topic: topic, Partition: partition, Current: current, Rules: rules,
		ISR: current.ISR, Recovery: current.Recovery,
		UncleanShutdown: kafka.NoBroker, MovedBroker: kafka.NoBroker,
		Acceptable: acceptable,
	}
}

// target is the state that a change works towards while its record is built.
type target struct {
	*Change
	isr, elr         []kafka.BrokerID
	replicas         []kafka.BrokerID
	removing, adding []kafka.BrokerID
	record           *metarec.PartitionChangeRecord
}

// Record returns the record that makes the change, or nil if nothing is to be
// changed.
func (c Change) Record() *metarec.PartitionChangeRecord {
	t := target{
		Change: &c, isr: c.ISR, elr: c.Current.ELR,
		replicas: c.Current.Replicas, removing: c.Current.Removing, adding: c.Current.Adding,
		record: metarec.NewPartitionChangeRecord(),
	}
	t.record.TopicID, t.record.PartitionID = c.Topic, c.Partition
	t.completeReassignment()
	t.populateELR()
	t.elect()
	t.bumpForRemovedReplicas()
	t.setELR()
	t.setISR()
	t.bumpForShrunkISR()
	t.setLastKnownLeader()
	t.setAssignment()
	if c.Recovery != c.Current.Recovery {
		t.record.LeaderRecoveryState = c.Recovery
	}
	if isNoOp(t.record) {
		return nil
	}
	return t.record
}

func isNoOp(r *metarec.PartitionChangeRecord) bool {
	return r.Isr == nil && r.EligibleLeaderReplicas == nil && r.LastKnownElr == nil &&
		r.Leader == metarec.NoLeaderChange && r.Replicas == nil && r.RemovingReplicas == nil &&
		r.AddingReplicas == nil && r.LeaderRecoveryState == kafka.RecoveryStateNoChange && r.Directories == nil
}

// elect seeks a leader and writes it into the record if it is another one.
func (t *target) elect() {
	leader, unclean := t.findLeader()
	if leader == t.Current.Leader {
		return
	}
	if slices.Contains(t.elr, leader) {
		t.isr = []kafka.BrokerID{leader}
		t.elr = Without(t.elr, leader)
	}
	t.record.Leader = leader
	if unclean {
		// What only other replicas have is lost now.
		t.record.Isr = []kafka.BrokerID{leader}
		if t.Current.Recovery != kafka.Recovering {
			t.record.LeaderRecoveryState = kafka.Recovering
		}
	}
}

func (t *target) findLeader() (leader kafka.BrokerID, unclean bool) {
	if t.Kind == Preferred && len(t.replicas) > 0 && t.clean(t.replicas[0]) {
		return t.replicas[0], false
	}
	if t.clean(t.Current.Leader) {
		return t.Current.Leader, false
	}
	if i := slices.IndexFunc(t.replicas, t.clean); i >= 0 {
		return t.replicas[i], false
	}
	if t.lastKnownLeaderMayLead() {
		return t.Current.LastKnownELR[0], true
	}
	if t.Kind == Unclean {
		if i := slices.IndexFunc(t.replicas, t.Acceptable); i >= 0 {
			return t.replicas[i], true
		}
	}
	return kafka.NoBroker, false
}

// clean says whether the replica may lead without losing data.
func (t *target) clean(replica kafka.BrokerID) bool {
	holdsAll := slices.Contains(t.isr, replica) || len(t.isr) == 0 && slices.Contains(t.elr, replica)
	return holdsAll && t.Acceptable(replica)
}

// bumpForRemovedReplicas raises the leader epoch when a replica leaves the
// assignment, so that a fetch of it is fenced.
func (t *target) bumpForRemovedReplicas() {
	if t.record.Leader == metarec.NoLeaderChange && !containsAll(t.replicas, t.Current.Replicas) {
		t.record.Leader = t.Current.Leader
	}
}

// metadataVersionKeepsEpoch is the level (3.6-IV0) from which a shrinking ISR
// leaves the leader epoch alone (KAFKA-15021).
const metadataVersionKeepsEpoch kafka.MetadataVersion = 12

func (t *target) bumpForShrunkISR() {
	r := t.record
	if t.Rules.MetadataVersion < metadataVersionKeepsEpoch && r.Leader == metarec.NoLeaderChange &&
		r.Isr != nil && !containsAll(r.Isr, t.Current.ISR) {
		r.Leader = t.Current.Leader
	}
}

// setISR writes the wanted ISR unless an unclean election has set another. Without
// ELR the last member stays, so that a clean leader can be found again.
func (t *target) setISR() {
	if t.record.Isr == nil && (len(t.isr) > 0 || t.Rules.ELR) && !slices.Equal(t.isr, t.Current.ISR) {
		t.record.Isr = notNil(t.isr)
	}
}

func (t *target) setAssignment() {
	if t.Rules.MetadataVersion >= kafka.MetadataVersionDirectories {
		if dirs := t.directories(); !slices.Equal(dirs, t.Current.Directories) {
			t.record.Directories = dirs
		}
	}
	if !slices.Equal(t.replicas, t.Current.Replicas) {
		t.record.Replicas = t.replicas
	}
	if !slices.Equal(t.removing, t.Current.Removing) {
		t.record.RemovingReplicas = notNil(t.removing)
	}
	if !slices.Equal(t.adding, t.Current.Adding) {
		t.record.AddingReplicas = notNil(t.adding)
	}
}

// directories returns the directory of each wanted replica; the wanted replicas
// are among the current ones.
func (t *target) directories() []kafka.UUID {
	out := make([]kafka.UUID, len(t.replicas))
	for i, replica := range t.replicas {
		if replica == t.MovedBroker {
			out[i] = t.MovedTo
		} else if at := slices.Index(t.Current.Replicas, replica); at < len(t.Current.Directories) {
			out[i] = t.Current.Directories[at]
		}
	}
	return out
}

// Without returns ids without those that are gone, in the same order.
func Without(ids []kafka.BrokerID, gone ...kafka.BrokerID) []kafka.BrokerID {
	out := make([]kafka.BrokerID, 0, len(ids))
	for _, id := range ids {
		if !slices.Contains(gone, id) {
			out = append(out, id)
		}
	}
	return out
}

func containsAll(ids, members []kafka.BrokerID) bool {
	for _, m := range members {
		if !slices.Contains(ids, m) {
			return false
		}
	}
	return true
}

// notNil keeps an empty list apart from null, which means "no change".
func notNil(ids []kafka.BrokerID) []kafka.BrokerID {
	if ids == nil {
		return []kafka.BrokerID{}
	}
	return ids
}

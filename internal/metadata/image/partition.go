package image

import (
	"fmt"
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// Partition is the state of one partition. Lists that are empty for nearly all
// partitions stand behind one pointer.
type Partition struct {
	Replicas       []kafka.BrokerID // in order of preference
	ISR            []kafka.BrokerID
	directories    []kafka.UUID // one per replica; nil: DirectoryMigrating for all
	rare           *rareLists   // nil: all empty
	Leader         kafka.BrokerID
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	RecoveryState  kafka.LeaderRecoveryState
	exists         bool // false: a hole in the numbering
}

type rareLists struct {
	adding, removing, elr, lastKnownELR []kafka.BrokerID
}

var noRare rareLists // shared, all empty

func (p *Partition) lists() *rareLists {
	if p.rare == nil {
		return &noRare
	}
	return p.rare
}

// Adding are the replicas that a reassignment adds.
func (p *Partition) Adding() []kafka.BrokerID { return p.lists().adding }

// Removing are the replicas that a reassignment takes away.
func (p *Partition) Removing() []kafka.BrokerID { return p.lists().removing }

// ELR are the replicas outside the ISR that have all committed records.
func (p *Partition) ELR() []kafka.BrokerID { return p.lists().elr }

// LastKnownELR are former members of the ELR that may have lost records.
func (p *Partition) LastKnownELR() []kafka.BrokerID { return p.lists().lastKnownELR }

// Directory is the log directory of the broker's replica; ok is false when the
// broker has none.
func (p *Partition) Directory(broker kafka.BrokerID) (id kafka.UUID, ok bool) {
	i := slices.Index(p.Replicas, broker)
	switch {
	case i < 0:
		return kafka.UUID{}, false
	case p.directories == nil:
		return kafka.DirectoryMigrating, true
	}
	return p.directories[i], true
}

// Directories is the log directory of each replica, in order of Replicas.
func (p *Partition) Directories() []kafka.UUID {
	if p.directories == nil {
		return make([]kafka.UUID, len(p.Replicas)) // DirectoryMigrating is the zero id
	}
	return p.directories
}

// PreferredLeader is the first replica; NoBroker without replicas.
func (p *Partition) PreferredLeader() kafka.BrokerID {
	if len(p.Replicas) == 0 {
		return kafka.NoBroker
	}
	return p.Replicas[0]
}

// partitionFrom is the partition that the record describes.
func (b *Builder) partitionFrom(r *metarec.PartitionRecord) (Partition, error) {
	p := Partition{
		Replicas:       b.brokers(r.Replicas),
		ISR:            b.brokers(r.Isr),
		Leader:         r.Leader,
		LeaderEpoch:    r.LeaderEpoch,
		PartitionEpoch: r.PartitionEpoch,
		RecoveryState:  r.LeaderRecoveryState,
		exists:         true,
	}
	p.setRare(rareLists{b.brokers(r.AddingReplicas), b.brokers(r.RemovingReplicas), b.brokers(r.EligibleLeaderReplicas), b.brokers(r.LastKnownElr)})
	if err := p.setDirectories(b.directories(r.Directories)); err != nil {
		return p, err
	}
	return p, checkRecoveryState(r.LeaderRecoveryState)
}

// merge is p with what the record changes. The partition epoch always goes up, the
// leader epoch whenever the record names a leader, be it the same.
func (b *Builder) merge(p Partition, r *metarec.PartitionChangeRecord) (Partition, error) {
	set := func(list *[]kafka.BrokerID, change []kafka.BrokerID) {
		if change != nil {
			*list = b.brokers(change)
		}
	}
	set(&p.Replicas, r.Replicas)
	set(&p.ISR, r.Isr)
	rare := *p.lists()
	set(&rare.adding, r.AddingReplicas)
	set(&rare.removing, r.RemovingReplicas)
	set(&rare.elr, r.EligibleLeaderReplicas)
	set(&rare.lastKnownELR, r.LastKnownElr)
	p.setRare(rare)
	directories := p.directories
	if r.Directories != nil {
		directories = b.directories(r.Directories)
	}
	if err := p.setDirectories(directories); err != nil {
		return p, err
	}
	if r.Leader != metarec.NoLeaderChange {
		p.Leader = r.Leader
		p.LeaderEpoch++
	}
	if r.LeaderRecoveryState != kafka.RecoveryStateNoChange {
		p.RecoveryState = r.LeaderRecoveryState
	}
	p.PartitionEpoch++
	return p, checkRecoveryState(p.RecoveryState)
}

func (p *Partition) setRare(r rareLists) {
	switch {
	case len(r.adding)+len(r.removing)+len(r.elr)+len(r.lastKnownELR) == 0:
		p.rare = nil
	case p.rare == nil || !r.equal(p.rare):
		p.rare = &r
	}
}

func (r *rareLists) equal(o *rareLists) bool {
	return slices.Equal(r.adding, o.adding) && slices.Equal(r.removing, o.removing) &&
		slices.Equal(r.elr, o.elr) && slices.Equal(r.lastKnownELR, o.lastKnownELR)
}

// setDirectories takes no list and a list of nothing but DirectoryMigrating for the
// same thing.
func (p *Partition) setDirectories(ids []kafka.UUID) error {
	migrating := func(id kafka.UUID) bool { return id == kafka.DirectoryMigrating }
	if !slices.ContainsFunc(ids, func(id kafka.UUID) bool { return !migrating(id) }) {
		p.directories = nil
		return nil
	}
	if len(ids) != len(p.Replicas) {
		return fmt.Errorf("%d directories for %d replicas", len(ids), len(p.Replicas))
	}
	p.directories = ids
	return nil
}

func checkRecoveryState(s kafka.LeaderRecoveryState) error {
	if s != kafka.Recovered && s != kafka.Recovering {
		return fmt.Errorf("leader recovery state %d is not known", s)
	}
	return nil
}

func (p *Partition) equal(o *Partition) bool {
	return p == o || p.exists == o.exists && p.Leader == o.Leader && p.LeaderEpoch == o.LeaderEpoch &&
		p.PartitionEpoch == o.PartitionEpoch && p.RecoveryState == o.RecoveryState &&
		slices.Equal(p.Replicas, o.Replicas) && slices.Equal(p.ISR, o.ISR) &&
		slices.Equal(p.directories, o.directories) && p.lists().equal(o.lists())
}

// record is the PartitionRecord of p at that metadata.version. ELR says whether
// eligible leader replicas are in use.
func (p *Partition) record(topic kafka.UUID, id int32, mv kafka.MetadataVersion, elr bool) *metarec.PartitionRecord {
	r := metarec.NewPartitionRecord()
	r.PartitionID, r.TopicID = id, topic
	r.Replicas, r.Isr = p.Replicas, p.ISR
	r.AddingReplicas, r.RemovingReplicas = p.Adding(), p.Removing()
	r.Leader, r.LeaderEpoch, r.PartitionEpoch, r.LeaderRecoveryState = p.Leader, p.LeaderEpoch, p.PartitionEpoch, p.RecoveryState
	if mv >= kafka.MetadataVersionDirectories {
		r.Directories = p.Directories()
	}
	if elr && len(p.ELR()) > 0 {
		r.EligibleLeaderReplicas = p.ELR()
	}
	if elr && len(p.LastKnownELR()) > 0 {
		r.LastKnownElr = p.LastKnownELR()
	}
	return r
}

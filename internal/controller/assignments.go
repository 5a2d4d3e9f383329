package controller

import (
	"slices"

	"barnabas/internal/controller/placement"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
)

// replicaLists are the replicas of new partitions, in order of partition.
type replicaLists [][]kafka.BrokerID

// place chooses the replicas of new partitions.
func (a *active) place(partitions, replicas int) (replicaLists, error) {
	return placement.Place(a.usableBrokers(), placement.Spec{Partitions: partitions, Replicas: replicas}, a.o.Random)
}

// usableBrokers are those that may get new replicas.
func (a *active) usableBrokers() (out []placement.Broker) {
	for id, b := range a.image.Cluster.Brokers.All() {
		if a.brokers.ShuttingDown(id) || !hasUncordoned(b) {
			continue
		}
		p := placement.Broker{ID: id, Fenced: b.Fenced}
		if b.Rack != nil {
			p.Rack = *b.Rack
		}
		out = append(out, p)
	}
	return out
}

// hasUncordoned says whether the broker has a directory that takes new replicas.
func hasUncordoned(b *image.Broker) bool {
	return len(b.Directories) == 0 || slices.ContainsFunc(b.Directories, func(d kafka.UUID) bool {
		return !slices.Contains(b.Cordoned, d)
	})
}

// checkAssignment checks replicas that a client chose. replicas is how many there
// have to be, 0 if any number.
func (a *active) checkAssignment(ids []kafka.BrokerID, replicas int) *refusal {
	const code = kafka.ErrInvalidReplicaAssignment
	if len(ids) == 0 {
		return refuse(code, "The manual partition assignment includes an empty replica list.")
	}
	sorted := slices.Sorted(slices.Values(ids))
	for i, id := range sorted {
		b := a.image.Cluster.Broker(id)
		switch {
		case b == nil:
			return refuse(code, "The manual partition assignment includes broker %d, but no such broker is registered.", id)
		case !hasUncordoned(b):
			return refuse(code, "The manual partition assignment includes broker %d, but all its log directories are cordoned.", id)
		case i > 0 && sorted[i-1] == id:
			return refuse(code, "The manual partition assignment includes the broker %d more than once.", id)
		}
	}
	if replicas > 0 && len(ids) != replicas {
		return refuse(code, "The manual partition assignment includes a partition with %d replica(s), but this is not consistent with previous partitions, which have %d replica(s).", len(ids), replicas)
	}
	return nil
}

// activeOf are the replicas that can be in sync from the start.
func (a *active) activeOf(ids []kafka.BrokerID) (out []kafka.BrokerID) {
	for _, id := range ids {
		if a.isActive(id) {
			out = append(out, id)
		}
	}
	return out
}

// newPartition is the record of a new partition; isr is not empty, and its first
// member leads.
func (a *active) newPartition(topic kafka.UUID, number int32, replicas, isr []kafka.BrokerID) *metarec.PartitionRecord {
	r := metarec.NewPartitionRecord()
	r.TopicID, r.PartitionID = topic, number
	r.Replicas, r.Isr, r.Leader = replicas, isr, isr[0]
	r.LeaderEpoch, r.PartitionEpoch = 0, 0
	if a.version >= kafka.MetadataVersionDirectories {
		r.Directories = make([]kafka.UUID, len(replicas))
		for i, id := range replicas {
			r.Directories[i] = a.defaultDirectory(id)
		}
	}
	return r
}

// defaultDirectory is where a new replica lies on a broker: known if there is only
// one directory, else the broker chooses and tells.
func (a *active) defaultDirectory(id kafka.BrokerID) kafka.UUID {
	b := a.image.Cluster.Broker(id)
	switch {
	case b == nil:
		return kafka.DirectoryUnassigned
	case len(b.Directories) == 0:
		return kafka.DirectoryMigrating
	case len(b.Directories) == 1:
		return b.Directories[0]
	}
	return kafka.DirectoryUnassigned
}

func brokerIDs(raw []int32) []kafka.BrokerID {
	out := make([]kafka.BrokerID, len(raw))
	for i, id := range raw {
		out[i] = kafka.BrokerID(id)
	}
	return out
}

func rawIDs(ids []kafka.BrokerID) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = int32(id)
	}
	return out
}

package controller

import (
	"slices"

	"barnabas/internal/controller/election"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
)

// change is an election.Change of the partition that changes nothing yet.
func (a *active) change(topic *image.Topic, number int32, p *image.Partition, rules topicRules) election.Change {
	return election.New(topic.ID, number, election.Partition{
		Replicas: p.Replicas, Directories: p.Directories(), ISR: p.ISR,
		Removing: p.Removing(), Adding: p.Adding(), ELR: p.ELR(), LastKnownELR: p.LastKnownELR(),
		Leader: p.Leader, Recovery: p.RecoveryState,
	}, election.Rules{
		MetadataVersion: a.version, ELR: a.image.Features.ELREnabled(), MinISR: rules.minISR,
	}, a.mayLead(p))
}

// mayLead says who may lead the partition: active brokers whose directory with the
// replica is online.
func (a *active) mayLead(p *image.Partition) func(kafka.BrokerID) bool {
	return func(id kafka.BrokerID) bool { return a.isActive(id) && a.online(p, id) }
}

func (a *active) online(p *image.Partition, id kafka.BrokerID) bool {
	b := a.image.Cluster.Broker(id)
	directory, ok := p.Directory(id)
	return b != nil && ok && b.HasDirectory(directory)
}

// passing is a broker that comes, goes or was lost; NoBroker stands for nobody.
type passing struct {
	gone kafka.BrokerID // leaves ISR and leadership
	come kafka.BrokerID // may lead from now on
	lost kafka.BrokerID // may have lost data: leaves ISR, ELR and leadership
}

func gone(id kafka.BrokerID) passing { return passing{id, kafka.NoBroker, kafka.NoBroker} }
func come(id kafka.BrokerID) passing { return passing{kafka.NoBroker, id, kafka.NoBroker} }
func lost(id kafka.BrokerID) passing { return passing{kafka.NoBroker, kafka.NoBroker, id} }

// passingRecords returns the changes of the partitions that concern picks.
func (a *active) passingRecords(who passing, concerns func(*image.Partition) bool) (records []metarec.Message) {
	for topic := range a.image.Topics.All() {
		var rules topicRules
		known := false
		for number, p := range topic.All() {
			if !concerns(p) {
				continue
			}
			if !known {
				rules, known = a.rulesOf(topic), true
			}
			if r := a.passingRecord(who, topic, number, p, rules); r != nil {
				records = append(records, r)
			}
		}
	}
	return records
}

func (a *active) passingRecord(who passing, topic *image.Topic, number int32, p *image.Partition, rules topicRules) *metarec.PartitionChangeRecord {
	change := a.change(topic, number, p, rules)
	change.Acceptable = func(id kafka.BrokerID) bool {
		return id != who.gone && id != who.lost && (id == who.come || a.isActive(id)) && a.online(p, id)
	}
	if rules.unclean {
		change.Kind = election.Unclean
	}
	change.UncleanShutdown = who.lost
	change.ISR = election.Without(p.ISR, who.gone, who.lost)
	return change.Record()
}

func inISR(id kafka.BrokerID) func(*image.Partition) bool {
	return func(p *image.Partition) bool { return slices.Contains(p.ISR, id) }
}

func inELR(id kafka.BrokerID) func(*image.Partition) bool {
	return func(p *image.Partition) bool { return slices.Contains(p.ELR(), id) }
}

func leaderless(p *image.Partition) bool { return p.Leader == kafka.NoBroker }

func inDirectory(id kafka.BrokerID, directory kafka.UUID) func(*image.Partition) bool {
	return func(p *image.Partition) bool {
		d, ok := p.Directory(id)
		return ok && d == directory
	}
}

// leads says whether the broker leads any partition.
func (a *active) leads(id kafka.BrokerID) bool {
	for topic := range a.image.Topics.All() {
		for _, p := range topic.All() {
			if p.Leader == id {
				return true
			}
		}
	}
	return false
}

// fence returns the records that fence a broker: others lead what it led.
func (a *active) fence(b *image.Broker) []metarec.Message {
	return append(a.passingRecords(gone(b.ID), inISR(b.ID)), fencing(b, metarec.FencingFence))
}

// unfence returns the records that unfence a broker: it leads what has no leader.
func (a *active) unfence(b *image.Broker) []metarec.Message {
	return append([]metarec.Message{fencing(b, metarec.FencingUnfence)}, a.passingRecords(come(b.ID), leaderless)...)
}

// drain returns the records by which a broker enters controlled shutdown.
func (a *active) drain(b *image.Broker) (records []metarec.Message) {
	if !b.InControlledShutdown {
		r := registrationChange(b)
		r.InControlledShutdown = metarec.ControlledShutdownEnter
		records = append(records, r)
	}
	return append(records, a.passingRecords(gone(b.ID), inISR(b.ID))...)
}

// cleanUp returns the records that take the last incarnation of a broker out of
// ISRs; after an unclean stop it may have lost data, and is not eligible either.
func (a *active) cleanUp(id kafka.BrokerID, clean bool) []metarec.Message {
	if clean || !a.image.Features.ELREnabled() {
		return a.passingRecords(gone(id), inISR(id))
	}
	return append(a.passingRecords(lost(id), inISR(id)), a.passingRecords(lost(id), inELR(id))...)
}

func registrationChange(b *image.Broker) *metarec.BrokerRegistrationChangeRecord {
	r := metarec.NewBrokerRegistrationChangeRecord()
	r.BrokerID, r.BrokerEpoch = b.ID, b.Epoch
	return r
}

func fencing(b *image.Broker, how int8) metarec.Message {
	r := registrationChange(b)
	r.Fenced = how
	return r
}

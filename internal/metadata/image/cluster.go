package image

import (
	"bytes"
	"cmp"
	"slices"

	"barnabas/internal/base/immut"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// Cluster are the nodes that have registered.
type Cluster struct {
	Brokers immut.Map[kafka.BrokerID, *Broker]
	// Controllers are as their records said, with lists in order of name.
	Controllers immut.Map[kafka.BrokerID, *metarec.RegisterControllerRecord]
}

// Broker returns the registration, or nil.
func (c *Cluster) Broker(id kafka.BrokerID) *Broker {
	b, _ := c.Brokers.Get(id)
	return b
}

// Broker is the registration of a broker.
type Broker struct {
	ID          kafka.BrokerID
	Epoch       kafka.BrokerEpoch          // the offset of the registration record
	Incarnation kafka.UUID                 // of the process
	Endpoints   []metarec.BrokerEndpoint   // in order of name
	Features    []metarec.SupportedFeature // in order of name
	Rack        *string
	Fenced      bool
	// InControlledShutdown: it is about to stop, takes no new leaderships and
	// cannot come back into an ISR.
	InControlledShutdown bool
	MigratingZK          bool // left over from migrations away from ZooKeeper
	// Directories are the log directories that are online.
	Directories []kafka.UUID
	// Cordoned are the directories that get no new replicas; nil: not known yet.
	Cordoned []kafka.UUID
}

func brokerFrom(r *metarec.RegisterBrokerRecord) *Broker {
	return &Broker{
		ID:                   r.BrokerID,
		Epoch:                r.BrokerEpoch,
		Incarnation:          r.IncarnationID,
		Endpoints:            sortedEndpoints(r.EndPoints),
		Features:             sortedFeatures(r.Features),
		Rack:                 r.Rack,
		Fenced:               r.Fenced,
		InControlledShutdown: r.InControlledShutdown,
		MigratingZK:          r.IsMigratingZkBroker,
		Directories:          r.LogDirs,
		Cordoned:             r.CordonedLogDirs,
	}
}

// controllerFrom is the record with its lists in order of name.
func controllerFrom(r *metarec.RegisterControllerRecord) *metarec.RegisterControllerRecord {
	c := *r
	c.EndPoints, c.Features = sortedEndpoints(r.EndPoints), sortedFeatures(r.Features)
	return &c
}

// sortedEndpoints and sortedFeatures put lists into order of name, for Apache Kafka
// writes them in the order of hash maps.
func sortedEndpoints(e []metarec.BrokerEndpoint) []metarec.BrokerEndpoint {
	return slices.SortedStableFunc(slices.Values(e), func(a, b metarec.BrokerEndpoint) int { return cmp.Compare(a.Name, b.Name) })
}

func sortedFeatures(f []metarec.SupportedFeature) []metarec.SupportedFeature {
	return slices.SortedStableFunc(slices.Values(f), func(a, b metarec.SupportedFeature) int { return cmp.Compare(a.Name, b.Name) })
}

// Active says whether the broker may lead: neither fenced nor about to stop.
func (b *Broker) Active() bool { return !b.Fenced && !b.InControlledShutdown }

// Endpoint returns the endpoint of the listener with that name.
func (b *Broker) Endpoint(listener string) (metarec.BrokerEndpoint, bool) {
	return findEndpoint(b.Endpoints, listener)
}

func findEndpoint(endpoints []metarec.BrokerEndpoint, listener string) (metarec.BrokerEndpoint, bool) {
	i := slices.IndexFunc(endpoints, func(e metarec.BrokerEndpoint) bool { return e.Name == listener })
	if i < 0 {
		return metarec.BrokerEndpoint{}, false
	}
	return endpoints[i], true
}

// Supports says whether the broker can work at that level of the feature. A broker
// that does not name a feature can work at level 0.
func (b *Broker) Supports(feature string, level int16) bool {
	for _, f := range b.Features {
		if f.Name == feature {
			return level >= f.MinSupportedVersion && level <= f.MaxSupportedVersion
		}
	}
	return level == 0
}

// HasDirectory says whether a replica in that log directory is online, as far as the
// registration tells: only directories that were lost are offline where the broker
// has named none, and ids that stand for "not known yet" are online.
func (b *Broker) HasDirectory(id kafka.UUID) bool {
	switch {
	case id == kafka.DirectoryLost:
		return false
	case id == kafka.DirectoryUnassigned, id == kafka.DirectoryMigrating, len(b.Directories) == 0:
		return true
	}
	return slices.Contains(b.Directories, id)
}

func (b *Broker) equal(o *Broker) bool {
	return b == o || b.ID == o.ID && b.Epoch == o.Epoch && b.Incarnation == o.Incarnation &&
		slices.EqualFunc(b.Endpoints, o.Endpoints, sameEndpoint) &&
		slices.EqualFunc(b.Features, o.Features, sameFeature) &&
		equalPointers(b.Rack, o.Rack) && b.Fenced == o.Fenced &&
		b.InControlledShutdown == o.InControlledShutdown && b.MigratingZK == o.MigratingZK &&
		slices.Equal(b.Directories, o.Directories) &&
		slices.Equal(b.Cordoned, o.Cordoned) && (b.Cordoned == nil) == (o.Cordoned == nil)
}

func sameEndpoint(a, b metarec.BrokerEndpoint) bool {
	return a.Name == b.Name && a.Host == b.Host && a.Port == b.Port && a.SecurityProtocol == b.SecurityProtocol
}

func sameFeature(a, b metarec.SupportedFeature) bool {
	return a.Name == b.Name && a.MinSupportedVersion == b.MinSupportedVersion && a.MaxSupportedVersion == b.MaxSupportedVersion
}

func sameController(a, b *metarec.RegisterControllerRecord) bool {
	return a == b || a.ControllerID == b.ControllerID && a.IncarnationID == b.IncarnationID &&
		a.ZkMigrationReady == b.ZkMigrationReady &&
		slices.EqualFunc(a.EndPoints, b.EndPoints, sameEndpoint) && slices.EqualFunc(a.Features, b.Features, sameFeature)
}

func equalPointers[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func compareUUID(a, b kafka.UUID) int { return bytes.Compare(a[:], b[:]) }

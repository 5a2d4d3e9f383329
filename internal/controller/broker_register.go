package controller

import (
	"slices"

	"barnabas/internal/controller/heartbeat"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Registration says what is known of a registering broker beside its request.
type Registration struct {
	// HoldsDirectories says that the broker holds the locks of its directories:
	// it is one of this very process. If the older registration has one of them,
	// its incarnation is dead, and is replaced at once instead of after its
	// session.
	HoldsDirectories bool
}

// RegisterBroker serves BrokerRegistration v0-v4.
//
//	v1 IsMigratingZkBroker: refused
//	v2 log directories (KIP-858)
//	v3 PreviousBrokerEpoch (KIP-966): the last epoch if the last stop was clean
//	v4 features may begin at level 0 (KIP-584)
func (c *Controller) RegisterBroker(ctx Context, req *kmsg.BrokerRegistrationRequest, reg Registration, done func(*kmsg.BrokerRegistrationResponse)) {
	answer := req.ResponseKind().(*kmsg.BrokerRegistrationResponse)
	c.submit(operation{
		name: "register broker",
		decide: func(a *active) (decision, *refusal) {
			record, refused := a.register(req, reg)
			if refused != nil {
				return decision{}, refused
			}
			answer.BrokerEpoch = int64(record.BrokerEpoch)
			return decision{
				records:   append(a.replaceIncarnation(req, record), record),
				divisible: true,
				answer:    func() { done(answer) },
			}, nil
		},
		refuse: func(r refusal) {
			c.o.Logger.Warn("broker registration refused", "broker", req.BrokerID, "error", r.code, "reason", r.message)
			answer.ErrorCode = int16(r.code)
			answer.BrokerEpoch = int64(kafka.NoBrokerEpoch)
			done(answer)
		},
	})
}

// register checks a registration and returns its record.
func (a *active) register(req *kmsg.BrokerRegistrationRequest, reg Registration) (*metarec.RegisterBrokerRecord, *refusal) {
	if req.ClusterID != a.o.ClusterID {
		return nil, refuse(kafka.ErrInconsistentClusterID, "Expected cluster ID %s, but got cluster ID %s", a.o.ClusterID, req.ClusterID)
	}
	existing := a.image.Cluster.Broker(kafka.BrokerID(req.BrokerID))
	if existing != nil && existing.Incarnation != req.IncarnationID && a.hasSession(existing) &&
		!(reg.HoldsDirectories && sharesDirectory(existing, req)) {
		return nil, refuse(kafka.ErrDuplicateBrokerRegistration, "Another broker is registered with that broker id. If the broker was recently restarted this should self-resolve once the heartbeat manager expires the broker's session.")
	}
	if req.IsMigratingZkBroker {
		return nil, refuse(kafka.ErrBrokerIDNotRegistered, "Controller does not support registering ZK brokers.")
	}
	directories, refused := a.checkDirectories(req)
	if refused != nil {
		return nil, refused
	}
	r := metarec.NewRegisterBrokerRecord()
	r.BrokerID, r.IncarnationID, r.Rack = kafka.BrokerID(req.BrokerID), req.IncarnationID, req.Rack
	for _, l := range req.Listeners {
		r.EndPoints = append(r.EndPoints, metarec.BrokerEndpoint{Name: l.Name, Host: l.Host, Port: l.Port, SecurityProtocol: kafka.SecurityProtocol(l.SecurityProtocol)})
	}
	if r.Features, refused = a.checkFeatures(req); refused != nil {
		return nil, refused
	}
	if a.version >= kafka.MetadataVersionDirectories {
		r.LogDirs = directories
	}
	if existing != nil && existing.Incarnation == req.IncarnationID {
		r.BrokerEpoch, r.Fenced, r.InControlledShutdown = existing.Epoch, existing.Fenced, existing.InControlledShutdown
	} else {
		r.BrokerEpoch = kafka.BrokerEpoch(a.next)
	}
	return r, nil
}

// sharesDirectory says whether both incarnations have a directory in common. A
// registration without directories is of a metadata.version that knows none.
func sharesDirectory(old *image.Broker, req *kmsg.BrokerRegistrationRequest) bool {
	return len(old.Directories) == 0 || slices.ContainsFunc(req.LogDirs, func(d [16]byte) bool { return slices.Contains(old.Directories, d) })
}

// hasSession says whether the registered incarnation was heard of in time.
func (a *active) hasSession(b *image.Broker) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions.Valid(heartbeat.Session{ID: b.ID, Epoch: b.Epoch}, a.now)
}

func (a *active) checkDirectories(req *kmsg.BrokerRegistrationRequest) ([]kafka.UUID, *refusal) {
	if a.version < kafka.MetadataVersionDirectories {
		return nil, nil
	}
	directories := uuids(req.LogDirs)
	if len(directories) == 0 {
		return nil, refuse(kafka.ErrInvalidRegistration, "No directories specified in request")
	}
	if slices.ContainsFunc(directories, kafka.UUID.Reserved) {
		return nil, refuse(kafka.ErrInvalidRegistration, "Reserved directory ID in request")
	}
	for i, d := range directories {
		if slices.Contains(directories[:i], d) {
			return nil, refuse(kafka.ErrInvalidRegistration, "Duplicate directory ID in request")
		}
	}
	for id, other := range a.image.Cluster.Brokers.All() {
		for _, d := range directories {
			if id != kafka.BrokerID(req.BrokerID) && slices.Contains(other.Directories, d) {
				return nil, refuse(kafka.ErrInvalidRegistration, "Broker %d is already registered with directory %s", id, d)
			}
		}
	}
	return directories, nil
}

// checkFeatures holds the broker's ranges against the finalized levels.
func (a *active) checkFeatures(req *kmsg.BrokerRegistrationRequest) (out []metarec.SupportedFeature, refused *refusal) {
	known := map[string]bool{}
	for _, f := range req.Features {
		known[f.Name] = true
		if refused := a.checkFeature(f.Name, f.MinSupportedVersion, f.MaxSupportedVersion); refused != nil {
			return nil, refused
		}
		out = append(out, metarec.SupportedFeature{Name: f.Name, MinSupportedVersion: f.MinSupportedVersion, MaxSupportedVersion: f.MaxSupportedVersion})
	}
	if !known[kafka.FeatureMetadataVersion] {
		return nil, refuse(kafka.ErrInvalidRegistration, "Request features do not contain 'metadata.version'")
	}
	// A feature that the broker does not name is one that it supports at level 0.
	for name := range a.image.Features.Levels.All() {
		if known[name] {
			continue
		}
		if refused := a.checkFeature(name, 0, 0); refused != nil {
			return nil, refused
		}
	}
	if !known[kafka.FeatureKRaftVersion] {
		return out, a.checkFeature(kafka.FeatureKRaftVersion, 0, 0)
	}
	return out, nil
}

func (a *active) checkFeature(name string, low, high int16) *refusal {
	var finalized int16
	switch name {
	case kafka.FeatureMetadataVersion:
		finalized = int16(a.version)
	case kafka.FeatureKRaftVersion:
		finalized = a.o.KRaftVersion()
	default:
		finalized = a.image.Features.Level(name)
	}
	if finalized < low || finalized > high {
		return refuse(kafka.ErrUnsupportedVersion, "Unable to register because the broker does not support finalized version %d of %s. The broker wants a version between %d and %d, inclusive.", finalized, name, low, high)
	}
	return nil
}

// replaceIncarnation returns what cleans up after the broker's last incarnation.
func (a *active) replaceIncarnation(req *kmsg.BrokerRegistrationRequest, record *metarec.RegisterBrokerRecord) []metarec.Message {
	existing := a.image.Cluster.Broker(record.BrokerID)
	if existing != nil && existing.Incarnation == record.IncarnationID {
		a.o.Logger.Info("amending a broker registration", "broker", record.BrokerID, "incarnation", record.IncarnationID, "epoch", record.BrokerEpoch)
		return nil
	}
	last := noSuchEpoch
	if existing != nil {
		last = existing.Epoch
	}
	clean := req.Version >= 3 && kafka.BrokerEpoch(req.PreviousBrokerEpoch) == last
	records := a.cleanUp(record.BrokerID, clean)
	a.o.Logger.Info("registering a broker", "broker", record.BrokerID, "incarnation", record.IncarnationID, "epoch", record.BrokerEpoch,
		"last_stop_was_clean", clean, "partitions_changed", len(records))
	return records
}

// noSuchEpoch is no epoch that a broker names.
const noSuchEpoch kafka.BrokerEpoch = -2

func uuids(raw [][16]byte) []kafka.UUID {
	out := make([]kafka.UUID, len(raw))
	for i, id := range raw {
		out[i] = id
	}
	return out
}

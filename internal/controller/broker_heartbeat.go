package controller

import (
	"slices"

	"barnabas/internal/controller/heartbeat"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BrokerHeartbeat serves BrokerHeartbeat v0-v2.
//
//	v1 directories that are offline (KIP-858)
//	v2 directories that are cordoned (KIP-1066)
func (c *Controller) BrokerHeartbeat(ctx Context, req *kmsg.BrokerHeartbeatRequest, done func(*kmsg.BrokerHeartbeatResponse)) {
	answer := req.ResponseKind().(*kmsg.BrokerHeartbeatResponse)
	refuse := func(r refusal) {
		answer.ErrorCode = int16(r.code)
		done(answer)
	}
	// A sign of life counts before it waits in the queue.
	if !c.heard(heartbeat.Session{ID: kafka.BrokerID(req.BrokerID), Epoch: kafka.BrokerEpoch(req.BrokerEpoch)}) {
		refuse(refusal{code: kafka.ErrNotController})
		return
	}
	c.submit(operation{
		name: "broker heartbeat",
		// Half an interval later the broker has given up (as Apache Kafka).
		deadline: ctx.deadline(c.o.Config.Lifecycle.HeartbeatInterval / 2),
		decide: func(a *active) (decision, *refusal) {
			d, refused := a.heartbeat(req, answer)
			d.answer = func() { done(answer) }
			return d, refused
		},
		refuse: refuse,
	})
}

// heard takes note of a sign of life; false if this controller does not lead.
func (c *Controller) heard(s heartbeat.Session) bool {
	now := c.o.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions == nil {
		return false
	}
	c.sessions.Touch(s, now)
	return true
}

func (a *active) heartbeat(req *kmsg.BrokerHeartbeatRequest, answer *kmsg.BrokerHeartbeatResponse) (decision, *refusal) {
	id := kafka.BrokerID(req.BrokerID)
	if refused := a.checkEpoch(id, kafka.BrokerEpoch(req.BrokerEpoch)); refused != nil {
		return decision{}, refused
	}
	b := a.image.Cluster.Broker(id)
	offset := kafka.Offset(req.CurrentMetadataOffset)
	current, next := a.brokers.Next(id,
		heartbeat.Heartbeat{WantFence: req.WantFence, WantShutdown: req.WantShutdown, MetadataOffset: offset},
		heartbeat.Facts{Registered: a.registered[id], Departing: b.InControlledShutdown, Leads: func() bool { return a.leads(id) }})
	var records []metarec.Message
	if current != next {
		a.o.Logger.Info("state of a broker in the cluster", "broker", id, "epoch", b.Epoch, "from", current.String(), "to", next.String())
		records = a.transition(b, next)
	}
	records = append(records, a.offlineDirectories(b, uuids(req.OfflineLogDirs))...)
	records = append(records, a.cordonedDirectories(b, req.CordonedLogDirs)...)
	answer.IsCaughtUp = offset >= a.registered[id]
	answer.IsFenced = next.Fenced()
	answer.ShouldShutdown = next == heartbeat.ShutdownNow
	return decision{
		records:   records,
		divisible: true,
		applied: func(a *active, last kafka.Offset) {
			a.brokers.Touch(id, next.Fenced(), offset)
			if next == heartbeat.ControlledShutdown {
				a.brokers.BeginShutdown(id, last)
			}
		},
	}, nil
}

// transition returns the records that make a broker what it is to be next.
func (a *active) transition(b *image.Broker, next heartbeat.State) []metarec.Message {
	switch next {
	case heartbeat.Unfenced:
		return a.unfence(b)
	case heartbeat.ControlledShutdown:
		return a.drain(b)
	default:
		return a.fence(b)
	}
}

// offlineDirectories returns the records for directories that failed: others lead
// what lies in them.
func (a *active) offlineDirectories(b *image.Broker, offline []kafka.UUID) (records []metarec.Message) {
	if a.version < kafka.MetadataVersionDirectories {
		return nil
	}
	var left []kafka.UUID
	for _, d := range b.Directories {
		if !slices.Contains(offline, d) {
			left = append(left, d)
			continue
		}
		a.o.Logger.Warn("a broker has lost a log directory", "broker", b.ID, "directory", d)
		records = append(records, a.passingRecords(gone(b.ID), inDirectory(b.ID, d))...)
	}
	// A broker without any directory stops by itself; no record can say "none".
	if len(left) == len(b.Directories) || len(left) == 0 {
		return records
	}
	change := registrationChange(b)
	change.LogDirs = left
	return append(records, change)
}

// cordonedDirectories returns the record for another set of cordoned directories;
// nil is not told.
func (a *active) cordonedDirectories(b *image.Broker, raw [][16]byte) []metarec.Message {
	if a.version < kafka.MetadataVersionCordonedDirs || raw == nil {
		return nil
	}
	cordoned := uuids(raw)
	if b.Cordoned != nil && sameSet(b.Cordoned, cordoned) {
		return nil
	}
	change := registrationChange(b)
	change.CordonedLogDirs = cordoned
	return []metarec.Message{change}
}

func sameSet(a, b []kafka.UUID) bool {
	in := func(set []kafka.UUID) func(kafka.UUID) bool {
		return func(id kafka.UUID) bool { return !slices.Contains(set, id) }
	}
	return !slices.ContainsFunc(a, in(b)) && !slices.ContainsFunc(b, in(a))
}

// UnregisterBroker serves UnregisterBroker v0.
func (c *Controller) UnregisterBroker(ctx Context, req *kmsg.UnregisterBrokerRequest, done func(*kmsg.UnregisterBrokerResponse)) {
	answer := req.ResponseKind().(*kmsg.UnregisterBrokerResponse)
	c.submit(operation{
		name: "unregister broker",
		decide: func(a *active) (decision, *refusal) {
			id := kafka.BrokerID(req.BrokerID)
			b := a.image.Cluster.Broker(id)
			if b == nil {
				return decision{}, refuse(kafka.ErrBrokerIDNotRegistered, "Broker ID %d is not currently registered", id)
			}
			a.o.Logger.Info("unregistering a broker", "broker", id, "epoch", b.Epoch, "principal", ctx.Principal)
			// An eligible replica stays eligible: should the broker come back, its
			// data is still whole.
			records := a.passingRecords(gone(id), inISR(id))
			record := metarec.NewUnregisterBrokerRecord()
			record.BrokerID, record.BrokerEpoch = id, b.Epoch
			return decision{records: append(records, record), answer: func() { done(answer) }}, nil
		},
		refuse: func(r refusal) {
			answer.ErrorCode, answer.ErrorMessage = int16(r.code), r.text()
			done(answer)
		},
	})
}

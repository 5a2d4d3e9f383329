package controller

import (
	"time"

	"barnabas/internal/config"
	"barnabas/internal/controller/heartbeat"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
)

// active is the state of a controller that leads. It is made when leadership
// begins and dropped when it ends. Owned by the executor.
type active struct {
	*Controller
	epoch kafka.LeaderEpoch
	next  kafka.Offset // of the next record
	now   time.Time    // of the operation that runs
	// image is the pending state: all records below next, committed or not.
	image *image.Image
	// version is the metadata.version at which records are written: the image's,
	// or while the log is empty that of the bootstrap records.
	version kafka.MetadataVersion

	brokers *heartbeat.Brokers
	// registered is, for each broker, the offset of its registration record or
	// one above it.
	registered map[kafka.BrokerID]kafka.Offset
	// colliding holds the topics whose names have '.' or '_', by collision key.
	colliding map[string]map[string]bool

	config    *config.Broker // see resolved; nil: to be worked out anew
	defaults  topicRules
	lastWrite time.Time
}

func newActive(c *Controller, l Leadership, now time.Time) *active {
	a := &active{
		Controller: c, epoch: l.Epoch, next: l.Next, now: now, image: l.Committed,
		version: l.Committed.Features.MetadataVersion,
		brokers: heartbeat.NewBrokers(), registered: map[kafka.BrokerID]kafka.Offset{},
		colliding: map[string]map[string]bool{}, lastWrite: now,
	}
	for id, b := range a.image.Cluster.Brokers.All() {
		a.brokers.Register(id, b.Fenced)
		a.registered[id] = l.Next - 1
	}
	for t := range a.image.Topics.All() {
		a.noteName(t.Name)
	}
	return a
}

// took makes img the pending image and brings the soft state up to the records.
func (a *active) took(img *image.Image, records []metarec.Message, last kafka.Offset) {
	before := a.image
	a.image, a.next, a.lastWrite = img, last+1, a.now
	a.version = img.Features.MetadataVersion
	first := last + 1 - kafka.Offset(len(records))
	for i, m := range records {
		switch m := m.(type) {
		case *metarec.RegisterBrokerRecord:
			a.brokers.Remove(m.BrokerID)
			a.brokers.Register(m.BrokerID, m.Fenced)
			a.registered[m.BrokerID] = first + kafka.Offset(i)
		case *metarec.BrokerRegistrationChangeRecord:
			a.brokers.Register(m.BrokerID, img.Cluster.Broker(m.BrokerID).Fenced)
		case *metarec.UnregisterBrokerRecord:
			a.brokers.Remove(m.BrokerID)
			delete(a.registered, m.BrokerID)
		case *metarec.ConfigRecord:
			if image.ResourceType(m.ResourceType) == image.BrokerResource {
				a.config = nil
			}
		case *metarec.TopicRecord:
			a.noteName(m.Name)
		case *metarec.RemoveTopicRecord:
			a.forgetName(before.Topics.ByID(m.TopicID).Name)
		}
	}
}

func (a *active) noteName(name string) {
	if key, ok := collisionKey(name); ok {
		if a.colliding[key] == nil {
			a.colliding[key] = map[string]bool{}
		}
		a.colliding[key][name] = true
	}
}

func (a *active) forgetName(name string) {
	if key, ok := collisionKey(name); ok {
		delete(a.colliding[key], name)
		if len(a.colliding[key]) == 0 {
			delete(a.colliding, key)
		}
	}
}

// isActive says whether the broker may be in an ISR.
func (a *active) isActive(id kafka.BrokerID) bool {
	b := a.image.Cluster.Broker(id)
	return b != nil && b.Active()
}

// checkEpoch refuses a request of a broker that is not the registered incarnation.
func (a *active) checkEpoch(id kafka.BrokerID, epoch kafka.BrokerEpoch) *refusal {
	switch b := a.image.Cluster.Broker(id); {
	case b == nil:
		return refuse(kafka.ErrStaleBrokerEpoch, "No broker registration found for broker id %d", id)
	case b.Epoch != epoch:
		return refuse(kafka.ErrStaleBrokerEpoch, "Expected broker epoch %d, but got broker epoch %d", b.Epoch, epoch)
	}
	return nil
}

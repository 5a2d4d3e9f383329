package image

import (
	"fmt"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

func (b *Builder) replayCluster(m metarec.Message) error {
	switch r := m.(type) {
	case *metarec.RegisterBrokerRecord:
		b.setBroker(brokerFrom(r))
	case *metarec.UnregisterBrokerRecord:
		b.img.Cluster.Brokers.Delete(b.owner, r.BrokerID)
		b.changes.brokers.add(r.BrokerID)
	case *metarec.FenceBrokerRecord:
		return b.setFenced(r.ID, r.Epoch, true)
	case *metarec.UnfenceBrokerRecord:
		return b.setFenced(r.ID, r.Epoch, false)
	case *metarec.BrokerRegistrationChangeRecord:
		return b.changeBroker(r)
	case *metarec.RegisterControllerRecord:
		b.img.Cluster.Controllers.Set(b.owner, r.ControllerID, controllerFrom(r))
		b.changes.controllers.add(r.ControllerID)
	case *metarec.UnregisterControllerRecord:
		b.img.Cluster.Controllers.Delete(b.owner, r.ControllerID)
		b.changes.controllers.add(r.ControllerID)
	}
	return nil
}

func (b *Builder) setBroker(br *Broker) {
	b.img.Cluster.Brokers.Set(b.owner, br.ID, br)
	b.changes.brokers.add(br.ID)
}

// registered returns a copy of the registration with that epoch.
func (b *Builder) registered(id kafka.BrokerID, epoch kafka.BrokerEpoch) (*Broker, error) {
	br := b.img.Cluster.Broker(id)
	switch {
	case br == nil:
		return nil, fmt.Errorf("broker %d is not registered", id)
	case br.Epoch != epoch:
		return nil, fmt.Errorf("broker %d has epoch %d, the record says %d", id, br.Epoch, epoch)
	}
	c := *br
	return &c, nil
}

func (b *Builder) setFenced(id kafka.BrokerID, epoch kafka.BrokerEpoch, fenced bool) error {
	br, err := b.registered(id, epoch)
	if err != nil {
		return err
	}
	br.Fenced = fenced
	b.setBroker(br)
	return nil
}

func (b *Builder) changeBroker(r *metarec.BrokerRegistrationChangeRecord) error {
	br, err := b.registered(r.BrokerID, r.BrokerEpoch)
	if err != nil {
		return err
	}
	switch r.Fenced {
	case metarec.FencingNoChange:
	case metarec.FencingFence:
		br.Fenced = true
	case metarec.FencingUnfence:
		br.Fenced = false
	default:
		return fmt.Errorf("broker %d: fencing change %d is not known", br.ID, r.Fenced)
	}
	switch r.InControlledShutdown {
	case metarec.ControlledShutdownNoChange:
	case metarec.ControlledShutdownEnter:
		br.InControlledShutdown = true
	default:
		return fmt.Errorf("broker %d: controlled shutdown change %d is not known", br.ID, r.InControlledShutdown)
	}
	if len(r.LogDirs) > 0 {
		br.Directories = r.LogDirs
	}
	if r.CordonedLogDirs != nil {
		br.Cordoned = r.CordonedLogDirs
	}
	b.setBroker(br)
	return nil
}

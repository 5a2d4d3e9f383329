package controller

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"barnabas/internal/controller/heartbeat"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
)

// lead makes the controller active: the soft state is built, the log is made
// whole, the controller is registered, and the clock begins to run.
func (c *Controller) lead(l Leadership) {
	c.resign() // an older leadership whose end was not told
	now := c.o.Clock.Now()
	a := newActive(c, l, now)
	c.active = a
	c.committed = max(c.committed, l.Next-1)
	if err := c.activate(a, l.OpenTransaction); err != nil {
		c.resign()
		c.o.Fatal(fmt.Errorf("controller activation: %w", err))
		return
	}
	c.mu.Lock()
	c.sessions = newSessions(a, now)
	c.mu.Unlock()
	c.startTasks(now)
	c.o.Logger.Info("controller is active", "epoch", l.Epoch, "offset", l.Next, "metadata_version", a.version.String())
}

// cutBack makes the committed state the pending one again. What activation had
// written may be among what is lost: the registration comes again, but without the
// rest there is no cluster to go on with.
func (c *Controller) cutBack(l Leadership) {
	if c.active == nil || c.active.epoch != l.Epoch {
		return
	}
	lost := c.waiters
	n := 0
	for n < len(lost) && lost[n].last < l.Next {
		n++
	}
	c.waiters, lost = lost[:n:n], lost[n:]
	now := c.o.Clock.Now()
	c.active = newActive(c, l, now)
	c.mu.Lock()
	c.sessions = newSessions(c.active, now)
	c.mu.Unlock()
	if c.active.version == 0 || l.OpenTransaction {
		c.o.Fatal(errors.New("controller activation: the disk of the metadata log is full"))
	}
	for _, w := range lost {
		w.refuse(noSpace)
	}
}

// newSessions gives each broker that is not fenced a session that begins now.
func newSessions(a *active, now time.Time) *heartbeat.Sessions {
	timeout := a.o.Config.Lifecycle.SessionTimeout
	s := heartbeat.NewSessions(timeout, sessionCheck(timeout))
	for id, b := range a.image.Cluster.Brokers.All() {
		if !b.Fenced {
			s.Touch(heartbeat.Session{ID: id, Epoch: b.Epoch}, now)
		}
	}
	return s
}

// activate writes what the log needs before anything else. What it writes may be
// lost again with the leadership, as anything may; the next leader does the same.
func (c *Controller) activate(a *active, openTransaction bool) error {
	var steps []decision
	switch empty := a.version == 0; {
	case empty:
		d, err := c.bootstrap(a, openTransaction)
		if err != nil {
			return err
		}
		steps = append(steps, d)
	case openTransaction && a.version < kafka.MetadataVersionTransactions:
		return fmt.Errorf("the log ends inside a metadata transaction, which metadata.version %v does not have", a.version)
	case openTransaction:
		c.o.Logger.Warn("aborting a metadata transaction that its controller did not end")
		steps = append(steps, decision{records: []metarec.Message{abortTransaction()}})
	}
	for _, d := range steps {
		if refused := c.write(a, d); refused != nil {
			c.o.Logger.Warn("the controller could not become active: its leadership is gone", "error", refused.code)
			return nil // the leadership is gone; Resign follows
		}
	}
	c.registerSelf(a)
	return nil
}

// bootstrap is the first content of an empty log, in one metadata transaction
// where the level has those.
func (c *Controller) bootstrap(a *active, openTransaction bool) (decision, error) {
	b, err := c.o.Bootstrap()
	if err != nil {
		return decision{}, err
	}
	a.version = bootstrapVersion(b.Records)
	if a.version == 0 {
		return decision{}, fmt.Errorf("the bootstrap records of %s have no metadata.version", b.Source)
	}
	records := slices.Clone(b.Records)
	if level(b.Records, kafka.FeatureELR) > 0 {
		// With ELR min.insync.replicas is a value of the cluster, not of a node.
		r := metarec.NewConfigRecord()
		r.ResourceType, r.Name = int8(image.BrokerResource), minInsyncReplicas
		value := strconv.Itoa(c.staticMinISR())
		r.Value = &value
		records = append(records, r)
	}
	transactions := a.version >= kafka.MetadataVersionTransactions
	switch {
	case transactions:
		begin := metarec.NewBeginTransactionRecord()
		name := "Bootstrap records"
		begin.Name = &name
		records = append(slices.Insert(records, 0, metarec.Message(begin)), metarec.NewEndTransactionRecord())
		if openTransaction {
			records = slices.Insert(records, 0, metarec.Message(abortTransaction()))
		}
	case openTransaction:
		return decision{}, fmt.Errorf("the log ends inside a transaction of bootstrap records, which metadata.version %v does not have", a.version)
	}
	c.o.Logger.Info("the metadata log is empty", "bootstrap_records", len(b.Records), "source", b.Source, "metadata_version", a.version.String())
	return decision{records: records}, nil
}

func bootstrapVersion(records []metarec.Message) kafka.MetadataVersion {
	return kafka.MetadataVersion(level(records, kafka.FeatureMetadataVersion))
}

func level(records []metarec.Message, feature string) int16 {
	for _, m := range records {
		if r, ok := m.(*metarec.FeatureLevelRecord); ok && r.Name == feature {
			return r.FeatureLevel
		}
	}
	return 0
}

func abortTransaction() *metarec.AbortTransactionRecord {
	r := metarec.NewAbortTransactionRecord()
	reason := "Controller failover"
	r.Reason = &reason
	return r
}

// registerSelf writes this controller's registration unless it stands there. A
// refusal means that the leadership is gone, which Resign will tell, or a full disk:
// then the registration is written with the first idle record that there is space
// for.
func (c *Controller) registerSelf(a *active) {
	if a.version < kafka.MetadataVersionControllerRecord {
		return
	}
	if old, ok := a.image.Cluster.Controllers.Get(c.o.ID); ok && old.IncarnationID == c.o.Self.IncarnationID {
		return
	}
	if refused := c.write(a, decision{records: []metarec.Message{c.o.Self}}); refused != nil && refused.code != kafka.ErrKafkaStorageError {
		c.o.Logger.Warn("this controller could not register itself", "error", refused.code)
	}
}

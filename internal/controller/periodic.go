package controller

import (
	"time"

	"barnabas/internal/controller/election"
	"barnabas/internal/controller/heartbeat"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// maxElections is how many leaders one run of a periodic election changes.
const maxElections = 1000

// task is something that the active controller does by the clock.
type task struct {
	name string
	at   time.Time
	// run does it and says when it is due again.
	run func(a *active) (next time.Time)
}

// sessionCheck is how often sessions are looked at.
func sessionCheck(timeout time.Duration) time.Duration { return max(timeout/8, time.Millisecond) }

func (c *Controller) startTasks(now time.Time) {
	o := c.o.Config
	c.tasks = nil
	add := func(name string, every time.Duration, run func(a *active) time.Time) {
		if every > 0 {
			c.tasks = append(c.tasks, &task{name: name, at: now.Add(every), run: run})
		}
	}
	check := sessionCheck(o.Lifecycle.SessionTimeout)
	add("end sessions", check, func(a *active) time.Time { return c.endSession(a, check) })
	idle := o.MetadataLog.MaxIdleInterval
	add("write a record while idle", idle, func(a *active) time.Time { return c.writeNoOp(a, idle) })
	unclean := o.Replication.UncleanElectionInterval
	add("elect unclean leaders", unclean, func(a *active) time.Time { return c.elect(a, election.Unclean, unclean) })
	if preferred := o.Replication.LeaderImbalanceCheckInterval; o.Replication.AutoLeaderRebalanceEnable {
		add("elect preferred leaders", preferred, func(a *active) time.Time { return c.elect(a, election.Preferred, preferred) })
	}
	c.setTimer()
}

func (c *Controller) stopTasks() {
	c.tasks = nil
	if c.stopTimer != nil {
		c.stopTimer()
		c.stopTimer = nil
	}
}

// setTimer has the executor called when the next task is due. It is called as a
// timer: the inputs that wait then are served first, heartbeats among them.
func (c *Controller) setTimer() {
	var at time.Time
	for _, t := range c.tasks {
		if at.IsZero() || t.at.Before(at) {
			at = t.at
		}
	}
	if at.IsZero() || c.stopTimer != nil && c.timerAt.Equal(at) {
		return
	}
	if c.stopTimer != nil {
		c.stopTimer()
	}
	c.timerAt = at
	c.stopTimer = c.o.Clock.AfterFunc(max(at.Sub(c.o.Clock.Now()), 0), func() {
		// The reserve holds more than one timer can ask for.
		if err := c.exec.Timer(c.runTasks); err != nil && err != errClosed {
			c.o.Logger.Error("the controller's periodic tasks stand still", "error", err)
		}
	})
}

// runTasks runs what is due.
func (c *Controller) runTasks() {
	c.stopTimer = nil
	a := c.active
	if a == nil {
		return
	}
	a.now = c.o.Clock.Now()
	for _, t := range c.tasks {
		if !t.at.After(a.now) {
			t.at = t.run(a)
		}
	}
	c.setTimer()
}

// do writes the decision of a task. If the log takes nothing, the leadership is
// gone or comes back later; the task is due again either way.
func (c *Controller) do(a *active, d decision) bool {
	if refused := c.write(a, d); refused != nil {
		if refused.code == kafka.ErrKafkaStorageError {
			return false // the owner of the disk has logged it
		}
		c.o.Logger.Warn("a periodic task of the controller failed; it comes again", "error", refused.code)
		return false
	}
	return true
}

// endSession fences one broker that was not heard of in time; the next is looked
// for at once, so that its fencing sees the effects of this one.
func (c *Controller) endSession(a *active, every time.Duration) time.Time {
	c.mu.Lock()
	session, ok := c.sessions.Expired(a.now)
	c.mu.Unlock()
	if !ok {
		return a.now.Add(every)
	}
	b := a.image.Cluster.Broker(session.ID)
	if b == nil || b.Epoch != session.Epoch || b.Fenced {
		return a.now
	}
	c.o.Logger.Warn("fencing a broker: its session has timed out", "broker", b.ID, "epoch", b.Epoch)
	if !c.do(a, decision{records: a.fence(b), divisible: true}) {
		c.mu.Lock()
		c.sessions.Touch(heartbeat.Session{ID: b.ID, Epoch: b.Epoch}, a.now)
		c.mu.Unlock()
		return a.now.Add(every)
	}
	return a.now
}

// writeNoOp keeps the high watermark moving, by which followers see how far
// behind they are.
func (c *Controller) writeNoOp(a *active, every time.Duration) time.Time {
	if due := a.lastWrite.Add(every); due.After(a.now) {
		return due
	}
	if c.do(a, decision{records: []metarec.Message{metarec.NewNoOpRecord()}, growing: true}) {
		c.registerSelf(a) // a full disk may have taken it back
	}
	return a.now.Add(every)
}

// elect looks for partitions that have no leader, or not the preferred one, and
// for which such an election finds another.
func (c *Controller) elect(a *active, kind election.Kind, every time.Duration) time.Time {
	records := a.electionRecords(kind)
	if len(records) == 0 {
		return a.now.Add(every)
	}
	if kind == election.Unclean {
		c.o.Logger.Warn("electing leaders that may have lost records (unclean.leader.election.enable)", "partitions", len(records))
	} else {
		c.o.Logger.Info("electing preferred leaders", "partitions", len(records))
	}
	if c.do(a, decision{records: records, divisible: true}) && len(records) == maxElections {
		return a.now
	}
	return a.now.Add(every)
}

func (a *active) electionRecords(kind election.Kind) (records []metarec.Message) {
	for topic := range a.image.Topics.All() {
		rules := a.rulesOf(topic)
		if kind == election.Unclean && !rules.unclean {
			continue
		}
		for number, p := range topic.All() {
			if len(records) == maxElections {
				return records
			}
			if kind == election.Unclean && p.Leader != kafka.NoBroker || kind == election.Preferred && p.Leader == p.PreferredLeader() {
				continue
			}
			change := a.change(topic, number, p, rules)
			change.Kind = kind
			if r := change.Record(); r != nil {
				records = append(records, r)
			}
		}
	}
	return records
}

package membership

import (
	"slices"
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// State is how far a broker has come.
type State uint8

// The states, in order. Apache's names are NOT_RUNNING and STARTING, RECOVERY,
// RUNNING, PENDING_CONTROLLED_SHUTDOWN, SHUTTING_DOWN.
const (
	Starting State = iota // not known to have its own registration record
	Recovery              // has it; loads logs; fenced
	Running               // unfenced
	Draining              // gives its leaders away
	Stopped               // sends nothing any more
)

// String is the state in words.
func (s State) String() string {
	return [...]string{"starting", "recovery", "running", "draining", "stopped"}[s]
}

// Times between tries. Heartbeats otherwise leave every HeartbeatInterval.
const (
	firstRetry = 20 * time.Millisecond // after a failure, doubling up to the heartbeat interval
	firstDrain = 5 * time.Millisecond  // while draining: at once, then this, doubling likewise
)

// core decides what the broker sends next. It is a pure state machine: every
// method that may change something takes the time where it matters, and after
// each the owner asks next what to do.
type core struct {
	o            Options
	started      bool
	state        State
	epoch        kafka.BrokerEpoch
	registered   bool
	ready        bool // logs are loaded; may be unfenced
	stale        bool // the controller knows another incarnation, or none
	failure      string
	began        time.Time
	drainUntil   time.Time
	dirDeadlines map[kafka.UUID]time.Time // offline directories not yet told
	offline      []kafka.UUID
	cordoned     []kafka.UUID
	seen         Metadata

	inFlight  bool
	changed   bool // something to tell at once
	nextAt    time.Time
	retryWait time.Duration // of the last failure; 0: none
	drainWait time.Duration // before the next heartbeat while draining
	sentSeen  kafka.Offset  // metadata offset in the last heartbeat
	sentDirs  int           // len(offline) in the last heartbeat
	// cordonedSent and cordonedTold say whether the cordoned directories stand in
	// the last heartbeat, and whether the controller has taken note of them.
	cordonedSent, cordonedTold bool
	// registerAgain: the level of the cluster has come to know log directories,
	// which this broker's registration does not name.
	registerAgain bool
}

// Metadata is how far this broker's metadata has come.
type Metadata struct {
	Offset  kafka.Offset // of the last record applied; -1 is none
	Version kafka.MetadataVersion
}

func newCore(o Options) *core {
	return &core{
		o: o, epoch: kafka.NoBrokerEpoch, seen: Metadata{Offset: kafka.NoOffset}, sentSeen: kafka.NoOffset,
		dirDeadlines: map[kafka.UUID]time.Time{}, cordoned: slices.Clone(o.CordonedLogDirs),
	}
}

// onStart begins: until here nothing is sent.
func (c *core) onStart(now time.Time) {
	c.started, c.began, c.changed = true, now, true
}

// next returns the request to send now, or nil, and when to ask again at the
// latest.
func (c *core) next(now time.Time) (kmsg.Request, time.Time) {
	if c.started {
		c.checkDeadlines(now)
	}
	if !c.started || c.state == Stopped {
		return nil, time.Time{}
	}
	if !c.inFlight && (c.changed || !now.Before(c.nextAt)) {
		c.inFlight, c.changed = true, false
		if !c.registered || c.registerAgain && c.state == Running {
			return c.registration(), c.wakeAt()
		}
		return c.heartbeat(), c.wakeAt()
	}
	return nil, c.wakeAt()
}

// wakeAt is the earliest moment at which time alone changes something.
func (c *core) wakeAt() time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if !c.inFlight {
		sooner(c.nextAt)
	}
	if !c.registered && c.epoch == kafka.NoBrokerEpoch {
		sooner(c.began.Add(c.o.InitialRegistrationTimeout))
	}
	sooner(c.drainUntil)
	for _, deadline := range c.dirDeadlines {
		sooner(deadline)
	}
	return at
}

func (c *core) checkDeadlines(now time.Time) {
	switch {
	case c.state == Stopped:
	case !c.registered && now.Sub(c.began) >= c.o.InitialRegistrationTimeout:
		c.fail("unable to register with the controller quorum within initial.broker.registration.timeout.ms")
	case c.state == Draining && !now.Before(c.drainUntil):
		c.state = Stopped
	}
	for _, deadline := range c.dirDeadlines {
		if c.state != Stopped && !now.Before(deadline) {
			c.fail("unable to tell the controller of an offline log directory within log.dir.failure.timeout.ms")
		}
	}
}

// fail stops the member; the node must stop.
func (c *core) fail(reason string) { c.state, c.failure = Stopped, reason }

func (c *core) registration() kmsg.Request {
	r := kmsg.NewBrokerRegistrationRequest()
	r.Version = registrationVersion
	r.BrokerID = int32(c.o.ID)
	r.ClusterID = c.o.ClusterID
	r.IncarnationID = c.o.Incarnation
	r.Listeners = c.o.Listeners
	r.Features = c.o.Features
	r.Rack = c.o.Rack
	r.PreviousBrokerEpoch = int64(c.o.PreviousEpoch)
	dirs := slices.Clone(c.o.LogDirs)
	slices.SortFunc(dirs, compareUUID)
	r.LogDirs = raw(dirs)
	return &r
}

// Versions of the requests; the table of APIs has the same.
const (
	registrationVersion = 4
	heartbeatVersion    = 2
)

func (c *core) heartbeat() kmsg.Request {
	r := kmsg.NewBrokerHeartbeatRequest()
	r.Version = heartbeatVersion
	r.BrokerID = int32(c.o.ID)
	r.BrokerEpoch = int64(c.epoch)
	r.CurrentMetadataOffset = int64(c.seen.Offset)
	r.WantFence = !c.ready
	r.WantShutdown = c.state == Draining
	r.OfflineLogDirs = raw(c.offline)
	if c.cordonedSent = c.maySendCordoned(); c.cordonedSent {
		r.CordonedLogDirs = append([][16]byte{}, raw(c.cordoned)...) // empty is not null
	}
	c.sentSeen, c.sentDirs = c.seen.Offset, len(c.offline)
	return &r
}

// maySendCordoned says whether the cluster is known to have cordoned directories:
// this broker's metadata has come as far as its registration, and its level allows
// them.
func (c *core) maySendCordoned() bool {
	return c.seen.Version >= kafka.MetadataVersionCordonedDirs && int64(c.seen.Offset) >= int64(c.epoch)
}

// onRegistered takes the answer to a registration.
func (c *core) onRegistered(now time.Time, code kafka.ErrorCode, epoch kafka.BrokerEpoch) {
	c.inFlight = false
	if code != kafka.ErrNone {
		c.retry(now)
		return
	}
	c.registered, c.registerAgain, c.epoch, c.retryWait = true, false, epoch, 0
	c.changed, c.nextAt = true, now
}

// onHeartbeat takes the answer to a heartbeat.
func (c *core) onHeartbeat(now time.Time, a *kmsg.BrokerHeartbeatResponse) {
	c.inFlight = false
	if code := kafka.ErrorCode(a.ErrorCode); code != kafka.ErrNone {
		c.onHeartbeatRefused(now, code)
		return
	}
	c.retryWait = 0
	for _, dir := range c.offline[:c.sentDirs] {
		delete(c.dirDeadlines, dir)
	}
	c.cordonedTold = c.cordonedTold || c.cordonedSent
	c.nextAt = now.Add(c.o.HeartbeatInterval)
	if c.state == Starting && a.IsCaughtUp {
		c.state = Recovery
	}
	if c.state == Recovery && !a.IsFenced {
		c.state = Running
	}
	if c.state == Draining {
		c.drain(now, a.ShouldShutdown)
	}
	// What was applied while the heartbeat was under way may be what the
	// controller waits for.
	c.changed = c.changed || c.awaitsMetadata() && c.seen.Offset > c.sentSeen || c.owesCordoned()
}

// owesCordoned says whether the cordoned directories are to be told now. Before
// the broker is ready they can wait for the heartbeat that has it unfenced.
func (c *core) owesCordoned() bool { return c.ready && !c.cordonedTold && c.maySendCordoned() }

func (c *core) drain(now time.Time, released bool) {
	if released {
		c.state = Stopped
		return
	}
	c.nextAt = now.Add(c.drainWait)
	c.drainWait = min(max(2*c.drainWait, firstDrain), c.o.HeartbeatInterval)
}

func (c *core) onHeartbeatRefused(now time.Time, code kafka.ErrorCode) {
	if code == kafka.ErrStaleBrokerEpoch {
		c.stale = true
		if c.state == Draining {
			c.state = Stopped
			return
		}
	}
	if code == kafka.ErrKafkaStorageError && c.state == Draining {
		// The controller has no space to write down that this broker goes. A stop must
		// not wait for that: the next registration tells it.
		c.state = Stopped
		return
	}
	c.retry(now)
}

// onFailed takes note that a request got no answer.
func (c *core) onFailed(now time.Time) {
	c.inFlight = false
	c.retry(now)
}

func (c *core) retry(now time.Time) {
	c.retryWait = min(max(2*c.retryWait, firstRetry), c.o.HeartbeatInterval)
	c.nextAt, c.changed = now.Add(c.retryWait), false
}

// awaitsMetadata says whether the controller waits for this broker's metadata.
func (c *core) awaitsMetadata() bool { return c.registered && c.state == Starting && !c.stale }

// onMetadata takes note of how far the metadata has come.
func (c *core) onMetadata(m Metadata) {
	before := c.seen
	c.seen = m
	caughtUp := c.awaitsMetadata() && int64(m.Offset) >= int64(c.epoch) && m.Offset > c.sentSeen
	upgraded := c.state == Running && before.Version < kafka.MetadataVersionCordonedDirs && c.owesCordoned()
	directories := c.registered && before.Version > 0 && before.Version < kafka.MetadataVersionDirectories && m.Version >= kafka.MetadataVersionDirectories
	c.registerAgain = c.registerAgain || directories
	c.changed = c.changed || caughtUp || upgraded || directories && c.state == Running
}

// onReady takes note that the logs are loaded.
func (c *core) onReady() {
	if !c.ready {
		c.ready = true
		c.changed = c.changed || c.registered
	}
}

// onDirOffline takes note of a directory that failed.
func (c *core) onDirOffline(now time.Time, dir kafka.UUID) {
	if slices.Contains(c.offline, dir) {
		return
	}
	c.offline = append(c.offline, dir)
	c.dirDeadlines[dir] = now.Add(c.o.DirFailureTimeout)
	c.changed = c.changed || c.registered
}

// onCordoned takes the directories that shall get no new replicas.
func (c *core) onCordoned(dirs []kafka.UUID) {
	c.cordoned, c.cordonedSent, c.cordonedTold = slices.Clone(dirs), false, false
	c.changed = c.changed || c.registered
}

// onShutdown begins the end. A broker that is not running has no leaders to give
// away.
func (c *core) onShutdown(deadline time.Time) {
	switch {
	case c.state == Running && !c.stale && c.o.ControlledShutdown:
		c.state, c.drainUntil, c.drainWait, c.changed = Draining, deadline, 0, true
	case c.state != Draining:
		c.state = Stopped
	}
}

func raw(ids []kafka.UUID) [][16]byte {
	if len(ids) == 0 {
		return nil
	}
	out := make([][16]byte, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

func compareUUID(a, b kafka.UUID) int { return slices.Compare(a[:], b[:]) }

package group

import (
	"io"
	"slices"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// Settings are the configuration of the groups of a broker.
type Settings struct {
	MinSessionTimeout     time.Duration // group.min.session.timeout.ms
	MaxSessionTimeout     time.Duration // group.max.session.timeout.ms
	InitialRebalanceDelay time.Duration // group.initial.rebalance.delay.ms
	MaxSize               int           // group.max.size, members of a group
	OffsetMetadataMax     int           // offset.metadata.max.bytes, in UTF-16 units as in Apache Kafka
	OffsetsRetention      time.Duration // offsets.retention.minutes
	RetentionCheck        time.Duration // offsets.retention.check.interval.ms
	Consumer              ConsumerSettings
}

// ConsumerSettings are the configuration of groups of the consumer protocol.
type ConsumerSettings struct {
	MaxSize      int           // group.consumer.max.size
	Assignors    []string      // group.consumer.assignors that are built in, the default first; at least one
	RegexRefresh time.Duration // group.consumer.regex.refresh.interval.ms
	// Upgrade and Downgrade say which way groups are converted that have members of
	// both protocols, and Mixed whether members of both may be in one at all:
	// group.consumer.migration.policy.
	Upgrade, Downgrade, Mixed bool
}

// GroupConfig is the configuration of one group.
type GroupConfig struct {
	SessionTimeout     time.Duration // consumer.session.timeout.ms
	HeartbeatInterval  time.Duration // consumer.heartbeat.interval.ms
	AssignmentInterval time.Duration // consumer.assignment.interval.ms
}

// Limits of what clients can make a core hold. Apache Kafka has none of them.
const (
	// maxPending is how many members of one group may have been given an id
	// without having joined with it.
	maxPending = 10_000
	// maxPendingInAll bounds them over all groups of a core.
	maxPendingInAll = 100_000
	// maxMemberBytes is the largest subscription of a member, over all its
	// protocols. The one that is chosen has to fit into a record.
	maxMemberBytes = 4 << 20
	// maxHeldBytes bounds the subscriptions of all members of a core, of classic groups
	// and of consumer groups each.
	maxHeldBytes = 512 << 20
	// maxGroups bounds the groups of a core that JoinGroup may make.
	maxGroups = 1_000_000
)

// newMemberJoinTimeout is how long a member may wait for the end of the rebalance
// that it came with; it has no id yet with which it could send heartbeats.
const newMemberJoinTimeout = 5 * time.Minute

// Options are what a Core is made of. All fields are needed.
type Options struct {
	Registry *timeline.Registry // of the runtime
	Settings Settings
	Random   io.Reader // member ids are drawn from it; it never fails

	// Topics are those of the cluster now.
	Topics func() consumergroup.Topics
	// Config is the configuration of a group now.
	Config func(group string) GroupConfig
	// Background has a question answered, at some time, by a call of Resolved. It may
	// lose a question: then it is asked again.
	Background func(Resolution)
}

// Core is the coordinator of the groups of one partition of __consumer_offsets. It
// is a machine.Machine; its operations are methods that the runtime calls the same
// way.
type Core struct {
	settings Settings
	random   io.Reader
	loaded   bool

	// groups has every group id that is taken. What it says is in the log or on
	// its way there.
	groups  *timeline.Map[string, *entry]
	offsets *offsetStore

	// fresh are groups that an operation has made and whose record has not been
	// replayed yet: between an operation and its replay.
	fresh map[string]*classicGroup

	timers   timers
	cleanup  timer // expiry of offsets
	deleted  []deletedTopic
	deletion timer // offsets of deleted topics

	// latest is the newest time that a caller gave: for what a decision's end sets.
	latest time.Time

	pendingMembers int
	heldBytes      int64

	topics     func() consumergroup.Topics
	configOf   func(group string) GroupConfig
	background func(Resolution)
	hashes     consumergroup.Hashes
	softGroups map[string]*softGroup
	// consumerBytes has one number: what the members of consumer groups hold.
	consumerBytes *timeline.Map[struct{}, int64]
}

// entry is what a group id stands for: one of the three.
type entry struct {
	// classic is a pointer to what changes without records: members, timers,
	// waiting answers. It is no part of what the registry reverts.
	classic  *classicGroup
	consumer *consumergroup.Group
	foreign  *foreignGroup
}

// New returns a core without groups.
func New(o Options) *Core {
	c := &Core{
		settings: o.Settings,
		random:   o.Random,
		groups:   timeline.NewMap[string, *entry](o.Registry),
		offsets:  newOffsetStore(o.Registry),
		fresh:    map[string]*classicGroup{},

		topics: o.Topics, configOf: o.Config, background: o.Background, softGroups: map[string]*softGroup{},
		consumerBytes: timeline.NewMap[struct{}, int64](o.Registry),
	}
	c.cleanup.kind, c.deletion.kind = timerCleanup, timerDeletion
	return c
}

var _ machine.Machine = (*Core)(nil)

// Loaded starts the time of all members. A group that is larger than it may be is
// rebalanced, which removes those who come too late.
func (c *Core) Loaded(now time.Time) {
	c.loaded = true
	c.tell(now)
	c.timers.set(&c.cleanup, now.Add(c.settings.RetentionCheck))
	for _, id := range c.ids() {
		if g := c.consumer(id); g != nil {
			c.loadedConsumer(now, g)
		}
		g := c.classic(id)
		if g == nil {
			continue
		}
		for m := range g.all() {
			c.timers.set(&m.session, now.Add(m.sessionTimeout))
		}
		if g.size() > c.settings.MaxSize {
			c.prepareRebalance(now, g, cause{kind: CauseTooLarge})
		}
	}
}

// Next is when the earliest deadline may have passed.
func (c *Core) Next() time.Time { return c.timers.next() }

// Tick ends what has expired.
func (c *Core) Tick(now time.Time) []machine.Decision {
	c.tell(now)
	var decisions []machine.Decision
	var late lateMembers
	for _, t := range c.timers.expired(now) {
		if !t.ring() {
			continue // what was worked off before has moved or stopped it
		}
		switch t.kind {
		case timerCleanup:
			decisions = append(decisions, c.expireOffsets(now)...)
			c.timers.set(&c.cleanup, now.Add(c.settings.RetentionCheck))
		case timerDeletion:
			decisions = append(decisions, c.deleteOffsetsOfTopics()...)
		case timerConsumerSession, timerRevoke, timerConsumerJoin, timerConsumerSync:
			if why, is := c.late(t); is && !late.add(t, why) {
				c.timers.set(t, now) // the next tick finds those that are left
			}
		default:
			if c.classic(t.group.id) != t.group {
				continue // the group is gone
			}
			if d := c.fire(now, t); d.Records != nil || d.Done != nil {
				decisions = append(decisions, d)
			}
		}
	}
	for _, g := range late.groups {
		decisions = append(decisions, c.fenceLate(now, g))
	}
	return decisions
}

// tell notes the time.
func (c *Core) tell(now time.Time) {
	if now.After(c.latest) {
		c.latest = now
	}
}

// fire ends what a timer of a group is about.
func (c *Core) fire(now time.Time, t *timer) machine.Decision {
	g := t.group
	switch t.kind {
	case timerSession:
		return c.sessionExpired(now, g, t.member)
	case timerPending:
		return c.pendingExpired(now, g, t.pending)
	case timerInitial:
		return c.initialDelayOver(now, g)
	case timerJoin:
		return c.completeJoin(now, g)
	case timerSync:
		return c.syncExpired(now, g)
	}
	panic("BUG: group: a timer of no kind")
}

// Unload answers all that waits, also in groups whose record is not committed. What
// else is on its way to the log is answered by its decisions, which the runtime ends
// then.
func (c *Core) Unload(err kafka.ErrorCode) {
	for _, e := range c.groups.All() {
		if e.classic != nil {
			c.dissolve(e.classic, err)
		}
	}
}

// ids are the ids of all classic and consumer groups, in order.
func (c *Core) ids() []string {
	var ids []string
	for id, e := range c.groups.All() {
		if e.foreign == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// consumer finds a consumer group by its id, nil if there is none.
func (c *Core) consumer(id string) *consumergroup.Group {
	if e, ok := c.groups.Get(id); ok {
		return e.consumer
	}
	return nil
}

// classic finds a classic group by its id, nil if there is none.
func (c *Core) classic(id string) *classicGroup {
	if e, ok := c.groups.Get(id); ok {
		return e.classic
	}
	return nil
}

// dissolve answers all members of a group that is no longer, and stops its time.
func (c *Core) dissolve(g *classicGroup, code kafka.ErrorCode) {
	if g.state == stateDead {
		return
	}
	for m := range g.all() {
		g.answerJoin(m, refusedJoin(m.id, code))
		m.answerSync(refusedSync(code))
		c.timers.stop(&m.session)
		c.heldBytes -= int64(m.bytes())
	}
	for _, p := range g.pending {
		c.timers.stop(&p.session)
		c.pendingMembers--
	}
	c.timers.stop(&g.joinTimer)
	c.timers.stop(&g.syncTimer)
	g.pending, g.state = nil, stateDead
}

// after makes one decision of two; either may be empty.
func after(first, second machine.Decision) machine.Decision {
	d := machine.Decision{Records: append(first.Records, second.Records...), Done: first.Done}
	switch {
	case first.Done == nil:
		d.Done = second.Done
	case second.Done != nil:
		d.Done = func(code kafka.ErrorCode) {
			first.Done(code)
			second.Done(code)
		}
	}
	return d
}

// answerCode is what clients are told of an append that failed
// (CoordinatorOperationExceptionHelper).
func answerCode(code kafka.ErrorCode) kafka.ErrorCode {
	switch code {
	case kafka.ErrNetworkException:
		return kafka.ErrCoordinatorLoadInProgress
	case kafka.ErrUnknownTopicOrPartition, kafka.ErrNotEnoughReplicas, kafka.ErrRequestTimedOut:
		return kafka.ErrCoordinatorNotAvailable
	case kafka.ErrNotLeaderOrFollower, kafka.ErrKafkaStorageError:
		return kafka.ErrNotCoordinator
	case kafka.ErrMessageTooLarge, kafka.ErrRecordListTooLarge, kafka.ErrInvalidFetchSize:
		return kafka.ErrUnknownServerError
	}
	return code
}

package client

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Consumer reads records (KafkaConsumer), as a member of a group or from partitions
// that it is told. Poll, Subscribe, Assign and Close belong to one goroutine; all other
// methods may be called from anywhere, listeners included.
//
// Nothing of the application's runs beside its own code: listeners and the callbacks of
// CommitAsync run while it is inside Poll, CommitSync, Unsubscribe or Close. Between
// two calls of Poll no partition is taken away.
type Consumer struct {
	properties Properties
	more       []kgo.Opt
	log        *slog.Logger
	group      GroupMetadata // without member and generation
	reset      resetPolicy
	committed  bool // isolation.level=read_committed
	maxRecords int
	autoCommit time.Duration // 0 is off
	apiTimeout time.Duration
	pollLimit  time.Duration // max.poll.interval.ms

	polls   sync.Mutex // held by Poll, by the end of max.poll.interval.ms, by Close
	polling atomic.Bool

	// Owned by whoever holds polls.
	dirty      bool      // the subscription has changed since the engine was told
	joined     []string  // the topics that the engine was told, nil with a pattern
	nextCommit time.Time // when offsets are committed by themselves
	lastPoll   time.Time // when the application was last inside Poll
	limit      *time.Timer
	limitEnds  sync.WaitGroup // the timer's goroutine

	commits sync.WaitGroup // those of CommitAsync

	mu           sync.Mutex
	engine       *kgo.Client // never nil until closed; guarded by mu
	inGroup      bool        // the engine is a member of the group; guarded by mu
	closed       bool        // guarded by mu
	subscription subscription
	partitions   map[TopicPartition]*place // what is assigned; guarded by mu
	overdue      bool                      // max.poll.interval.ms has passed; guarded by mu
	lost         []TopicPartition          // to be told to the listener by the next Poll; guarded by mu
	pending      []error                   // for the next Poll to return; guarded by mu
	lastCommit   chan struct{}             // closed when the last commit in line has ended, nil before the first; guarded by mu
	answers      []func()                  // callbacks that are due; guarded by mu
	wake         context.CancelFunc        // ends the wait of a Poll, nil outside; guarded by mu
	lastMember   GroupMetadata             // what the consumer was before it was overdue; guarded by mu
}

// subscription is what a consumer asked for; guarded by its mu.
type subscription struct {
	topics   []string
	pattern  string // "" is none
	manual   bool   // Assign
	listener RebalanceListener
}

func (s subscription) toGroup() bool { return s.pattern != "" || len(s.topics) > 0 }

// place is where a partition is read.
type place struct {
	position int64 // the offset of the next record, -1 when it is not known yet
	epoch    int32 // of the record before, -1 when not known
	paused   bool
	held     bool  // it has no offset: the engine pauses it until there is a Seek
	read     bool  // the engine reads it (manual assignment)
	told     int64 // what is committed, -1 when that isn't known
}

// NewConsumer makes a consumer. It connects to nothing yet.
//
// All of Kafka's properties have Kafka's defaults: auto.offset.reset=latest,
// enable.auto.commit=true every auto.commit.interval.ms=5000, max.poll.records=500,
// max.poll.interval.ms=300000, isolation.level=read_uncommitted, group.protocol=classic.
// Without a group.id there is no Subscribe and nothing is committed.
func NewConsumer(properties Properties, options ...Option) (*Consumer, error) {
	reset, properties, err := resetOf(properties)
	if err != nil {
		return nil, err
	}
	s, engine, err := translated(ForConsumer, properties, options)
	if err != nil {
		return nil, err
	}
	_ = engine // the properties are right; each engine translates them again
	v := values(properties)
	c := &Consumer{properties: properties, more: s.engine, log: s.log, reset: reset,
		group:      GroupMetadata{GroupID: v.text("group.id", ""), GenerationID: -1, InstanceID: v.text("group.instance.id", "")},
		committed:  v.text("isolation.level", "") == "read_committed",
		pollLimit:  v.milliseconds("max.poll.interval.ms", 300_000),
		partitions: map[TopicPartition]*place{},
	}
	if c.maxRecords, err = MaxPollRecords(properties); err != nil {
		return nil, err
	}
	if c.apiTimeout, err = APITimeout(properties); err != nil {
		return nil, err
	}
	if c.group.GroupID != "" && v.isTrue("enable.auto.commit", true) {
		c.autoCommit = max(v.milliseconds("auto.commit.interval.ms", 5000), time.Millisecond)
	}
	return c, c.openAlone()
}

// openAlone opens an engine that is in no group.
func (c *Consumer) openAlone() error {
	alone := Properties{}
	for name, value := range c.properties {
		if name != "group.id" {
			alone[name] = value
		}
	}
	return c.open(alone, false)
}

// open replaces the engine, which is closed before.
func (c *Consumer) open(properties Properties, inGroup bool, options ...kgo.Opt) error {
	s := settings{log: c.log}
	engine, _, err := Options(ForConsumer, properties)
	if err != nil {
		return err
	}
	engine = append(engine, kgo.WithLogger(engineLog{s.log}), kgo.KeepControlRecords(), c.reset.engine(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart())) // begin says where, this only that nothing is committed
	e, err := kgo.NewClient(append(append(engine, options...), c.more...)...)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.engine, c.inGroup = e, inGroup
	return nil
}

// Subscribe joins the group for these topics, in place of what was subscribed before
// (subscribe). It takes effect at the next Poll, which is when the listener, which may
// be empty, is first called. No topics are as Unsubscribe.
func (c *Consumer) Subscribe(topics []string, listener RebalanceListener) error {
	if len(topics) == 0 {
		return c.Unsubscribe()
	}
	if slices.Contains(topics, "") {
		return illegal("Subscribe: a topic without a name")
	}
	return c.subscribe(subscription{topics: slices.Clone(topics), listener: listener})
}

// SubscribePattern is Subscribe for all topics, today's and those to come, whose whole
// name matches a regular expression of package regexp. Internal topics never match
// (subscribe with a Pattern). The topics are looked at each metadata.max.age.ms; in a
// group of group.protocol=consumer the broker does it.
func (c *Consumer) SubscribePattern(pattern string, listener RebalanceListener) error {
	if pattern == "" {
		return illegal("SubscribePattern: no pattern")
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return fmt.Errorf("SubscribePattern: %w", err)
	}
	return c.subscribe(subscription{pattern: "^(?:" + pattern + ")$", listener: listener})
}

func (c *Consumer) subscribe(s subscription) error {
	if c.group.GroupID == "" {
		return illegal("Subscribe: group.id is not set")
	}
	c.polls.Lock()
	defer c.polls.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return ErrClosed
	case c.subscription.manual:
		return illegal("Subscribe: partitions are assigned by hand")
	}
	c.subscription, c.dirty = s, true
	return nil
}

// Assign has the consumer read these partitions, in place of those before, without a
// group (assign). With a group.id offsets are read from and committed to it, though
// there are no members; that isn't for a group which has some. No partitions are as
// Unsubscribe.
func (c *Consumer) Assign(partitions ...TopicPartition) error {
	if len(partitions) == 0 {
		return c.Unsubscribe()
	}
	c.polls.Lock()
	defer c.polls.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return ErrClosed
	case c.subscription.toGroup():
		return illegal("Assign: there is a subscription")
	}
	c.subscription, c.dirty = subscription{manual: true}, true
	was := c.partitions
	c.partitions = map[TopicPartition]*place{}
	for _, tp := range partitions {
		if p, ok := was[tp]; ok {
			c.partitions[tp] = p
			delete(was, tp)
			continue
		}
		c.partitions[tp] = &place{position: -1, epoch: -1}
	}
	c.forgetLocked(c.engine, was)
	return nil
}

// forgetLocked has the engine stop reading partitions of a manual assignment.
func (c *Consumer) forgetLocked(engine *kgo.Client, places map[TopicPartition]*place) {
	var gone []TopicPartition
	for tp := range places {
		gone = append(gone, tp)
	}
	if len(gone) > 0 {
		engine.RemoveConsumePartitions(byTopic(gone))
		engine.ResumeFetchPartitions(byTopic(gone))
	}
}

// Unsubscribe ends a subscription or an assignment (unsubscribe): offsets are committed
// where that happens by itself, partitions revoked, the group left.
func (c *Consumer) Unsubscribe() error {
	c.polls.Lock()
	defer c.polls.Unlock()
	c.mu.Lock()
	closed, manual, inGroup := c.closed, c.subscription.manual, c.inGroup
	c.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case inGroup:
		c.leave()
		c.commits.Wait()
		if err := c.openAlone(); err != nil {
			return err
		}
	case manual:
		c.commitBeforeLeaving()
	}
	c.mu.Lock()
	c.forgetLocked(c.engine, c.partitions)
	c.subscription, c.dirty, c.partitions = subscription{}, false, map[TopicPartition]*place{}
	c.mu.Unlock()
	c.answer()
	return c.takePending()
}

// closeLimit is how long Close tries to commit and to leave (close).
const closeLimit = 30 * time.Second

// Close commits what Poll returned, where that happens by itself, has the listener
// told, leaves the group and ends all that belongs to the consumer, in 30 seconds at
// most. A static member (group.instance.id) keeps its place. Later calls do nothing. A
// listener must not call it.
func (c *Consumer) Close() error {
	c.polls.Lock()
	defer c.polls.Unlock()
	c.mu.Lock()
	closed, manual, inGroup, engine := c.closed, c.subscription.manual, c.inGroup, c.engine
	c.closed = true
	c.mu.Unlock()
	if closed {
		return nil
	}
	switch {
	case inGroup:
		c.leave()
	default:
		if manual {
			c.commitBeforeLeaving()
		}
		engine.Close()
	}
	c.stopLimit()
	c.limitEnds.Wait()
	c.commits.Wait()
	c.answer()
	return c.takePending()
}

// leave leaves the group and closes the engine. What is to be committed and told is
// done by revoked, which the engine calls.
func (c *Consumer) leave() {
	engine := c.currentEngine()
	c.stopLimit()
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	c.mu.Lock()
	last := c.lastCommit
	c.mu.Unlock()
	comes(ctx, last) // what is on its way is a member's; the group refuses it after the leave
	engine.AllowRebalance()
	if err := engine.LeaveGroupContext(ctx); err != nil {
		c.note(fmt.Errorf("leaving group %s: %w", c.group.GroupID, err))
	}
	engine.Close()
	c.mu.Lock()
	c.inGroup = false
	c.mu.Unlock()
}

func (c *Consumer) commitBeforeLeaving() {
	if c.autoCommit == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := c.CommitSync(ctx, nil); err != nil {
		c.note(err)
	}
}

// note keeps an error for the next Poll, or for Close.
func (c *Consumer) note(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) < maxPending {
		c.pending = append(c.pending, err)
	}
	if c.wake != nil {
		c.wake()
	}
}

// maxPending bounds the errors that wait for a Poll.
const maxPending = 100

func (c *Consumer) takePending() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.takePendingLocked()
}

// answer calls the callbacks that are due.
func (c *Consumer) answer() {
	c.mu.Lock()
	due := c.answers
	c.answers = nil
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

func (c *Consumer) currentEngine() *kgo.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.engine
}

func (c *Consumer) admin() *kadm.Client { return kadm.NewClient(c.currentEngine()) }

// limited is a context that ends with default.api.timeout.ms.
func (c *Consumer) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.apiTimeout)
}

// Subscription is the topics that were subscribed to, without those of a pattern.
func (c *Consumer) Subscription() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.subscription.topics)
}

// Assignment is the partitions that the consumer reads now, in order.
func (c *Consumer) Assignment() []TopicPartition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.assignmentLocked()
}

func (c *Consumer) assignmentLocked() []TopicPartition {
	all := make([]TopicPartition, 0, len(c.partitions))
	for tp := range c.partitions {
		all = append(all, tp)
	}
	slices.SortFunc(all, compareTopicPartitions)
	return all
}

// GroupMetadata is this consumer's place in its group, for
// Producer.SendOffsetsToTransaction (groupMetadata).
func (c *Consumer) GroupMetadata() GroupMetadata {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.group
	switch {
	case c.overdue:
		// The group refuses it, which "no member" would not be.
		g.MemberID, g.GenerationID = c.lastMember.MemberID, c.lastMember.GenerationID
	case c.inGroup:
		g.MemberID, g.GenerationID = c.engine.GroupMetadata()
	}
	return g
}

// PartitionsFor is what metadata says of a topic (partitionsFor). A topic that doesn't
// exist is ErrUnknownTopic.
func (c *Consumer) PartitionsFor(ctx context.Context, topic string) ([]PartitionInfo, error) {
	limited, cancel := c.limited(ctx)
	defer cancel()
	partitions, err := partitionsOf(limited, c.currentEngine(), topic)
	return partitions, outOfTime(ctx, err, "metadata of topic "+topic)
}

// Engine is the franz-go client below, a door for what has no words here. It belongs
// to the consumer; don't close it, and don't poll it. A new subscription may bring
// another one.
func (c *Consumer) Engine() *kgo.Client { return c.currentEngine() }

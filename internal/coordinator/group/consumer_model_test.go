package group

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestConsumerModel is TestModel for members that use the consumer protocol: see fleet.
func TestConsumerModel(t *testing.T) {
	seeds := slices.Collect(func(yield func(uint64) bool) {
		for seed := range uint64(*modelRuns) {
			if !yield(seed + 1) {
				return
			}
		}
	})
	if *modelSeed != 0 {
		seeds = []uint64{*modelSeed}
	}
	for _, seed := range seeds {
		newFleet(t, seed).run(600)
	}
}

// fleet is a consumer group with its members, which come, go, crash, are slow to give
// back, change what they read, while topics change, appends fail and the coordinator is
// restarted. It checks that
//
//   - the epoch of the group never falls, over restarts of the coordinator too, and
//     that of a member only when it joins anew,
//   - no partition has two owners: neither by what the coordinator knows nor by what
//     members that are in the group believe,
//   - what a coordinator knows is what another one reads from its log,
//   - each request is answered once,
//   - in the end, when faults have ceased, each partition has an owner.
type fleet struct {
	*rig
	t     *testing.T
	rand  *rand.Rand
	seed  uint64
	trace []string

	sailors []*sailor
	made    int
	topics  map[string]int32
	epoch   int32 // the highest that was in the log
	open    int   // requests that are not answered yet
}

// sailor is a member.
type sailor struct {
	*fleet
	id       string
	instance *string
	topics   []string
	regex    *string
	assignor *string

	epoch   int32
	owned   map[kafka.TopicPartition]bool
	told    map[kafka.TopicPartition]bool // what it was told to have; nil: nothing new
	full    bool                          // the next heartbeat says everything
	waiting bool                          // for an answer
	slow    bool                          // it does not give back
	dead    bool
}

func newFleet(t *testing.T, seed uint64) *fleet {
	f := &fleet{t: t, rand: rand.New(rand.NewPCG(seed, 2)), seed: seed, topics: map[string]int32{}}
	s := defaults()
	if f.rand.IntN(4) == 0 {
		s.Consumer.MaxSize = 3
	}
	f.rig = newRig(s)
	if f.rand.IntN(2) == 0 {
		f.config.AssignmentInterval = 0
	}
	f.setTopic("t", 5)
	return f
}

func (f *fleet) say(format string, args ...any) {
	f.trace = append(f.trace, fmt.Sprintf("%8s ", f.Now.Sub(beginning))+fmt.Sprintf(format, args...))
}

func (f *fleet) failf(format string, args ...any) {
	f.t.Helper()
	f.t.Fatalf("seed %d: %s\n%s", f.seed, fmt.Sprintf(format, args...), strings.Join(f.trace[max(0, len(f.trace)-60):], "\n"))
}

func (f *fleet) setTopic(name string, partitions int32) {
	f.topics[name] = partitions
	f.cluster.set(name, topicID(fmt.Sprint(name, len(f.trace))), partitions)
	f.say("topic %s anew, with %d partitions", name, partitions)
}

// growTopic keeps the id.
func (f *fleet) growTopic(name string) {
	if old, ok := f.cluster.view.ByName(name); ok && old.Partitions < 12 {
		f.topics[name]++
		f.cluster.set(name, old.ID, old.Partitions+1)
		f.say("topic %s grows", name)
	}
}

func (f *fleet) run(steps int) {
	for range steps {
		f.step()
		f.check()
	}
	f.heal()
}

func (f *fleet) alive() []*sailor {
	return slices.DeleteFunc(slices.Clone(f.sailors), func(s *sailor) bool { return s.dead })
}

// any is a member that lives, nil if there is none.
func (f *fleet) any() *sailor {
	if all := f.alive(); len(all) > 0 {
		return all[f.rand.IntN(len(all))]
	}
	return nil
}

func (f *fleet) step() {
	s := f.any()
	switch n := f.rand.IntN(100); {
	case n < 8 || s == nil:
		f.join()
	case n < 10:
		f.say("%s crashes", s.id)
		s.dead = true
	case n < 13:
		s.leave()
	case n < 55:
		s.beat()
	case n < 58:
		s.subscribe()
	case n < 60:
		s.slow = true
	case n < 65:
		s.slow = false
	case n < 66:
		f.growTopic("t")
	case n < 67:
		f.setTopic("u", int32(f.rand.IntN(4)))
	case n < 70:
		f.resolve()
	case n < 74:
		f.say("appends are held")
		f.Hold = true
	case n < 80:
		f.Hold = false
		f.Release()
	case n < 82:
		f.say("appends fail")
		f.Hold = false
		f.Fail(kafka.ErrCoordinatorNotAvailable)
	case n < 83:
		f.say("the next append is refused")
		f.Refuse = kafka.ErrCoordinatorNotAvailable
	case n < 85:
		f.reload()
	case n < 88:
		f.Pass(time.Duration(f.rand.IntN(20_000)) * time.Millisecond)
	default:
		f.Pass(time.Duration(f.rand.IntN(2_000)) * time.Millisecond)
	}
}

// reload restarts the coordinator. It knows what the one before had in the log.
func (f *fleet) reload() {
	f.say("the coordinator is restarted")
	f.Hold, f.Refuse = false, kafka.ErrNone
	f.Fail(kafka.ErrNotCoordinator)
	before := f.DescribeConsumer("g")
	f.restart()
	if after := f.DescribeConsumer("g"); !reflect.DeepEqual(before, after) {
		f.failf("was\n%+v\nis\n%+v", before, after)
	}
}

func (f *fleet) join() {
	f.made++
	s := &sailor{fleet: f, id: fmt.Sprint("m", f.made), owned: map[kafka.TopicPartition]bool{}, full: true}
	switch f.rand.IntN(5) {
	case 0:
		instance := fmt.Sprint("i", f.rand.IntN(3))
		s.instance = &instance
	case 1:
		regex := []string{"t|u", "u.*", "none"}[f.rand.IntN(3)]
		s.regex = &regex
	case 2:
		assignor := []string{"range", "uniform"}[f.rand.IntN(2)]
		s.assignor = &assignor
	}
	if s.regex == nil {
		s.topics = [][]string{{"t"}, {"t"}, {"t", "u"}, {"u"}}[f.rand.IntN(4)]
	}
	f.sailors = append(f.sailors, s)
	s.beat()
}

func (s *sailor) subscribe() {
	if s.waiting || s.regex != nil {
		return
	}
	s.topics = [][]string{{"t"}, {"t", "u"}, {"u"}}[s.fleet.rand.IntN(3)]
	s.full = s.full || s.epoch > 0
}

// leave ends the member; a static one may say that it comes back.
func (s *sailor) leave() {
	if s.waiting || s.epoch == 0 {
		return
	}
	s.dead = true
	clear(s.owned)
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch, req.InstanceID = 1, "g", s.id, -1, s.instance
	if s.instance != nil && s.fleet.rand.IntN(2) == 0 {
		req.MemberEpoch = -2
	}
	s.say("%s leaves: %d", s.id, req.MemberEpoch)
	s.Do(s.ConsumerHeartbeat(s.Now, Client{}, req, func(string) bool { return true }, func(*kmsg.ConsumerGroupHeartbeatResponse) {}))
}

func (s *sailor) beat() {
	if s.waiting {
		return
	}
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch, req.InstanceID = 1, "g", s.id, s.epoch, s.instance
	if s.told != nil && !s.slow {
		s.owned, s.told, s.full = s.told, nil, true
	}
	if s.full || s.epoch == 0 {
		req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.SubscribedTopicRegex, req.ServerAssignor = 30_000, s.topics, s.regex, s.assignor
		req.Topics = s.owns()
	}
	s.waiting = true
	s.open++
	answered := false
	s.Do(s.ConsumerHeartbeat(s.Now, Client{ID: s.id}, req, func(string) bool { return true }, func(resp *kmsg.ConsumerGroupHeartbeatResponse) {
		if answered {
			s.failf("%s was answered twice", s.id)
		}
		answered, s.waiting = true, false
		s.open--
		s.answer(req, resp)
	}))
}

func (s *sailor) owns() []kmsg.ConsumerGroupHeartbeatRequestTopic {
	out := []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	for tp := range s.owned {
		r := kmsg.NewConsumerGroupHeartbeatRequestTopic()
		copy(r.TopicID[:], tp.Topic)
		r.Partitions = []int32{tp.Partition}
		out = append(out, r)
	}
	return out
}

func (s *sailor) answer(req *kmsg.ConsumerGroupHeartbeatRequest, resp *kmsg.ConsumerGroupHeartbeatResponse) {
	code := kafka.ErrorCode(resp.ErrorCode)
	if s.dead {
		return
	}
	switch code {
	case kafka.ErrNone:
	case kafka.ErrUnknownMemberID, kafka.ErrFencedMemberEpoch:
		s.say("%s is out: %s", s.id, code)
		s.epoch, s.owned, s.told, s.full = 0, map[kafka.TopicPartition]bool{}, nil, true
		return
	case kafka.ErrCoordinatorNotAvailable, kafka.ErrNotCoordinator:
		s.full = true
		return
	case kafka.ErrUnreleasedInstanceID, kafka.ErrGroupMaxSizeReached, kafka.ErrFencedInstanceID:
		s.say("%s gives up: %s", s.id, code)
		s.dead = true
		return
	default:
		s.failf("%s of epoch %d: %s %s", s.id, req.MemberEpoch, code, text(resp.ErrorMessage))
	}
	if resp.MemberEpoch < s.epoch || resp.MemberEpoch == 0 {
		s.failf("%s: epoch %d after %d", s.id, resp.MemberEpoch, s.epoch)
	}
	s.epoch, s.full = resp.MemberEpoch, false
	if resp.Assignment == nil {
		return
	}
	got := map[kafka.TopicPartition]bool{}
	for _, t := range resp.Assignment.Topics {
		for _, p := range t.Partitions {
			got[kafka.TopicPartition{Topic: string(t.TopicID[:]), Partition: p}] = true
		}
	}
	s.say("%s in epoch %d gets %d", s.id, s.epoch, len(got))
	for tp := range got {
		if s.owned[tp] {
			continue
		}
		for _, o := range s.alive() {
			if o != s && o.owned[tp] && o.inGroup() {
				s.failf("%s gets %q, which %s has", s.id, tp.Topic, o.id)
			}
		}
	}
	gives := false
	for tp := range s.owned {
		gives = gives || !got[tp]
	}
	if gives {
		s.told = got // given back before the next heartbeat, unless it is slow
		for tp := range got {
			s.owned[tp] = true
		}
		return
	}
	s.owned, s.told, s.full = got, nil, true
}

// inGroup says whether the coordinator still counts on the member.
func (s *sailor) inGroup() bool {
	e, ok := s.groups.Get("g")
	if !ok || e.consumer == nil {
		return false
	}
	m := e.consumer.Member(s.id)
	return m != nil && (m.Epoch == s.epoch || m.PreviousEpoch == s.epoch)
}

// check holds what the coordinator knows against what must be.
func (f *fleet) check() {
	if e, ok := f.groups.Get("g"); ok && e.consumer != nil {
		owner := map[kafka.TopicPartition]string{}
		for m := range e.consumer.Members() {
			if m.Epoch > e.consumer.Epoch {
				f.failf("%s has epoch %d, its group %d", m.ID, m.Epoch, e.consumer.Epoch)
			}
			for _, list := range []consumergroup.Holding{m.Assigned, m.Revoking} {
				for _, t := range list {
					for _, n := range t.Numbers {
						tp := kafka.TopicPartition{Topic: string(t.Topic[:]), Partition: n}
						if other, has := owner[tp]; has {
							f.failf("%q %d is held by %s and %s", tp.Topic, n, other, m.ID)
						}
						owner[tp] = m.ID
					}
				}
			}
		}
	}
	if e, ok := f.groups.GetCommitted("g"); ok && e.consumer != nil {
		if e.consumer.Epoch < f.epoch {
			f.failf("epoch %d after %d", e.consumer.Epoch, f.epoch)
		}
		f.epoch = e.consumer.Epoch
	}
}

// heal ends all faults: after some time the group is stable, and each partition that a
// member is subscribed to has an owner, which knows it.
func (f *fleet) heal() {
	f.say("faults end")
	f.Hold, f.Refuse = false, kafka.ErrNone
	f.Release()
	if f.open != 0 {
		f.failf("%d requests are not answered", f.open)
	}
	if f.any() == nil {
		f.settings.Consumer.MaxSize = 100
		f.join()
	}
	for range 60 {
		for _, s := range f.alive() {
			s.slow = false
			s.beat()
		}
		f.resolve()
		f.check()
		f.Pass(3 * time.Second)
	}
	e, ok := f.groups.Get("g")
	alive := f.alive()
	if len(alive) == 0 {
		return
	}
	if !ok || e.consumer == nil || e.consumer.State() != consumergroup.StateStable || e.consumer.Size() < len(alive) {
		f.failf("in the end it is %+v", f.DescribeConsumer("g"))
	}
	owners := map[kafka.TopicPartition]string{}
	for _, s := range alive {
		for tp := range s.owned {
			if other, has := owners[tp]; has {
				f.failf("%q is of %s and %s", tp.Topic, s.id, other)
			}
			owners[tp] = s.id
		}
		if s.told != nil {
			f.failf("%s is to give back", s.id)
		}
	}
	for name := range maps.Keys(f.topics) {
		topic, ok := f.cluster.now().ByName(name)
		if !ok || !e.consumer.Subscribed(name) {
			continue
		}
		for p := range topic.Partitions {
			if owners[kafka.TopicPartition{Topic: string(topic.ID[:]), Partition: p}] == "" && !f.heldByAbsent(e.consumer, topic.ID, p) {
				f.failf("%s-%d has no owner: %+v", name, p, f.DescribeConsumer("g"))
			}
		}
	}
}

// heldByAbsent says whether a partition is for a static member that has left to come
// back: its session has not ended.
func (f *fleet) heldByAbsent(g *consumergroup.Group, topic kafka.UUID, partition int32) bool {
	for m := range g.Members() {
		if m.Epoch != -2 {
			continue
		}
		if slices.ContainsFunc(g.Target(m.ID), func(p assign.Partitions) bool { return p.Topic == topic && slices.Contains(p.Numbers, partition) }) {
			return true
		}
	}
	return false
}

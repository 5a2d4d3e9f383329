package group

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var modelSeed = flag.Uint64("group.seed", 0, "run the model with this seed alone")
var modelRuns = flag.Int("group.runs", 150, "seeds of the model")

// TestModel lets members of a group join, leave, crash, come back, change what they
// read and commit, while appends fail and the coordinator is restarted, and holds
// what they are told against what must be: see world.
func TestModel(t *testing.T) {
	if *modelSeed != 0 {
		newWorld(t, *modelSeed).run(2000)
		return
	}
	for seed := range uint64(*modelRuns) {
		newWorld(t, seed+1).run(600)
		if t.Failed() {
			t.Fatalf("seed %d", seed+1)
		}
	}
}

// world is a group with its members. It checks that
//
//   - no partition has two owners in one generation,
//   - generations that assign something grow, over restarts of the coordinator too,
//   - what was committed, and told so, is there until a later commit,
//   - each request is answered once,
//   - in the end, when faults have ceased, each partition has an owner.
type world struct {
	*rig
	t     *testing.T
	rand  *rand.Rand
	seed  uint64
	trace []string

	clients    []*client
	made       int
	partitions int32 // of each topic

	inbox     []answer // on their way to clients
	open      map[int]string
	codes     map[string]int // what was answered, how often
	requests  int
	owners    map[string]string // "generation topic-partition" to client
	assigned  int32             // the highest generation that assigned something
	committed map[kafka.TopicPartition]int64
}

// answer is what a client does with one.
type answer struct {
	to   *client
	then func()
}

// client is a consumer. Its requests go one after the other, as on one connection.
type client struct {
	*world
	name       string
	instance   *string
	version    int16
	topics     string
	member     string
	generation int32
	owned      map[kafka.TopicPartition]int64 // position
	state      string                         // "", "waiting", "stable"
	dead       bool
	paused     bool // it does nothing, and then goes on with what it believes
	life       int  // answers to an earlier life are nothing to it
}

func newWorld(t *testing.T, seed uint64) *world {
	s := defaults()
	w := &world{
		t: t, rand: rand.New(rand.NewPCG(seed, 1)), seed: seed, partitions: 3, open: map[int]string{}, codes: map[string]int{}, owners: map[string]string{},
		committed: map[kafka.TopicPartition]int64{},
	}
	if w.rand.IntN(2) == 0 {
		s.InitialRebalanceDelay = 0
	}
	if w.rand.IntN(4) == 0 {
		s.MaxSize = 3
	}
	w.rig = newRig(s)
	return w
}

func (w *world) say(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%8s ", w.Now.Sub(beginning))+fmt.Sprintf(format, args...))
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	from := max(0, len(w.trace)-60)
	w.t.Fatalf("seed %d: %s\n%s", w.seed, fmt.Sprintf(format, args...), strings.Join(w.trace[from:], "\n"))
}

// request notes a request and gives what its answer has to call.
func (c *client) request(what string) func(then func()) {
	w := c.world
	w.requests++
	id := w.requests
	what += " of " + c.name
	w.open[id] = what
	return func(then func()) {
		if _, is := w.open[id]; !is {
			w.failf("%s was answered twice", what)
		}
		delete(w.open, id)
		w.inbox = append(w.inbox, answer{c, then})
	}
}

// deliver gives clients their answers, in any order of connections.
func (w *world) deliver() {
	var later []answer
	for len(w.inbox) > 0 {
		i := w.rand.IntN(len(w.inbox))
		a := w.inbox[i]
		w.inbox = append(w.inbox[:i], w.inbox[i+1:]...)
		if a.to.paused {
			later = append(later, a)
		} else {
			a.then()
		}
	}
	w.inbox = later
}

func (w *world) run(steps int) {
	for range steps {
		w.step()
		w.deliver()
	}
	w.heal()
	w.Resign(kafka.ErrNotCoordinator)
	w.deliver()
	for _, what := range w.open {
		w.failf("%s was never answered", what)
	}
}

func (w *world) step() {
	switch n := w.rand.IntN(100); {
	case n < 4:
		w.newClient()
	case n < 6:
		w.crash()
	case n < 9:
		w.restartClient()
	case n < 11:
		w.reconnect()
	case n < 12:
		w.leaveOne()
	case n < 34:
		w.beats()
	case n < 66:
		w.commits()
	case n < 69:
		w.subscribe()
	case n < 70:
		w.partitions = min(w.partitions+1, 8)
		w.say("topics have %d partitions", w.partitions)
		for _, c := range w.alive() {
			c.joinAgain("metadata")
		}
	case n < 76:
		w.pause()
	case n < 80:
		w.say("appends are held")
		w.Hold = true
	case n < 85:
		w.Hold = false
		w.Release()
	case n < 87:
		w.say("appends fail")
		w.Hold = false
		w.Fail(kafka.ErrCoordinatorNotAvailable)
	case n < 88:
		w.say("the next append is refused")
		w.Refuse = kafka.ErrCoordinatorNotAvailable
	case n < 89:
		w.say("the coordinator is restarted")
		w.Hold = false
		w.Refuse = kafka.ErrNone
		w.restart()
	default:
		w.say("time passes")
		w.Pass(time.Duration(w.rand.IntN(4000)) * time.Millisecond)
		if w.rand.IntN(8) == 0 {
			w.Pass(time.Duration(w.rand.IntN(60)) * time.Second)
		}
	}
}

// heal ends all faults and lets the living go on until the group is at rest.
func (w *world) heal() {
	w.say("faults cease")
	w.Hold, w.Refuse = false, kafka.ErrNone
	w.Release()
	for _, c := range w.clients {
		c.paused = false
	}
	w.deliver()
	for len(w.alive()) > 3 {
		w.alive()[0].dead = true
	}
	if len(w.alive()) == 0 {
		w.newClient()
	}
	for range 400 {
		w.Pass(2 * time.Second)
		w.deliver()
		w.beats()
		w.deliver()
	}
	for _, topic := range []string{"t", "u"} {
		for p := range w.partitions {
			w.checkOwned(kafka.TopicPartition{Topic: topic, Partition: p})
		}
	}
}

// checkOwned checks that one of the living that are subscribed has the partition.
func (w *world) checkOwned(tp kafka.TopicPartition) {
	owners, readers := 0, 0
	for _, c := range w.alive() {
		if strings.Contains(c.topics, tp.Topic) {
			readers++
		}
		if _, ok := c.owned[tp]; ok && c.state == "stable" {
			owners++
		}
	}
	if owners != min(readers, 1) {
		w.failf("%s has %d owners and %d readers", tp, owners, readers)
	}
}

func (w *world) alive() []*client {
	var list []*client
	for _, c := range w.clients {
		if !c.dead && !c.paused {
			list = append(list, c)
		}
	}
	return list
}

func (w *world) one() *client {
	list := w.alive()
	if len(list) == 0 {
		return nil
	}
	return list[w.rand.IntN(len(list))]
}

func (w *world) newClient() {
	if len(w.alive()) >= 5 {
		return
	}
	w.made++
	c := &client{world: w, name: fmt.Sprintf("c%d", w.made), version: []int16{3, 4, 5, 8, 9}[w.rand.IntN(5)], topics: w.someTopics(), owned: map[kafka.TopicPartition]int64{}}
	if c.version >= 5 && w.rand.IntN(2) == 0 {
		instance := fmt.Sprintf("i%d", w.made)
		c.instance = &instance
	}
	w.clients = append(w.clients, c)
	c.join()
}

func (w *world) someTopics() string { return []string{"t", "u", "t,u"}[w.rand.IntN(3)] }

// pause stops a client, or has one go on that was stopped.
func (w *world) pause() {
	for _, c := range w.clients {
		if c.paused && w.rand.IntN(2) == 0 {
			w.say("%s goes on", c.name)
			c.paused = false
			if !c.dead && w.rand.IntN(2) == 0 {
				w.commitsOf(c)
			}
			return
		}
	}
	if c := w.one(); c != nil {
		w.say("%s is stopped", c.name)
		c.paused = true
	}
}

// reconnect has a client that waits ask again on another connection.
func (w *world) reconnect() {
	if c := w.one(); c != nil && c.state == "waiting" && c.member != "" {
		w.say("%s asks again", c.name)
		c.life++
		c.join()
	}
}

// crash ends a client without a word.
func (w *world) crash() {
	if c := w.one(); c != nil {
		w.say("%s crashes", c.name)
		c.dead = true
		c.life++
	}
}

// restartClient ends a client and begins it anew at once; a static one keeps its
// instance id.
func (w *world) restartClient() {
	if c := w.one(); c != nil {
		w.say("%s is restarted", c.name)
		c.life++
		c.forget()
		c.join()
	}
}

func (w *world) leaveOne() {
	c := w.one()
	if c == nil || c.member == "" {
		return
	}
	w.say("%s leaves", c.name)
	c.dead = true
	c.life++
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group, r.Version = "g", 5
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID, m.InstanceID = c.member, c.instance
	r.Members = append(r.Members, m)
	answer := c.request("leave")
	w.Do(w.Leave(w.Now, r, func(*kmsg.LeaveGroupResponse) { answer(func() {}) }))
}

// beats has all that live send heartbeats.
func (w *world) beats() {
	for _, c := range w.alive() {
		if c.state == "" {
			c.join()
			continue
		}
		if c.state != "stable" {
			continue
		}
		r := kmsg.NewPtrHeartbeatRequest()
		r.Group, r.Generation, r.MemberID, r.InstanceID = "g", c.generation, c.member, c.instance
		switch code := w.Heartbeat(w.Now, r); code {
		case kafka.ErrNone:
		case kafka.ErrRebalanceInProgress:
			c.joinAgain("rebalance")
		default:
			w.say("%s heartbeat: %s", c.name, code)
			c.forget()
			c.join()
		}
	}
}

func (w *world) subscribe() {
	if c := w.one(); c != nil {
		c.topics = w.someTopics()
		c.joinAgain("subscription")
	}
}

func (c *client) forget() {
	c.member, c.generation, c.state, c.owned = "", 0, "", map[kafka.TopicPartition]int64{}
}

// joinAgain joins if the client is not in a request.
func (c *client) joinAgain(why string) {
	if c.state == "stable" {
		c.say("%s joins again: %s", c.name, why)
		c.join()
	}
}

func (c *client) join() {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Version, r.Group, r.MemberID, r.InstanceID, r.ProtocolType = c.version, "g", c.member, c.instance, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 45_000, 10_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", subscription(c.topics)
	r.Protocols = append(r.Protocols, p)
	c.state = "waiting"
	answer, life := c.request("join"), c.life
	c.Do(c.Join(c.Now, Client{ID: c.name, Host: "/h"}, r, func(resp *kmsg.JoinGroupResponse) {
		answer(func() {
			if c.life == life {
				c.joined(resp)
			}
		})
	}))
}

func (c *client) joined(resp *kmsg.JoinGroupResponse) {
	c.state = ""
	switch code := kafka.ErrorCode(resp.ErrorCode); code {
	case kafka.ErrNone:
	case kafka.ErrMemberIDRequired:
		c.member = resp.MemberID
		c.join()
		return
	default:
		c.say("%s join: %s", c.name, code)
		if code != kafka.ErrRebalanceInProgress && code != kafka.ErrCoordinatorNotAvailable {
			c.forget()
		}
		return // it tries again with the next beat
	}
	c.say("%s joined generation %d as %s, leader %s", c.name, resp.Generation, shortIDs(resp.MemberID), shortIDs(resp.LeaderID))
	c.member, c.generation = resp.MemberID, resp.Generation
	r := kmsg.NewPtrSyncGroupRequest()
	r.Version, r.Group, r.Generation, r.MemberID, r.InstanceID = 5, "g", c.generation, c.member, c.instance
	if resp.LeaderID == c.member && !resp.SkipAssignment {
		r.GroupAssignment = c.assign(resp.Members)
	}
	c.state = "waiting"
	answer, life := c.request("sync"), c.life
	c.Do(c.Sync(c.Now, r, func(resp *kmsg.SyncGroupResponse) {
		answer(func() {
			if c.life == life {
				c.synced(resp)
			}
		})
	}))
}

// assign gives each partition to one of those who read the topic, turn by turn.
func (c *client) assign(members []kmsg.JoinGroupResponseMember) []kmsg.SyncGroupRequestGroupAssignment {
	to := make([]string, len(members))
	for _, topic := range []string{"t", "u"} {
		var readers []int
		for i := range members {
			topics := map[string]struct{}{}
			readTopics(members[i].ProtocolMetadata, topics)
			if _, reads := topics[topic]; reads {
				readers = append(readers, i)
			}
		}
		for p := int32(0); p < c.partitions && len(readers) > 0; p++ {
			i := readers[int(p)%len(readers)]
			to[i] += fmt.Sprintf("%s:%d,", topic, p)
		}
	}
	var list []kmsg.SyncGroupRequestGroupAssignment
	for i := range members {
		list = append(list, kmsg.SyncGroupRequestGroupAssignment{MemberID: members[i].MemberID, MemberAssignment: []byte(to[i])})
	}
	return list
}

func (c *client) synced(resp *kmsg.SyncGroupResponse) {
	c.state = ""
	c.codes["sync "+kafka.ErrorCode(resp.ErrorCode).String()]++
	if code := kafka.ErrorCode(resp.ErrorCode); code != kafka.ErrNone {
		c.say("%s sync: %s", c.name, code)
		if code != kafka.ErrRebalanceInProgress && code != kafka.ErrCoordinatorNotAvailable {
			c.forget()
		}
		return
	}
	c.say("%s is assigned %q in generation %d", c.name, resp.MemberAssignment, c.generation)
	c.state, c.owned = "stable", map[kafka.TopicPartition]int64{}
	if len(resp.MemberAssignment) > 0 {
		c.assigned = max(c.assigned, c.generation)
	}
	var asked []string
	partitions(string(resp.MemberAssignment), func(topic string, partition int32, _ int64) {
		tp := kafka.TopicPartition{Topic: topic, Partition: partition}
		key := fmt.Sprintf("%d %s", c.generation, tp)
		if owner, ok := c.owners[key]; ok && owner != c.name {
			c.failf("%s has %s and %s in generation %d", tp, owner, c.name, c.generation)
		}
		c.owners[key] = c.name
		c.owned[tp] = -1
		asked = append(asked, fmt.Sprintf("%s:%d", topic, partition))
	})
	c.positions(asked)
}

// positions asks for where to go on; until it knows, the client commits nothing.
func (c *client) positions(asked []string) {
	r := kmsg.NewOffsetFetchRequestGroup()
	r.Group, r.Topics = "g", []kmsg.OffsetFetchRequestGroupTopic{}
	partitions(strings.Join(asked, ","), func(topic string, partition int32, _ int64) {
		t := kmsg.NewOffsetFetchRequestGroupTopic()
		t.Topic, t.Partitions = topic, []int32{partition}
		r.Topics = append(r.Topics, t)
	})
	answer, life, generation := c.request("fetch"), c.life, c.generation
	c.Do(c.Fetch(9, &r, true, func(resp *kmsg.OffsetFetchResponseGroup) {
		answer(func() {
			if c.life != life || c.generation != generation || resp.ErrorCode != 0 {
				return
			}
			for _, t := range resp.Topics {
				tp := kafka.TopicPartition{Topic: t.Topic, Partition: t.Partitions[0].Partition}
				if _, mine := c.owned[tp]; mine {
					c.owned[tp] = max(t.Partitions[0].Offset, 0)
				}
			}
		})
	}))
}

// commits has a client commit a position further on.
func (w *world) commits() {
	if c := w.one(); c != nil {
		w.commitsOf(c)
	}
}

func (w *world) commitsOf(c *client) {
	if c.state != "stable" {
		return
	}
	for _, tp := range slices.SortedFunc(maps.Keys(c.owned), kafka.TopicPartition.Compare) {
		position := c.owned[tp]
		if position < 0 || w.rand.IntN(3) == 0 {
			continue
		}
		position += int64(w.rand.IntN(5))
		c.owned[tp] = position
		c.commitOne(tp, position)
		break
	}
}

func (c *client) commitOne(tp kafka.TopicPartition, position int64) {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version, r.Group, r.Generation, r.MemberID, r.InstanceID = 9, "g", c.generation, c.member, c.instance
	t := kmsg.NewOffsetCommitRequestTopic()
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset = tp.Partition, position
	t.Topic, t.Partitions = tp.Topic, append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	generation := c.generation
	answer := c.request("commit")
	c.Do(c.Commit(c.Now, r, func(resp *kmsg.OffsetCommitResponse) {
		c.codes[kafka.ErrorCode(resp.Topics[0].Partitions[0].ErrorCode).String()]++
		if resp.Topics[0].Partitions[0].ErrorCode == 0 {
			c.say("%s committed %s at %d in generation %d", c.name, tp, position, generation)
			if last := c.committed[tp]; position < last {
				c.failf("%s committed %s at %d after %d", c.name, tp, position, last)
			}
			c.committed[tp] = position
			c.checkCommitted(tp)
		}
		answer(func() {})
	}))
}

// checkCommitted checks that what was told to be committed is.
func (w *world) checkCommitted(tp kafka.TopicPartition) {
	v, ok := w.offsets.values.GetCommitted(offsetKey{"g", tp})
	if !ok || int64(v.offset) < w.committed[tp] {
		w.failf("%s is %v, %d was committed", tp, v, w.committed[tp])
	}
}

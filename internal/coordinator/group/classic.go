package group

import (
	"iter"
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// state is where a classic group is in its cycle.
type state uint8

const (
	stateEmpty state = iota // no members
	statePreparing
	stateCompleting
	stateStable
	stateDead // unloaded or dissolved
)

// String is the name that DescribeGroups and ListGroups give (ClassicGroupState).
func (s state) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"}[s]
}

// consumerProtocol is the protocol type of consumers, whose subscriptions the
// coordinator can read.
const consumerProtocol = "consumer"

// classicGroup is a group of the classic protocol, or a simple one: offsets without
// members. Its members, timers and waiting answers change at once; what is in the
// log of it is made of them at each stable or empty generation.
type classicGroup struct {
	id         string
	state      state
	previous   state
	stateSince int64 // milliseconds since 1970; -1: the log does not say
	generation int32

	protocolType string  // "": none, a simple group or one that nobody has joined
	protocol     *string // chosen in this generation
	leader       string  // member id; "": none

	members   map[string]*member
	order     []*member // as they came; nil where one has left
	static    map[string]*member
	pending   map[string]*pendingMember
	supported map[string]int // how many members support a protocol
	joining   int            // members that wait for the end of the rebalance
	storing   int32          // the generation whose assignments are on their way to the log; 0: none
	unsynced  int            // members that have to fetch their assignment

	// subscribed are the topics of all members, if knowsTopics.
	subscribed  map[string]struct{}
	knowsTopics bool

	newMemberAdded   bool // during the delay before the first rebalance
	initialDelay     time.Duration
	initialRemaining time.Duration
	joinTimer        timer
	syncTimer        timer

	history history
}

// pendingMember has been given an id and has to come back with it.
type pendingMember struct{ session timer }

func newClassicGroup(id string, sinceMs int64) *classicGroup {
	g := &classicGroup{id: id, previous: stateDead, stateSince: sinceMs}
	g.joinTimer.group, g.syncTimer.group, g.syncTimer.kind = g, g, timerSync
	return g
}

func (g *classicGroup) size() int { return len(g.members) }

// all iterates over the members in the order in which they came.
func (g *classicGroup) all() iter.Seq[*member] {
	return func(yield func(*member) bool) {
		for _, m := range g.order {
			if m != nil && !yield(m) {
				return
			}
		}
	}
}

func (g *classicGroup) isConsumer() bool { return g.protocolType == consumerProtocol }

// isSimple says whether the group only keeps offsets.
func (g *classicGroup) isSimple() bool {
	return g.protocolType == "" && g.state == stateEmpty && len(g.pending) == 0
}

func (g *classicGroup) moveTo(s state, now time.Time) {
	g.previous, g.state, g.stateSince = g.state, s, now.UnixMilli()
}

// canRebalance says whether a rebalance can begin.
func (g *classicGroup) canRebalance() bool {
	return g.state == stateStable || g.state == stateCompleting || g.state == stateEmpty
}

// add makes m a member that waits for the rebalance if it has an answer to get.
func (g *classicGroup) add(m *member) {
	if g.members == nil {
		g.members, g.supported = map[string]*member{}, map[string]int{}
	}
	if g.size() == 0 {
		g.protocolType = m.protocolType
	}
	if g.leader == "" {
		g.leader = m.id
	}
	g.insert(m)
	g.count(m, 1)
	if m.join != nil {
		g.joining++
	}
}

// insert puts m among the members.
func (g *classicGroup) insert(m *member) {
	g.members[m.id] = m
	m.place = len(g.order)
	g.order = append(g.order, m)
	if m.instance != nil {
		if g.static == nil {
			g.static = map[string]*member{}
		}
		g.static[*m.instance] = m
	}
}

// remove takes m out; what waits for it has been answered.
func (g *classicGroup) remove(m *member) {
	g.count(m, -1)
	delete(g.members, m.id)
	if m.instance != nil {
		delete(g.static, *m.instance)
	}
	if m.join != nil {
		g.joining--
	}
	g.synced(m)
	g.order[m.place] = nil
	if g.leader == m.id {
		g.leader = ""
		for other := range g.all() {
			g.leader = other.id
			break
		}
	}
	if len(g.order) > 32 && len(g.order) > 2*g.size() {
		g.compact()
	}
}

// compact closes the gaps that members have left.
func (g *classicGroup) compact() {
	order := make([]*member, 0, g.size())
	for m := range g.all() {
		m.place = len(order)
		order = append(order, m)
	}
	g.order = order
}

func (g *classicGroup) count(m *member, by int) {
	for i := range m.protocols {
		name := m.protocols[i].Name
		if g.supported[name] += by; g.supported[name] == 0 {
			delete(g.supported, name)
		}
	}
}

// synced says that m has asked for its assignment.
func (g *classicGroup) synced(m *member) {
	if m.unsynced {
		m.unsynced = false
		g.unsynced--
	}
}

// allJoined says whether nobody is missing in the rebalance.
func (g *classicGroup) allJoined() bool { return g.size() == g.joining && len(g.pending) == 0 }

// rebalanceTimeout is the longest of the members'.
func (g *classicGroup) rebalanceTimeout() time.Duration {
	var longest time.Duration
	for m := range g.all() {
		longest = max(longest, m.rebalanceTimeout)
	}
	return longest
}

// supports says whether a member with that protocol type and those protocols can be
// in the group.
func (g *classicGroup) supports(protocolType string, protocols []kmsg.JoinGroupRequestProtocol) bool {
	if g.state == stateEmpty {
		return protocolType != "" && len(protocols) > 0
	}
	if g.protocolType == "" || g.protocolType != protocolType {
		return false
	}
	for i := range protocols {
		if g.supported[protocols[i].Name] == g.size() {
			return true
		}
	}
	return false
}

// validate says whether the member of a request is one of the group.
func (g *classicGroup) validate(memberID string, instance *string) (*member, kafka.ErrorCode) {
	if instance != nil {
		switch m := g.static[*instance]; {
		case m == nil:
			return nil, kafka.ErrUnknownMemberID
		case m.id != memberID:
			return nil, kafka.ErrFencedInstanceID
		}
	}
	m := g.members[memberID]
	if m == nil {
		return nil, kafka.ErrUnknownMemberID
	}
	return m, kafka.ErrNone
}

// electJoined makes a member that takes part in the rebalance the leader. It says
// whether there is one.
func (g *classicGroup) electJoined() bool {
	leader := g.members[g.leader]
	if leader == nil || leader.join != nil {
		return leader != nil
	}
	for m := range g.all() {
		if m.join != nil {
			g.leader = m.id
			return true
		}
	}
	return false
}

// nextGeneration begins a generation with the members that there are.
func (g *classicGroup) nextGeneration(now time.Time) {
	g.generation++
	g.protocol = nil
	if g.size() == 0 {
		g.learnTopics()
		g.moveTo(stateEmpty, now)
	} else {
		chosen := g.choose()
		g.protocol = &chosen
		g.learnTopics()
		g.moveTo(stateCompleting, now)
	}
	for m := range g.all() {
		g.synced(m)
	}
}

// answerJoin ends the waiting of a member for the rebalance.
func (g *classicGroup) answerJoin(m *member, resp *kmsg.JoinGroupResponse) {
	if m.join == nil {
		return
	}
	reply := m.join
	m.join = nil
	g.joining--
	reply(resp)
}

// isSubscribed says whether the group uses the topic. Of consumers whose
// subscriptions cannot be read it is assumed.
func (g *classicGroup) isSubscribed(topic string) bool {
	if !g.knowsTopics {
		return g.isConsumer()
	}
	_, ok := g.subscribed[topic]
	return ok
}

// learnTopics reads the subscriptions of all members.
func (g *classicGroup) learnTopics() {
	g.subscribed, g.knowsTopics = nil, false
	if !g.isConsumer() {
		return
	}
	if g.size() > 0 && g.protocol == nil {
		return
	}
	topics := map[string]struct{}{}
	for m := range g.all() {
		if !readTopics(m.metadata(*g.protocol), topics) {
			return
		}
	}
	g.subscribed, g.knowsTopics = topics, true
}

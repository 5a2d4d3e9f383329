package node

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"barnabas/internal/admin"
	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/lag"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/metrics"
)

// groupWatch looks from time to time where groups stand.
type groupWatch struct {
	mu    sync.Mutex
	watch *lag.Watch // guarded by mu
}

// Bounds of the watch, and how often it looks.
const (
	watchInterval = 10 * time.Second
	watchedRows   = 10_000
	// askTimeout bounds the wait for a coordinator: one that is busy is left out.
	askTimeout = 5 * time.Second
)

func newGroupWatch() *groupWatch { return &groupWatch{watch: lag.New(watchedRows)} }

// watchGroups looks until the node stops.
func (n *Node) watchGroups() {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-n.stop:
			return
		case now := <-ticker.C:
			n.observeGroups(now)
		}
	}
}

func (n *Node) observeGroups(now time.Time) {
	var samples []lag.Sample
	dropped := 0
	ends := map[kafka.TopicPartition]kafka.Offset{}
	for _, partition := range n.groups.Partitions() {
		list, left := n.progress(partition)
		dropped += left
		for _, p := range list {
			end, known := ends[p.TopicPartition]
			if !known {
				if end = n.endOf(p.TopicPartition); end < 0 {
					continue
				}
				ends[p.TopicPartition] = end
			}
			samples = append(samples, lag.Sample{Key: lag.Key{Group: p.Group, TopicPartition: p.TopicPartition}, Committed: p.Committed, End: end,
				Alive: p.Alive, Members: p.Members})
		}
	}
	n.watch.mu.Lock()
	defer n.watch.mu.Unlock()
	n.watch.watch.Observe(now, samples, dropped)
}

// progress asks the coordinator that lives in a partition. left is the number of
// offsets that it does not tell, for there are too many.
func (n *Node) progress(partition int32) (list []group.Progress, left int) {
	type answer struct {
		list []group.Progress
		left int
	}
	told, _ := askCoordinator(n, partition, func(core *group.Core, _ time.Time) (a answer) {
		a.left = core.Progress(watchedRows, func(p group.Progress) { a.list = append(a.list, p) })
		return a
	})
	return told.list, told.left
}

// askCoordinator asks the core of a partition and waits for what it says; ok is false
// if it does not answer.
func askCoordinator[T any](n *Node, partition int32, question func(*group.Core, time.Time) T) (answer T, ok bool) {
	answers, refused := make(chan T, 1), make(chan struct{}, 1)
	n.groups.Do(partition, func(core *group.Core, now time.Time) machine.Decision {
		answers <- question(core, now)
		return machine.Decision{}
	}, func(kafka.ErrorCode) { refused <- struct{}{} })
	timeout := time.NewTimer(askTimeout)
	defer timeout.Stop()
	select {
	case answer = <-answers:
		return answer, true
	case <-refused:
	case <-timeout.C:
	case <-n.stop:
	}
	return answer, false
}

// endOf is the high watermark of a partition that is led here, else -1.
func (n *Node) endOf(p kafka.TopicPartition) kafka.Offset {
	topic := n.Image().Topics.ByName(p.Topic)
	if topic == nil {
		return -1
	}
	at := topic.Partition(p.Partition)
	if at == nil || at.Leader != n.config.Node.ID {
		return -1
	}
	led := n.replicas.Led(p.Topic, p.Partition, at.LeaderEpoch)
	if led == nil {
		return -1
	}
	state, code := led.State()
	if code != kafka.ErrNone {
		return -1
	}
	return state.HighWatermark
}

func (n *Node) groupRows() ([]lag.Row, int) {
	n.watch.mu.Lock()
	defer n.watch.mu.Unlock()
	return n.watch.watch.Rows(), n.watch.watch.Dropped()
}

// tellGroupLag tells where groups stood when the watch looked last.
func (n *Node) tellGroupLag(s *metrics.Scrape) {
	rows, dropped := n.groupRows()
	for i := range rows {
		r := &rows[i]
		labels := []string{strings.ToValidUTF8(r.Group, "�"), r.Topic, fmt.Sprint(r.Partition)}
		s.Set(metrics.GroupOffset, float64(r.Committed), labels...)
		s.Set(metrics.GroupLag, float64(r.Lag()), labels...)
		s.Set(metrics.GroupLagTime, r.Behind.Seconds(), labels...)
		s.Set(metrics.GroupStuck, oneIf(r.Stuck()), labels...)
	}
	s.Set(metrics.GroupRowsDropped, float64(dropped))
}

// groupReport is what /groups/why tells.
type groupReport struct {
	Group      string            `json:"group"`
	State      string            `json:"state"`
	Members    int               `json:"members"`
	Rebalances []rebalanceReport `json:"rebalances"` // the newest first
	Partitions []partitionReport `json:"partitions"` // as of the last look, some seconds ago
	// Unwatched says that there are none because the watch has no room for the group.
	Unwatched bool `json:"unwatched,omitempty"`
}

type rebalanceReport struct {
	Began       time.Time `json:"began"`
	TookSeconds float64   `json:"tookSeconds"`
	Cause       string    `json:"cause"`
	Member      string    `json:"member,omitempty"`
	Instance    string    `json:"instance,omitempty"`
	Client      string    `json:"client,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	Lost        []string  `json:"lost,omitempty"`
	LostCount   int       `json:"lostCount,omitempty"`
	Generation  int32     `json:"generation"`
	Members     int       `json:"members"`
	Outcome     string    `json:"outcome"`
}

type partitionReport struct {
	Topic         string       `json:"topic"`
	Partition     int32        `json:"partition"`
	Committed     kafka.Offset `json:"committed"`
	End           kafka.Offset `json:"end"`
	Lag           int64        `json:"lag"`
	BehindSeconds float64      `json:"behindSeconds"`
	Stuck         bool         `json:"stuck"`
	StillSeconds  float64      `json:"stillSeconds,omitempty"`
}

// groupsWhy says what became of a group lately.
func (n *Node) groupsWhy(id string) (answer any, err error) {
	partitions := int32(n.offsetsPartitions())
	if partitions == 0 {
		return nil, admin.Absent("no group has ever been here")
	}
	report, answered := askCoordinator(n, kafka.CoordinatorPartition(id, partitions), func(core *group.Core, now time.Time) *groupReport {
		return reportOfGroup(core, now, id)
	})
	switch {
	case !answered:
		return nil, errors.New("the coordinator of the group does not answer here: it is being loaded, or lives elsewhere")
	case report == nil:
		return nil, admin.Absent(fmt.Sprintf("there is no group %q of the classic or the consumer protocol", id))
	}
	rows, dropped := n.groupRows()
	for i := range rows {
		if row := &rows[i]; row.Group == id {
			report.Partitions = append(report.Partitions, partitionReport{Topic: row.Topic, Partition: row.Partition, Committed: row.Committed, End: row.End,
				Lag: row.Lag(), BehindSeconds: row.Behind.Seconds(), Stuck: row.Stuck(), StillSeconds: row.Still.Seconds()})
		}
	}
	report.Unwatched = len(report.Partitions) == 0 && dropped > 0
	return report, nil
}

// reportOfGroup is what the core knows of a group, nil if it has none of that name.
func reportOfGroup(core *group.Core, now time.Time, id string) *groupReport {
	list, known := core.Why(now, id)
	if !known {
		return nil
	}
	state, members := core.Membership(id)
	report := &groupReport{Group: id, State: state, Members: members, Rebalances: []rebalanceReport{}, Partitions: []partitionReport{}}
	for i := len(list) - 1; i >= 0; i-- {
		report.Rebalances = append(report.Rebalances, reportOf(list[i]))
	}
	return report
}

func reportOf(r group.Rebalance) rebalanceReport {
	return rebalanceReport{Began: r.Began, TookSeconds: r.Took.Seconds(), Cause: string(r.Cause), Member: r.MemberID, Instance: r.InstanceID, Client: r.ClientID,
		Reason: r.Reason, Lost: r.Lost, LostCount: r.LostCount, Generation: r.Generation, Members: r.Members, Outcome: string(r.Outcome)}
}

// offsetsPartitions is the number of partitions of the topic of groups, 0 if it is not
// there yet.
func (n *Node) offsetsPartitions() int {
	topic := n.Image().Topics.ByName(kafka.ConsumerOffsetsTopic)
	if topic == nil {
		return 0
	}
	return topic.Len()
}

package compat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/test/kit"
)

// groupPartitions is the number of partitions of each topic that groups read.
const groupPartitions = 4

// everyPartition lists them.
var everyPartition = []int32{0, 1, 2, 3}

// groupValue is the value of the record at an offset of a partition.
func groupValue(partition int32, offset int64) string { return fmt.Sprintf("%d:%d", partition, offset) }

// TestGroupScenarios plays each scenario with each library that can, at the same
// time on one node; at the end the node is restarted under all of them.
func TestGroupScenarios(t *testing.T) {
	apache, python := installClients(t)
	// Members of the consumer protocol have the session and the interval of the group.
	node := startServer(t, apache, "group.consumer.min.session.timeout.ms=1000", "group.consumer.session.timeout.ms=6000",
		"group.consumer.min.heartbeat.interval.ms=100", "group.consumer.heartbeat.interval.ms=400")
	cl, err := kgo.NewClient(kgo.SeedBrokers(node.Address()), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		// Not all libraries here bring codecs, and topics are young when they are written to.
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.UnknownTopicRetries(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	wakeCoordinator(t, cl)
	clients := groupClients(t, apache, python)
	t.Run("scenarios", func(t *testing.T) {
		for _, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				t.Cleanup(c.idle.end)
				for _, s := range groupScenarios {
					t.Run(s.name, func(t *testing.T) { playScenario(t, newGroupStage(t, node, cl, c, s.name), s) })
				}
			})
		}
	})
	t.Run("resume after a restart of the broker", func(t *testing.T) { restartUnderGroups(t, node, cl, clients) })
}

// wakeCoordinator waits until the topic of offsets is there and served: some libraries
// tell their user of the time before.
func wakeCoordinator(t *testing.T, cl *kgo.Client) {
	t.Helper()
	waitFor(t, "groups are served", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := kadm.NewClient(cl).FetchOffsets(ctx, "nobody")
		return err == nil
	})
}

// groupScenario is one story; play is told with the client as a member.
type groupScenario struct {
	name  string
	needs []string
	play  func(s *groupStage)
}

func playScenario(t *testing.T, s *groupStage, story groupScenario) {
	for _, need := range story.needs {
		if why, cannot := s.client.cannot[need]; cannot {
			t.Skipf("%s has no %s: %s", s.client.name, need, why)
		}
	}
	s.createTopic()
	story.play(s)
}

// groupStage is a topic and a group of one scenario, and who plays in it.
type groupStage struct {
	*testing.T
	node     *kit.Node
	cl       *kgo.Client
	client   groupClient
	topic    string
	group    string
	produced int64 // records in each partition
}

func newGroupStage(t *testing.T, node *kit.Node, cl *kgo.Client, c groupClient, name string) *groupStage {
	id := c.name + "-" + strings.NewReplacer(" ", "-", ",", "").Replace(name)
	return &groupStage{T: t, node: node, cl: cl, client: c, topic: "topic-" + id, group: "group-" + id}
}

func (s *groupStage) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), conditionLimit)
	s.Cleanup(cancel)
	return ctx
}

func (s *groupStage) createTopic() {
	s.Helper()
	admin := kadm.NewClient(s.cl)
	if _, err := admin.CreateTopic(s.context(), groupPartitions, 1, nil, s.topic); err != nil {
		s.Fatal(err)
	}
	// A library whose leader does not see the topic yet assigns nothing, and some look
	// again only after minutes.
	waitFor(s.T, "the topic is seen", func() bool {
		topics, err := admin.ListTopics(s.context(), s.topic)
		return err == nil && len(topics[s.topic].Partitions) == groupPartitions
	})
}

// produce writes n records more to each partition.
func (s *groupStage) produce(n int64) {
	s.Helper()
	var records []*kgo.Record
	for range n {
		for _, p := range everyPartition {
			records = append(records, &kgo.Record{Topic: s.topic, Partition: p, Value: []byte(groupValue(p, s.produced))})
		}
		s.produced++
	}
	if err := s.cl.ProduceSync(s.context(), records...).FirstErr(); err != nil {
		s.Fatal(err)
	}
}

// member is a program that can join the group; one that left the group of another
// scenario is taken, if there is one.
func (s *groupStage) member(name string) *member { return s.client.idle.take(s.T, s.client, name) }

// joins is the usual join; with may change it.
func (s *groupStage) joins(m *member, with ...func(*ask)) {
	s.Helper()
	a := ask{Bootstrap: s.node.Address(), Group: s.group, Topic: s.topic, Assignor: "range", Reset: "earliest", SessionMs: 6000}
	for _, w := range with {
		w(&a)
	}
	m.join(a)
}

// waitOwns waits until the members own all partitions, each by one, with the given
// number each, and returns the highest generation that they tell of.
func (s *groupStage) waitOwns(members []*member, numbers ...int) int32 {
	s.Helper()
	var generation int32
	what := fmt.Sprintf("members own %v of the partitions", numbers)
	waitFor(s.T, what, func() bool {
		var all []int32
		generation = -1
		for i, m := range members {
			owned, g := m.owns()
			if len(owned) != numbers[i] {
				return false
			}
			all, generation = append(all, owned...), max(generation, g)
		}
		slices.Sort(all)
		return slices.Equal(all, everyPartition)
	})
	return generation
}

// committed is what the broker has as the group's offsets.
func (s *groupStage) committed() map[int32]int64 {
	s.Helper()
	offsets, err := kadm.NewClient(s.cl).FetchOffsets(s.context(), s.group)
	if err != nil {
		s.Fatal(err)
	}
	out := map[int32]int64{}
	offsets.Each(func(o kadm.OffsetResponse) {
		if o.Topic == s.topic && o.At >= 0 {
			out[o.Partition] = o.At
		}
	})
	return out
}

func (s *groupStage) waitCommitted(want int64) {
	s.Helper()
	waitFor(s.T, fmt.Sprintf("%d is committed in each partition", want), func() bool {
		got := s.committed()
		return !slices.ContainsFunc(everyPartition, func(p int32) bool { return got[p] != want })
	})
}

// later says that a generation came after another, where the library tells them.
func (s *groupStage) later(what string, before, after int32) {
	s.Helper()
	if before >= 0 && after >= 0 && after <= before {
		s.Errorf("%s: generation %d after %d", what, after, before)
	}
}

// describe is the group as the broker sees it.
func (s *groupStage) describe() kadm.DescribedGroup {
	s.Helper()
	if s.client.modern {
		return s.describeConsumers()
	}
	described, err := kadm.NewClient(s.cl).DescribeGroups(s.context(), s.group)
	if err != nil {
		s.Fatal(err)
	}
	return described[s.group]
}

// describeConsumers is describe for a group of the consumer protocol.
func (s *groupStage) describeConsumers() (d kadm.DescribedGroup) {
	s.Helper()
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = []string{s.group}
	resp, err := req.RequestWith(s.context(), s.cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Groups[0].ErrorCode)
	}
	if err != nil {
		s.Fatal(err)
	}
	d.State = resp.Groups[0].State
	for _, m := range resp.Groups[0].Members {
		d.Members = append(d.Members, kadm.DescribedGroupMember{MemberID: m.MemberID})
	}
	return d
}

// restartUnderGroups has a member of each library read while the node is restarted.
func restartUnderGroups(t *testing.T, node *kit.Node, cl *kgo.Client, clients []groupClient) {
	var stages []*groupStage
	members := map[*groupStage]*member{}
	for _, c := range clients {
		t.Cleanup(c.idle.end)
		s := newGroupStage(t, node, cl, c, "restart")
		s.createTopic()
		s.produce(10)
		m := s.member(c.name)
		s.joins(m, func(a *ask) { a.SessionMs = 30000 })
		stages, members[s] = append(stages, s), m
	}
	for _, s := range stages {
		m := members[s]
		s.waitOwns([]*member{m}, groupPartitions)
		m.until("reads", func() bool { return m.hasRead(0, everyPartition, 0, 10) })
		m.does(ask{Do: "commit"}, "committed")
		s.waitCommitted(10)
	}
	if err := node.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	for _, s := range stages {
		s.produce(10)
	}
	for _, s := range stages {
		m := members[s]
		m.until("reads on after the restart", func() bool { return m.hasRead(0, everyPartition, 10, 20) })
		s.waitOwns([]*member{m}, groupPartitions)
		// A commit may still meet a rebalance; the offsets are what counts.
		waitFor(t, s.client.name+" commits after the restart", func() bool {
			m.tell(ask{Do: "commit"})
			time.Sleep(100 * time.Millisecond)
			got := s.committed()
			return !slices.ContainsFunc(everyPartition, func(p int32) bool { return got[p] != 20 })
		})
		m.does(ask{Do: "leave"}, "left")
	}
}

package node

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"barnabas/internal/admin"
	"barnabas/internal/base/vfs"
	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// findGroup asks for the coordinator of a group until there is one.
func (f *fixture) findGroup(c *kgo.Client, group string) {
	f.t.Helper()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = group, []string{group}
	eventually(f.t, "a coordinator of "+group, func() bool {
		resp, err := req.RequestWith(f.context(), c)
		if err != nil {
			f.t.Fatal(err)
		}
		found := resp.Coordinators[0]
		if code := kafka.ErrorCode(found.ErrorCode); code != kafka.ErrNone && code != kafka.ErrCoordinatorNotAvailable {
			f.t.Fatalf("coordinator of %s: %v", group, code)
		}
		return found.ErrorCode == 0 && found.NodeID == 1
	})
}

// groupCode is what an operation in a partition of groups is answered: ErrNone
// when it is run.
func (f *fixture) groupCode(partition int32) kafka.ErrorCode {
	answer := make(chan kafka.ErrorCode, 1)
	f.groups.Do(partition, func(*group.Core, time.Time) machine.Decision {
		answer <- kafka.ErrNone
		return machine.Decision{}
	}, func(code kafka.ErrorCode) { answer <- code })
	return <-answer
}

func TestTopicOfGroupsIsMadeWhenSomebodyLooksForACoordinator(t *testing.T) {
	f := start(t, t.TempDir(), "offsets.topic.num.partitions=7", "auto.create.topics.enable=false", "offsets.topic.segment.bytes=2000000")
	c, _ := f.client()
	if code := f.groupCode(0); code != kafka.ErrNotCoordinator {
		t.Errorf("without a topic: %v", code)
	}
	f.findGroup(c, "g")
	topic := f.Image().Topics.ByName(kafka.ConsumerOffsetsTopic)
	if topic.Len() != 7 {
		t.Errorf("%d partitions", topic.Len())
	}
	for partition := range int32(7) {
		eventually(t, "the coordinator is loaded", func() bool { return f.groupCode(partition) == kafka.ErrNone })
	}
	if code := f.groupCode(7); code != kafka.ErrNotCoordinator {
		t.Errorf("behind the last partition: %v", code)
	}
	if st := f.groups.Stats(); st.Active != 7 || st.Loads != 7 {
		t.Errorf("%+v", st)
	}
}

// TestGroupsHaveToWaitWhileTheirPartitionIsLoaded keeps the log of a partition from
// being opened. What clients hear until then must never be an empty state.
func TestGroupsHaveToWaitWhileTheirPartitionIsLoaded(t *testing.T) {
	dir := t.TempDir()
	f := start(t, dir, "offsets.topic.num.partitions=2")
	c, closeClient := f.client()
	f.findGroup(c, "g")
	for partition := range int32(2) {
		eventually(t, "the coordinator is loaded", func() bool { return f.groupCode(partition) == kafka.ErrNone })
	}
	closeClient()
	f.stop()

	o, log := options(t, dir, "offsets.topic.num.partitions=2")
	held := &heldFS{word: "__consumer_offsets-1" + string(filepath.Separator) + "0", release: make(chan struct{})}
	o.NewFS = func() vfs.FS { return &heldFS{ownFS(), held.word, held.release} }
	f = launch(t, o, log)
	f.awaitServing()
	c, _ = f.client()
	f.findGroup(c, "g")
	eventually(t, "the other coordinator is loaded", func() bool { return f.groupCode(0) == kafka.ErrNone })
	if code := f.groupCode(1); code != kafka.ErrCoordinatorLoadInProgress {
		t.Errorf("before its log is open: %v", code)
	}
	if _, r := f.ready(); r.Groups.Partitions != (admin.Progress{Done: 1, Total: 2}) {
		t.Errorf("ready: %+v", r.Groups)
	}
	if _, page := f.get("/metrics"); !strings.Contains(page, `kafka_server_group_coordinator_metrics_num_partitions{state="loading"} 1`) {
		t.Errorf("metrics:\n%s", page)
	}
	close(held.release)
	eventually(t, "the coordinator is loaded", func() bool { return f.groupCode(1) == kafka.ErrNone })
}

// TestAStopTellsOfItsCoordinatorsInOneLine: not of each partition of their topic.
func TestAStopTellsOfItsCoordinatorsInOneLine(t *testing.T) {
	f := start(t, t.TempDir(), "offsets.topic.num.partitions=20")
	c, closeClient := f.client()
	f.findGroup(c, "g")
	for partition := range int32(20) {
		eventually(t, "the coordinator is loaded", func() bool { return f.groupCode(partition) == kafka.ErrNone })
	}
	closeClient()
	f.stop()
	if n := strings.Count(f.log.String(), `"no longer the coordinator"`); n != 1 || !strings.Contains(f.log.String(), "topic=__consumer_offsets partitions=20") {
		t.Errorf("%d lines", n)
	}
}

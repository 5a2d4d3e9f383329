package node

import (
	"testing"
	"time"

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

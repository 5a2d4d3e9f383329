package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

func markerOf(epoch kafka.ProducerEpoch) kafka.Marker {
	return kafka.Marker{ProducerID: 7, ProducerEpoch: epoch, CoordinatorEpoch: 1, Commit: true, TransactionVersion: 2}
}

// write writes markers and gives their codes when they are done.
func (n *node) writeMarkers(list ...MarkerWrite) []kafka.ErrorCode {
	n.t.Helper()
	done := make(chan struct{})
	n.m.WriteMarkers(list, time.Minute, func() { close(done) })
	<-done
	var codes []kafka.ErrorCode
	for i := range list {
		codes = append(codes, list[i].Code)
	}
	return codes
}

func (n *node) wantCodes(got []kafka.ErrorCode, want ...kafka.ErrorCode) {
	n.t.Helper()
	for i := range want {
		if got[i] != want[i] {
			n.t.Errorf("codes %v, want %v", got, want)
			return
		}
	}
}

func TestMarkersEndTransactionsInSeveralPartitions(t *testing.T) {
	n := newNode(t, oneDisk())
	n.create("a", 2)
	n.start()
	defer n.close()
	l := n.led("a", 0)
	b := record.NewBuilder(record.BatchOptions{Producer: &record.Producer{ID: 7, Epoch: 0}, Transactional: true})
	b.Append(record.Record{Timestamp: 1, Value: []byte("v")})
	data, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	l.mustAppend(t, data, 1, 1)
	stable := func() kafka.Offset { return n.m.Partition("a", 0).role.Load().log.Snapshot().LastStableOffset() }
	if stable() != 0 {
		t.Errorf("last stable offset %d", stable())
	}
	n.wantCodes(n.writeMarkers(
		MarkerWrite{Topic: "a", Partition: 0, Marker: markerOf(1)}, MarkerWrite{Topic: "a", Partition: 1, Marker: markerOf(1)},
		MarkerWrite{Topic: "a", Partition: 9, Marker: markerOf(1)}, MarkerWrite{Topic: "nosuch", Marker: markerOf(1)},
	), kafka.ErrNone, kafka.ErrNone, kafka.ErrUnknownTopicOrPartition, kafka.ErrUnknownTopicOrPartition)
	if stable() != 2 {
		t.Errorf("last stable offset %d", stable())
	}
	// Again, then one that is too old, and one of a coordinator that was replaced.
	old := markerOf(2)
	old.CoordinatorEpoch = 0
	n.wantCodes(n.writeMarkers(
		MarkerWrite{Topic: "a", Marker: markerOf(1)}, MarkerWrite{Topic: "a", Marker: markerOf(0)}, MarkerWrite{Topic: "a", Marker: old},
	), kafka.ErrNone, kafka.ErrInvalidProducerEpoch, kafka.ErrTransactionCoordinatorFenced)
	if !n.m.Exists(kafka.TopicPartition{Topic: "a", Partition: 1}) || n.m.Exists(kafka.TopicPartition{Topic: "a", Partition: 2}) || n.m.Exists(kafka.TopicPartition{Topic: "b"}) {
		t.Error("which partitions there are")
	}
	if end, hw, code := l.AppendMarker(markerOf(3)); end != 4 || hw != 4 || code != kafka.ErrNone {
		t.Errorf("a coordinator's marker ends at %d, high watermark %d, %v", end, hw, code)
	}
	if _, _, code := n.led("a", 1).AppendMarker(markerOf(3)); code != kafka.ErrNotLeaderOrFollower {
		t.Errorf("under an epoch to come: %v", code)
	}
	if _, _, code := l.AppendMarker(markerOf(2)); code != kafka.ErrInvalidProducerEpoch {
		t.Errorf("an old one: %v", code)
	}
}

func TestMarkersWaitForTheHighWatermark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &slowDisk{FS: vfs.NewMem(nil), takes: 10 * time.Millisecond}
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1, "flush.messages=1")
		n.start()
		defer n.close()
		begun := time.Now()
		n.wantCodes(n.writeMarkers(MarkerWrite{Topic: "a", Marker: markerOf(0)}), kafka.ErrNone)
		if time.Since(begun) < disk.takes {
			t.Error("it did not wait until the marker is synced")
		}
		late := []MarkerWrite{{Topic: "a", Marker: markerOf(1)}}
		done := make(chan struct{})
		n.m.WriteMarkers(late, time.Millisecond, func() { close(done) })
		<-done
		n.wantCodes([]kafka.ErrorCode{late[0].Code}, kafka.ErrRequestTimedOut)
		time.Sleep(time.Second)
		moved := []MarkerWrite{{Topic: "a", Marker: markerOf(2)}}
		done = make(chan struct{})
		n.m.WriteMarkers(moved, time.Minute, func() { close(done) })
		n.lead("a", 0, self) // another epoch
		<-done
		n.wantCodes([]kafka.ErrorCode{moved[0].Code}, kafka.ErrNotLeaderOrFollower)
	})
}

package replica

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// ended collects how waits ended.
type ended struct {
	mu    sync.Mutex
	codes []kafka.ErrorCode
}

func (e *ended) done(code kafka.ErrorCode) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.codes = append(e.codes, code)
}

func (e *ended) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return fmt.Sprint(e.codes)
}

func (n *node) led(topic string, epoch kafka.LeaderEpoch) *Led {
	n.t.Helper()
	l := n.m.Led(topic, 0, epoch)
	if l == nil {
		n.t.Fatalf("%s-0 is not here", topic)
	}
	return l
}

func (l *Led) mustAppend(t testing.TB, b record.Batch, end, highWatermark kafka.Offset) {
	t.Helper()
	guard := commitlog.NoGuard
	if b.IsTransactional() { // as after its verification
		guard = l.p.beginVerification(l.p.role.Load(), b, 12)
	}
	if e, hw, code := l.Append(b, guard); e != end || hw != highWatermark || code != kafka.ErrNone {
		t.Fatalf("append: end %d, high watermark %d, %v; want %d, %d", e, hw, code, end, highWatermark)
	}
}

func TestCoordinatorAppendsAndReadsItsPartition(t *testing.T) {
	n := newNode(t, oneDisk())
	n.create("a", 1, "max.message.bytes=5000")
	n.start()
	defer n.close()
	l := n.led("a", 0)
	l.mustAppend(t, batch(3, nil), 3, 3)
	l.mustAppend(t, batch(2, nil), 5, 5)
	if st, code := l.State(); code != kafka.ErrNone || st != (LedState{0, 5, 5}) {
		t.Errorf("state %+v, %v", st, code)
	}
	if l.MaxBatchBytes() != 5000 {
		t.Errorf("at most %d bytes", l.MaxBatchBytes())
	}
	small := len(batch(3, nil))
	for _, c := range []struct {
		from        kafka.Offset
		buffer      int
		first, size int
	}{{0, 10, 0, small}, {0, small + 30, 0, small + 30}, {4, 1000, 3, len(batch(2, nil))}, {5, 1000, 0, 0}} {
		data, err := l.Read(c.from, make([]byte, c.buffer))
		if err != nil || len(data) != c.size {
			t.Fatalf("read %+v: %d bytes, %v", c, len(data), err)
		}
		if h, _ := record.ParseHeader(data); len(data) > 0 && h.BaseOffset != kafka.Offset(c.first) {
			t.Errorf("read %+v begins at %d", c, h.BaseOffset)
		}
	}
	if n.m.Led("a", 1, 0) != nil || n.m.Led("b", 0, 0) != nil {
		t.Error("a partition that is not here")
	}
	if _, _, code := n.led("a", 1).Append(batch(1, nil), commitlog.NoGuard); code != kafka.ErrNotLeaderOrFollower {
		t.Errorf("append under an epoch to come: %v", code)
	}
}

func TestCoordinatorWaitsForTheHighWatermark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &slowDisk{FS: vfs.NewMem(nil), takes: 10 * time.Millisecond}
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1, "flush.messages=1")
		n.start()
		defer n.close()
		l := n.led("a", 0)
		l.mustAppend(t, batch(2, nil), 2, 0) // committed when it is synced
		var first, second, later ended
		l.Await(2, first.done)
		l.Await(3, later.done)
		if first.String() != "[]" {
			t.Fatalf("ended with %v before the sync", &first)
		}
		time.Sleep(disk.takes)
		synctest.Wait()
		l.Await(2, second.done)
		if first.String() != "[NONE]" || second.String() != "[NONE]" || later.String() != "[]" {
			t.Fatalf("%v, %v, %v", &first, &second, &later)
		}
		n.lead("a", 0, self) // another epoch
		var over ended
		l.Await(3, over.done)
		if later.String() != "[NOT_LEADER_OR_FOLLOWER]" || over.String() != "[NOT_LEADER_OR_FOLLOWER]" {
			t.Fatalf("%v, %v", &later, &over)
		}
		if _, _, code := l.Append(batch(1, nil), commitlog.NoGuard); code != kafka.ErrNotLeaderOrFollower {
			t.Errorf("append under an old epoch: %v", code)
		}
		next := n.led("a", 1)
		next.mustAppend(t, batch(1, nil), 3, 2)
	})
}

func TestCoordinatorWaitsForItsLogToOpen(t *testing.T) {
	n := newNode(t, oneDisk())
	n.create("a", 1)
	n.start()
	n.led("a", 0).mustAppend(t, batch(2, nil), 2, 2)
	n.close()

	held := &heldDisk{FS: n.disks["/data"], hold: make(chan struct{})}
	n.disks["/data"] = held
	n = n.again()
	if err := n.open(); err != nil {
		t.Fatal(err)
	}
	n.m.Apply(image.Diff(image.Empty(), n.img))
	l := n.led("a", 0)
	if _, code := l.State(); code != kafka.ErrReplicaNotAvailable {
		t.Errorf("state of a log that is being opened: %v", code)
	}
	opened := make(chan kafka.ErrorCode, 1)
	l.Await(0, func(code kafka.ErrorCode) { opened <- code })
	select {
	case code := <-opened:
		t.Errorf("ended with %v before the log was open", code)
	default:
	}
	close(held.hold)
	select {
	case <-opened:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody said that the log is open")
	}
	if st, code := l.State(); code != kafka.ErrNone || st.End != 2 {
		t.Errorf("state %+v, %v", st, code)
	}
	n.close()
}

func TestCoordinatorNeedsMinISR(t *testing.T) {
	n := newNode(t, oneDisk())
	n.create("a", 1)
	n.start()
	defer n.close()
	n.m.Partition("a", 0).belowMin.Store(true)
	if _, _, code := n.led("a", 0).Append(batch(1, nil), commitlog.NoGuard); code != kafka.ErrNotEnoughReplicas {
		t.Errorf("append: %v", code)
	}
}

func TestCoordinatorOfAFailedDirectory(t *testing.T) {
	n := newNode(t, map[string]vfs.FS{"/data": vfs.NewMem(nil), "/data2": vfs.NewMem(nil)}, "log.dirs=/data,/data2")
	n.create("a", 1)
	n.start()
	defer n.close()
	l := n.led("a", 0)
	var w ended
	l.Await(1, w.done)
	n.m.Partition("a", 0).role.Load().dir.fail("test", kafka.TopicPartition{}, bytes.ErrTooLarge)
	if w.String() != "[KAFKA_STORAGE_ERROR]" {
		t.Errorf("the wait ended with %v", &w)
	}
	if _, _, code := l.Append(batch(1, nil), commitlog.NoGuard); code != kafka.ErrKafkaStorageError {
		t.Errorf("append: %v", code)
	}
	if _, err := l.Read(0, nil); err != kafka.ErrKafkaStorageError {
		t.Errorf("read: %v", err)
	}
}

package replica

import (
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// TestNewReplicasWaitForSpace: topics that are made on a full disk are served as soon
// as there is space. One that is deleted before leaves nothing, and another of its
// name is not mistaken for it.
func TestNewReplicasWaitForSpace(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpMkdir, vfs.OpCreate, vfs.OpWrite, vfs.OpRename} {
		synctest.Test(t, func(t *testing.T) {
			disk := vfs.NewMem(nil)
			n := newNode(t, map[string]vfs.FS{"/data": disk})
			n.start()
			disk.Inject(func(op vfs.Op) vfs.Fault {
				if op.Kind == kind {
					return vfs.Fault{Err: syscall.ENOSPC, Written: op.Bytes / 2}
				}
				return vfs.Fault{}
			})
			n.create("a", 2)
			n.create("gone", 1)
			time.Sleep(5 * time.Second)
			if code := n.produce(AcksAll, put{"a", 1, batch(1, nil)}).code(0); code != kafka.ErrNotLeaderOrFollower {
				t.Errorf("%s: a producer to a replica without a log is told %v", kind, code)
			}
			n.remove("gone")
			if got := n.folders("/data"); strings.Contains(strings.ReplaceAll(got, "-delete", ""), "gone-0 ") {
				t.Errorf("%s: folders %s", kind, got)
			}
			other := topicRecords("gone", 1)
			other[0].(*metarec.TopicRecord).TopicID[14] = 9
			other[1].(*metarec.PartitionRecord).TopicID[14] = 9
			n.replay(other...)
			time.Sleep(5 * time.Second)
			disk.Inject(nil)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			for _, topic := range []string{"a", "gone"} {
				n.produce(AcksAll, put{topic, 0, batch(3, nil)}).must(t, 0)
			}
			if !n.m.Dirs()[0].Online() {
				t.Errorf("%s: offline\n%s", kind, n.logs)
			}
			n.close()
			again := n.again()
			again.start()
			defer again.close()
			for _, topic := range []string{"a", "gone"} {
				again.same("end", again.listOffset(topic, kafka.TimestampLatest), "NONE 3 epoch 0")
			}
		})
	}
}

// TestRecoveryWaitsForSpace: a node that was killed is started on a full disk. Logs
// that can be opened without space are served, the others once there is some.
func TestRecoveryWaitsForSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(nil)
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1, "index.interval.bytes=1")
		n.create("empty", 1)
		n.start()
		for i := range 10 {
			n.produce(AcksAll, put{"a", 0, batch(1, nil)}).must(t, int64(i))
		}
		n.m.Partition("a", 0).role.Load().dir.flushes.submit((*flushTask)(n.m.Partition("a", 0)))
		after := disk.CrashTorn(1)
		n.close()
		n.disks["/data"] = after
		again := n.again()
		after.Inject(func(op vfs.Op) vfs.Fault {
			if strings.Contains(op.Path, "/a-0/") && (op.Kind == vfs.OpWrite || op.Kind == vfs.OpCreate) {
				return vfs.Fault{Err: syscall.ENOSPC}
			}
			return vfs.Fault{}
		})
		again.start()
		again.produce(AcksAll, put{"empty", 0, batch(1, nil)}).must(t, 0)
		time.Sleep(time.Minute)
		if p := again.m.Progress(); p.LogsOpen != 1 || !again.m.Dirs()[0].Online() {
			t.Errorf("%d logs are open\n%s", p.LogsOpen, again.logs)
		}
		after.Inject(nil)
		time.Sleep(5 * time.Second)
		if p := again.m.Progress(); p.LogsOpen != 2 {
			t.Errorf("%d logs are open\n%s", p.LogsOpen, again.logs)
		}
		if got := again.listOffset("a", kafka.TimestampLatest); !strings.HasPrefix(got, "NONE") {
			t.Error(got)
		}
		again.close()
	})
}

// TestLeadingOnAFullDisk: a new leader epoch begins without space, and is remembered
// all the same, be the stop clean or not.
func TestLeadingOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(nil)
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1)
		n.start()
		n.produce(AcksAll, put{"a", 0, batch(2, nil)}).must(t, 0)
		disk.SetCapacity(disk.Used())
		n.lead("a", 0, self)
		n.same("end", n.listOffset("a", kafka.TimestampLatest), "NONE 2 epoch 1")
		if code := n.produce(AcksAll, put{"a", 0, batch(1, nil)}).code(0); code != kafka.ErrKafkaStorageError {
			t.Errorf("a producer is told %v", code)
		}
		disk.SetCapacity(0)
		n.produce(AcksAll, put{"a", 0, batch(1, nil)}).must(t, 2)
		n.close()
		again := n.again()
		again.start()
		defer again.close()
		again.same("end", again.listOffset("a", kafka.TimestampLatest), "NONE 3 epoch 1")
	})
}

// TestStoppingOnAFullDisk: a stop that finds no space is no failure of the disk. It
// leaves no mark, and the next start recovers everything.
func TestStoppingOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(nil)
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 2, "index.interval.bytes=1")
		n.start()
		for i := range 20 {
			n.produce(AcksAll, put{"a", 0, batch(1, nil)}).must(t, int64(i))
		}
		disk.SetCapacity(disk.Used() + 10)
		n.close()
		if logs := n.logs.String(); strings.Contains(logs, "level=ERROR") || strings.Count(logs, "level=WARN") != 1 || !strings.Contains(logs, "a log directory is full and cannot be left as a clean stop does") {
			t.Errorf("logged:\n%s", logs)
		}
		if n.fatal != nil {
			t.Error(n.fatal)
		}
		disk.SetCapacity(0)
		again := n.again()
		again.start()
		defer again.close()
		again.expectWhole(0, "a", 0, 20)
	})
}

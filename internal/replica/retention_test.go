package replica

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
	"barnabas/internal/storage/logdir"
)

// soon lets retention look every second, from the start on.
var soon = []string{"log.retention.check.interval.ms=1000", "log.initial.task.delay.ms=0"}

// files lists the files of a folder but for indexes and metadata.
func (n *node) files(folder string) string {
	n.t.Helper()
	entries, err := n.disks[filepath.Dir(folder)].ReadDir(folder)
	if err != nil {
		n.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		base, suffix, ok := strings.Cut(e.Name, ".")
		if ok && base != "partition" && !strings.Contains(suffix, "index") {
			out = append(out, strings.TrimLeft(base[:len(base)-1], "0")+base[len(base)-1:]+"."+suffix)
		}
	}
	return strings.Join(out, " ")
}

func (n *node) text(path string) string {
	n.t.Helper()
	text, err := vfs.ReadFile(n.disks["/data"], path)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(text)
}

func (n *node) same(what, got, want string) {
	n.t.Helper()
	if got != want {
		n.t.Fatalf("%s: got %q, want %q\n%s", what, got, want, n.logs)
	}
}

func (n *node) configureTopic(topic, key, value string) {
	c := metarec.NewConfigRecord()
	c.ResourceType, c.ResourceName, c.Name, c.Value = int8(image.TopicResource), topic, key, &value
	n.replay(c)
}

// segments produces batches of one record into a topic whose segments take one.
func (n *node) segments(topic string, count int) {
	for range count {
		n.appended(topic, batch(1, nil))
	}
}

func (n *node) appended(topic string, b []byte) {
	n.t.Helper()
	if code := n.produce(AcksAll, put{topic, 0, b}).code(0); code != kafka.ErrNone {
		n.t.Fatal(code)
	}
}

const oneEach = "internal.segment.bytes=100" // a batch has 79 bytes

func TestSegmentsGoByTheirAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk(), soon...)
		n.create("a", 1, oneEach, "retention.ms=60000", "file.delete.delay.ms=10000")
		n.start()
		n.segments("a", 2)
		time.Sleep(30 * time.Second)
		n.segments("a", 2)
		n.same("before", n.files("/data/a-0"), "0.log 1.log 1.snapshot 2.log 2.snapshot 3.log 3.snapshot")
		time.Sleep(31 * time.Second)
		synctest.Wait()
		n.same("two are due", n.files("/data/a-0"), "0.log.deleted 1.log.deleted 1.snapshot.deleted 2.log 2.snapshot 3.log 3.snapshot")
		n.same("earliest", n.listOffset("a", kafka.TimestampEarliest), "NONE 2 epoch 0")
		n.same("read below", n.fetch(fetchOptions{epoch: -1}, from{"a", 0, 1}).show(), "a-0 OFFSET_OUT_OF_RANGE")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		n.same("after the delay", n.files("/data/a-0"), "2.log 2.snapshot 3.log 3.snapshot")
		// The active segment goes too when nothing else is left.
		time.Sleep(60 * time.Second)
		synctest.Wait()
		n.same("idle", n.files("/data/a-0"), "4.log 4.snapshot")
		n.same("earliest", n.listOffset("a", kafka.TimestampEarliest), "NONE 4 epoch 0")
		n.same("latest", n.listOffset("a", kafka.TimestampLatest), "NONE 4 epoch 0")
		n.close()
		n.same("epochs", n.text("/data/a-0/leader-epoch-checkpoint"), "0\n1\n0 4\n")
		n.same("log starts", n.text("/data/log-start-offset-checkpoint"), "0\n0\n")
		if log := n.logs.String(); !strings.Contains(log, `msg="deleted old segments" partition=a-0 segments=2`) || !strings.Contains(log, `because="older than retention.ms of 60000"`) {
			t.Error(log)
		}
		again := n.again(soon...).start()
		defer again.close()
		again.segments("a", 1)
		again.same("after a restart", again.fetch(fetchOptions{epoch: -1}, from{"a", 0, 4}).show(), "a-0 hw=5 [4..4]")
	})
}

func TestSegmentsGoByTheSizeOfTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk(), soon...)
		size := len(batch(1, nil))
		n.create("a", 1, oneEach, fmt.Sprintf("retention.bytes=%d", 3*size-1), "file.delete.delay.ms=0")
		n.create("empty", 1, "retention.bytes=0")
		n.start()
		defer n.close()
		n.segments("a", 5)
		n.segments("empty", 2)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		n.same("files", n.files("/data/a-0"), "2.log 2.snapshot 3.log 3.snapshot 4.log 4.snapshot")
		n.same("nothing is kept", n.listOffset("empty", kafka.TimestampEarliest), "NONE 2 epoch 0")
		n.segments("empty", 1)
		n.same("and it goes on", n.fetch(fetchOptions{epoch: -1}, from{"empty", 0, 2}).show(), "empty-0 hw=3 [2..2]")
	})
}

func TestWhatAPolicyKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk(), soon...)
		n.create("both", 1, oneEach, "retention.ms=1", "cleanup.policy=compact,delete")
		n.create("compact", 1, oneEach, "retention.ms=1", "retention.bytes=1", "cleanup.policy=compact")
		n.create("none", 1, oneEach, "retention.ms=1", "cleanup.policy=")
		n.create("forever", 1, oneEach, "retention.ms=-1", "retention.bytes=-1")
		n.start()
		defer n.close()
		for _, topic := range []string{"both", "compact"} {
			for range 2 {
				n.appended(topic, keyed("k"))
			}
		}
		n.segments("none", 2)
		n.segments("forever", 2)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for topic, want := range map[string]string{"both": "2", "compact": "0", "none": "0", "forever": "0"} {
			n.same(topic, n.listOffset(topic, kafka.TimestampEarliest), "NONE "+want+" epoch 0")
		}
		// A setting that changes has its effect at the next check.
		n.configureTopic("forever", "retention.ms", "1")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		n.same("changed", n.listOffset("forever", kafka.TimestampEarliest), "NONE 2 epoch 0")
	})
}

// A reader holds what it reads, whatever becomes of the segment.
func TestAReaderKeepsADeletedSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk(), soon...)
		n.create("a", 1, oneEach, "retention.ms=1", "file.delete.delay.ms=0")
		n.start()
		defer n.close()
		n.segments("a", 2)
		f := n.fetch(fetchOptions{epoch: -1}, from{"a", 0, 0})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		n.same("gone", n.files("/data/a-0"), "2.log 2.snapshot")
		n.same("read", f.show(), "a-0 hw=2 [0..0]")
	})
}

// keyed builds a batch of one record with a key.
func keyed(key string) []byte {
	b := record.NewBuilder(record.BatchOptions{})
	b.Append(record.Record{Timestamp: time.Now().UnixMilli(), Key: []byte(key), Value: []byte("value")})
	out, err := b.Build()
	if err != nil {
		panic(err)
	}
	return out
}

// deleteRecords asks and waits for the answer.
func (n *node) deleteRecords(topic string, partition int32, offset kafka.Offset) string {
	n.t.Helper()
	list := []RecordDeletion{{Topic: topic, Partition: partition, Offset: offset}}
	done := make(chan struct{})
	n.m.DeleteRecords(list, func() { close(done) })
	<-done
	return fmt.Sprintf("%v %d", list[0].Code, list[0].LogStart)
}

// crashFS takes a picture of the disk, as a power cut would leave it, before each
// change of a name.
type crashFS struct {
	*vfs.Mem
	mu      sync.Mutex
	picture func() // nil: none is taken; guarded by mu
}

// each has a picture taken before each change.
func (c *crashFS) each(picture func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.picture = picture
}

func (c *crashFS) before() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.picture != nil {
		c.picture()
	}
}

func (c *crashFS) Open(path string, mode vfs.Mode) (vfs.File, error) {
	c.before()
	return c.Mem.Open(path, mode)
}

func (c *crashFS) Rename(from, to string) error {
	c.before()
	return c.Mem.Rename(from, to)
}

func (c *crashFS) Remove(path string) error {
	c.before()
	return c.Mem.Remove(path)
}

func (c *crashFS) SyncDir(path string) error {
	c.before()
	return c.Mem.SyncDir(path)
}

// TestAPowerCutInTheMiddleOfADeletion cuts the power at every step of deletions of
// all kinds. The log start that clients have seen never goes back, and what is
// above it is there.
func TestAPowerCutInTheMiddleOfADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &crashFS{Mem: vfs.NewMem(nil)}
		n := newNode(t, map[string]vfs.FS{"/data": disk}, soon...)
		size := len(batch(1, nil))
		topics := []string{"time", "size", "start", "idle"}
		n.create("time", 1, oneEach, "flush.messages=1", "retention.ms=15000")
		n.create("size", 1, oneEach, "flush.messages=1", fmt.Sprint("retention.bytes=", 2*size))
		n.create("start", 1, oneEach, "flush.messages=1", "retention.ms=-1")
		n.create("idle", 1, "flush.messages=1", "retention.ms=1000")
		n.start()
		type picture struct {
			disk   *vfs.Mem
			starts []kafka.Offset
		}
		var pictures []picture
		seed := rand.New(rand.NewPCG(1, 2))
		var acknowledged atomic.Bool
		disk.each(func() {
			p := picture{disk: disk.CrashTorn(seed.Uint64())}
			if len(pictures)%4 == 0 {
				p.disk = disk.Crash()
			}
			for _, topic := range topics {
				start := n.m.Partition(topic, 0).role.Load().log.Snapshot().LogStart()
				if topic == "start" && !acknowledged.Load() {
					start = 0
				}
				p.starts = append(p.starts, start)
			}
			pictures = append(pictures, p)
		})
		for _, topic := range topics {
			n.segments(topic, 3)
		}
		time.Sleep(10 * time.Second)
		for _, topic := range topics {
			n.segments(topic, 3)
		}
		if done := n.deleteRecords("start", 0, 3); done != "NONE 3" {
			t.Fatal(done)
		}
		acknowledged.Store(true)
		time.Sleep(100 * time.Second) // all that is due, and the delay of files
		synctest.Wait()
		disk.each(nil)
		n.close()
		if len(pictures) < 50 {
			t.Fatalf("%d steps", len(pictures))
		}
		for i, p := range pictures {
			survivor := n.again(soon...)
			survivor.disks = map[string]vfs.FS{"/data": p.disk}
			survivor.start()
			synctest.Wait() // what the crash left is synced before it counts
			for j, topic := range topics {
				snap := survivor.m.Partition(topic, 0).role.Load().log.Snapshot()
				if snap.LogStart() < p.starts[j] {
					t.Errorf("picture %d: %s begins at %d, and clients have seen %d", i, topic, snap.LogStart(), p.starts[j])
				}
				survivor.expectWhole(i, topic, snap.LogStart(), snap.LogEnd())
			}
			survivor.close()
		}
	})
}

// expectWhole reads a log from its start to its end.
func (n *node) expectWhole(picture int, topic string, start, end kafka.Offset) {
	n.t.Helper()
	for o := start; o < end; o++ {
		if got := n.fetch(fetchOptions{epoch: -1, partitionBytes: 1}, from{topic, 0, int64(o)}).show(); !strings.Contains(got, fmt.Sprintf("[%d..%d]", o, o)) {
			n.t.Errorf("picture %d: %s from %d to %d: at %d: %s", picture, topic, start, end, o, got)
		}
	}
}

func TestDeleteRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk(), soon...)
		n.create("a", 1, oneEach, "file.delete.delay.ms=0")
		n.create("compact", 1, "cleanup.policy=compact")
		n.create("both", 1, "cleanup.policy=compact,delete")
		n.create("other", 1)
		n.start()
		n.lead("other", 0, 2)
		n.segments("a", 4)
		n.appended("both", keyed("k"))
		n.same("ahead", n.deleteRecords("a", 0, 5), "OFFSET_OUT_OF_RANGE -1")
		n.same("negative", n.deleteRecords("a", 0, -2), "OFFSET_OUT_OF_RANGE -1")
		n.same("some", n.deleteRecords("a", 0, 2), "NONE 2")
		// It is on disk when the answer comes.
		n.same("log starts", n.text("/data/log-start-offset-checkpoint"), "0\n1\na 0 2\n")
		n.same("fewer", n.deleteRecords("a", 0, 1), "NONE 2")
		n.same("all", n.deleteRecords("both", 0, -1), "NONE 1")
		n.same("policy", n.deleteRecords("compact", 0, 0), "POLICY_VIOLATION -1")
		n.same("not here", n.deleteRecords("other", 0, 0), "NOT_LEADER_OR_FOLLOWER -1")
		n.same("unknown", n.deleteRecords("a", 1, 0), "UNKNOWN_TOPIC_OR_PARTITION -1")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		n.same("the segments go", n.files("/data/a-0"), "2.log 2.snapshot 3.log 3.snapshot")
		n.same("everything", n.deleteRecords("a", 0, -1), "NONE 4")
		n.close()
		n.same("log starts", n.text("/data/log-start-offset-checkpoint"), "0\n2\na 0 4\nboth 0 1\n")
		again := n.again(soon...).start()
		defer again.close()
		again.same("after a restart", again.listOffset("a", kafka.TimestampEarliest), "NONE 4 epoch 0")
	})
}

// Who asks for what somebody else has asked for already is answered when it is on
// disk, too.
func TestTheSameDeletionTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(nil)
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1)
		n.start()
		defer n.close()
		n.segments("a", 2)
		n.same("before any", n.deleteRecords("a", 0, 0), "NONE 0")
		n.same("first", n.deleteRecords("a", 0, 1), "NONE 1")
		if err := disk.Remove("/data/log-start-offset-checkpoint"); err != nil {
			t.Fatal(err)
		}
		n.same("second", n.deleteRecords("a", 0, 1), "NONE 1")
		n.same("log starts", n.text("/data/log-start-offset-checkpoint"), "0\n1\na 0 1\n")
	})
}

// A disk that takes no checkpoint gives the records up all the same if it is full,
// and is out of service by any other error.
func TestDeleteRecordsWhereNothingCanBeWritten(t *testing.T) {
	for _, x := range []struct {
		err  error
		want string
	}{{syscall.ENOSPC, "NONE 1"}, {syscall.EIO, "KAFKA_STORAGE_ERROR -1"}} {
		synctest.Test(t, func(t *testing.T) {
			disk := vfs.NewMem(nil)
			n := newNode(t, map[string]vfs.FS{"/data": disk})
			n.create("a", 1)
			n.start()
			defer n.close()
			n.segments("a", 2)
			disk.Inject(func(op vfs.Op) vfs.Fault {
				if op.Kind == vfs.OpWrite && strings.Contains(op.Path, string(logdir.LogStartOffsets)) {
					return vfs.Fault{Err: x.err}
				}
				return vfs.Fault{}
			})
			n.same("deleted", n.deleteRecords("a", 0, 1), x.want)
			disk.Inject(nil)
			n.same("directory", fmt.Sprint(n.m.Dirs()[0].Online()), fmt.Sprint(x.err == syscall.ENOSPC))
		})
	}
}

func TestLogDirsAreDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, bad := vfs.NewMem(nil), vfs.NewMem(nil)
		full.SetCapacity(1 << 20)
		n := newNode(t, map[string]vfs.FS{"/data": full, "/data2": bad, "/data3": vfs.NewMem(nil)})
		n.create("a", 3)
		n.start()
		defer n.close()
		for part := range int32(3) {
			n.produce(AcksAll, put{"a", part, batch(1, nil)})
		}
		bad.Inject(func(vfs.Op) vfs.Fault { return vfs.Fault{Err: syscall.EIO} })
		time.Sleep(2 * time.Minute) // some chore meets it
		synctest.Wait()
		bad.Inject(nil)
		dirs := n.m.LogDirs(func(tp kafka.TopicPartition) bool { return true })
		if d := dirs[0]; d.Code != kafka.ErrNone || d.Total != 1<<20 || d.Usable <= 0 || d.Usable >= 1<<20 || len(d.Replicas) != 1 || d.Replicas[0].Size != int64(one) {
			t.Errorf("%+v", d)
		}
		if d := dirs[1]; d.Path != "/data2" || d.Code != kafka.ErrKafkaStorageError || len(d.Replicas) != 0 || d.Total != -1 {
			t.Errorf("%+v", d)
		}
		if d := dirs[2]; d.Total != -1 || d.Usable != -1 || len(d.Replicas) != 1 {
			t.Errorf("%+v", d)
		}
		if d := n.m.LogDirs(func(kafka.TopicPartition) bool { return false })[0]; len(d.Replicas) != 0 {
			t.Errorf("%+v", d)
		}
	})
}

// TestADiskThatIsFull fills the disk, reads and deletes, and goes on when there is
// space, a few times. Nothing that was acknowledged is lost, and the directory stays
// in service.
func TestADiskThatIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(nil)
		n := newNode(t, map[string]vfs.FS{"/data": disk}, soon...)
		n.create("a", 1, "internal.segment.bytes=1000", "retention.ms=-1", "file.delete.delay.ms=0")
		n.start()
		acknowledged, start := int64(0), int64(0)
		for round := range 5 {
			disk.SetCapacity(disk.Used() + 5000)
			refused := 0
			for range 200 {
				switch code := n.produce(AcksAll, put{"a", 0, batch(1, nil)}).code(0); code {
				case kafka.ErrNone:
					acknowledged++
				case kafka.ErrKafkaStorageError:
					refused++
				default:
					t.Fatal(code)
				}
			}
			if refused == 0 {
				t.Fatal("the disk was never full")
			}
			time.Sleep(2 * time.Minute) // all chores meet it
			synctest.Wait()
			if !n.m.Dirs()[0].Online() {
				t.Fatalf("round %d: offline\n%s", round, n.logs)
			}
			n.expectWhole(round, "a", kafka.Offset(start), kafka.Offset(acknowledged))
			// Deleting makes room.
			start = acknowledged - 3
			n.same("delete", n.deleteRecords("a", 0, kafka.Offset(start)), fmt.Sprintf("NONE %d", start))
			time.Sleep(5 * time.Second)
			synctest.Wait()
			n.segments("a", 1)
			acknowledged++
		}
		disk.SetCapacity(0)
		n.close()
		again := n.again(soon...)
		again.start()
		defer again.close()
		again.expectWhole(0, "a", kafka.Offset(start), kafka.Offset(acknowledged))
		again.same("end", again.listOffset("a", kafka.TimestampLatest), fmt.Sprintf("NONE %d epoch 0", acknowledged))
	})
}

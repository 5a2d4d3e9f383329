package node

import (
	"strings"
	"syscall"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// matching fails operations of a kind whose path begins and ends in a way.
func matching(kind vfs.OpKind, prefix, suffix string) func(vfs.Op) vfs.Fault {
	return func(op vfs.Op) vfs.Fault {
		if op.Kind == kind && strings.HasPrefix(op.Path, prefix) && strings.HasSuffix(op.Path, suffix) {
			return vfs.Fault{Err: syscall.EIO}
		}
		return vfs.Fault{}
	}
}

// brokenAtStart are what of a directory cannot be read at a start.
var brokenAtStart = []struct {
	kind           vfs.OpKind
	suffix         string
	killed, quorum bool // after a kill; also of the directory of the metadata log, when it ends the start
}{
	{kind: vfs.OpReadDir, suffix: "", quorum: true},
	{kind: vfs.OpOpen, suffix: "/.lock", quorum: true},
	{kind: vfs.OpOpen, suffix: "/meta.properties", quorum: true},
	{kind: vfs.OpRead, suffix: "/meta.properties", quorum: true},
	{kind: vfs.OpRead, suffix: "/recovery-point-offset-checkpoint", quorum: true},
	{kind: vfs.OpRead, suffix: "/replication-offset-checkpoint", quorum: true},
	{kind: vfs.OpOpen, suffix: "/.kafka_cleanshutdown", quorum: true},
	{kind: vfs.OpRead, suffix: "/partition.metadata"},
	{kind: vfs.OpOpen, suffix: ".log"},
	{kind: vfs.OpRead, suffix: ".log", killed: true},
}

// filledDirectories are the disks of a node with a record of partition bad of topic t in
// /two and of partition good of topic u in /one: after a clean stop, and after a kill.
func filledDirectories(t *testing.T) (clean, killed *vfs.Mem, bad, good int32) {
	t.Helper()
	f, disk := twoDirectories(t)
	if err := disk.SyncDir("/"); err != nil { // what makes the directories does that
		t.Fatal(err)
	}
	every := "1"
	bad = f.partitionIn("/two", "t", map[string]*string{"flush.messages": &every})
	good = f.partitionIn("/one", "u", map[string]*string{"flush.messages": &every})
	for topic, p := range map[string]int32{"t": bad, "u": good} {
		if code := f.produceOnce(topic, p); code != kafka.ErrNone {
			t.Fatalf("%s-%d: %v", topic, p, code)
		}
	}
	killed = disk.Crash()
	f.stop()
	return disk, killed, bad, good
}

// startOn starts a node with its directories on a disk.
func startOn(t *testing.T, disk *vfs.Mem) (*Node, *lines, error) {
	t.Helper()
	o, log := options(t, "/one,/two")
	o.NewFS = func() vfs.FS { return disk }
	n, err := Start(o)
	return n, log, err
}

// TestADirectoryThatCannotBeReadAtTheStart: the directory is offline with one ERROR, and
// the node serves what lies in the other one. At the next start, when the disk is well,
// it has all again.
func TestADirectoryThatCannotBeReadAtTheStart(t *testing.T) {
	clean, killed, bad, good := filledDirectories(t)
	for _, x := range brokenAtStart {
		t.Run(string(x.kind)+strings.ReplaceAll(x.suffix, "/", "+"), func(t *testing.T) {
			disk := clean.Crash()
			if x.killed {
				disk = killed.Crash()
			}
			disk.Inject(matching(x.kind, "/two", x.suffix))
			n, log, err := startOn(t, disk)
			if err != nil {
				t.Fatal(err)
			}
			f := watched(t, n, log)
			f.awaitServing()
			eventually(t, "the directory is offline", func() bool { return strings.Contains(log.String(), "level=ERROR") })
			<-f.replicas.Recovered()
			f.leads("u", good)
			if code := f.produceOnce("u", good); code != kafka.ErrNone {
				t.Errorf("a producer to the other directory is told %v", code)
			}
			if code := f.produceOnce("t", bad); code != kafka.ErrKafkaStorageError {
				t.Errorf("a producer to what lies there is told %v", code)
			}
			f.saysOffline("/two")
			eventually(t, "nobody leads what lies there", func() bool {
				return f.Image().Topics.ByName("t").Partition(bad).Leader == kafka.NoBroker
			})
			f.create("later", 2, nil)
			f.stop()

			disk.Inject(nil)
			if n, log, err = startOn(t, disk); err != nil {
				t.Fatal(err)
			}
			f = watched(t, n, log)
			f.awaitServing()
			f.leads("t", bad)
			for _, code := range []kafka.ErrorCode{f.fetchOnce("t", bad), f.produceOnce("t", bad)} {
				if code != kafka.ErrNone {
					t.Errorf("when the directory is back a client is told %v", code)
				}
			}
			if strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("the next start logs errors:\n%s", log)
			}
		})
	}
}

// leads waits until the node leads a partition.
func (f *fixture) leads(topic string, partition int32) {
	f.t.Helper()
	eventually(f.t, "the node leads "+topic, func() bool {
		t := f.Image().Topics.ByName(topic)
		if t == nil || t.Partition(partition).Leader != 1 {
			return false
		}
		led := f.replicas.Led(topic, partition, t.Partition(partition).LeaderEpoch)
		if led == nil {
			return false
		}
		_, code := led.State()
		return code == kafka.ErrNone
	})
}

// watched makes a fixture of a node that was started.
func watched(t *testing.T, n *Node, log *lines) *fixture {
	t.Helper()
	f := &fixture{Node: n, t: t, log: log}
	t.Cleanup(func() {
		f.stop()
		if t.Failed() {
			t.Logf("log of the node:\n%s", log)
		}
	})
	return f
}

// TestAStartWithoutTheDirectoryItNeeds: the start ends and names the directory, where that
// of the metadata log cannot be read, or none of log.dirs can.
func TestAStartWithoutTheDirectoryItNeeds(t *testing.T) {
	clean, _, _, _ := filledDirectories(t)
	for _, x := range brokenAtStart {
		if !x.quorum {
			continue
		}
		t.Run(string(x.kind)+strings.ReplaceAll(x.suffix, "/", "+"), func(t *testing.T) {
			disk := clean.Crash()
			disk.Inject(matching(x.kind, "/one", x.suffix))
			n, log, err := startOn(t, disk)
			if err == nil {
				watched(t, n, log).mayFail = true
				t.Fatal("it starts")
			}
			if text := err.Error(); !strings.Contains(text, "/one") || !strings.Contains(text, "input/output error") {
				t.Errorf("it says %s", text)
			}
		})
	}
	t.Run("all of log.dirs", func(t *testing.T) {
		disk := vfs.NewMem(nil)
		for range 2 { // the first start formats
			o, log := options(t, "/one,/two", "metadata.log.dir=/meta")
			o.NewFS = func() vfs.FS { return disk }
			n, err := Start(o)
			if err == nil {
				f := watched(t, n, log)
				f.awaitServing()
				f.stop()
				disk.Inject(func(op vfs.Op) vfs.Fault {
					if strings.HasPrefix(op.Path, "/one") || strings.HasPrefix(op.Path, "/two") {
						return vfs.Fault{Err: syscall.EIO}
					}
					return vfs.Fault{}
				})
				continue
			}
			if text := err.Error(); !strings.Contains(text, "/one, /two") || !strings.Contains(text, "input/output error") {
				t.Errorf("it says %s", text)
			}
			return
		}
		t.Error("it starts")
	})
}

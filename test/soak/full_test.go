package soak

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"barnabas/test/kit"
)

var fills = flag.Int("fills", 3, "how often the disk is full under load")

// fullRound is how many bytes of records the writers may add in each round, so that
// the disk is filled by the test and not by them.
const fullRound = 2 << 20

// insideNamespace is the variable that tells a test process that it runs in a
// namespace in which it may mount.
const insideNamespace = "BARNABAS_SOAK_NAMESPACE"

// TestFullDisk fills the disk of a node under load with a foreign file and takes
// the file away again. While there is no space, producers get KAFKA_STORAGE_ERROR
// and are not lost, and reads, deletions and what only looks still answer. Afterwards
// all goes on without a restart: no acknowledged record is lost or there twice, no
// committed offset has gone back, and no directory is offline. The same is read after
// a clean stop and a kill, also of a node whose disk is full.
func TestFullDisk(t *testing.T) {
	t.Logf("seed %d", *seed)
	dir := t.TempDir()
	d := &smallDisk{dir: filepath.Join(dir, "data")}
	if !d.mount(t, 64<<20+int64(*fills)*2*fullRound) {
		return
	}
	f := &fullTest{t: t, disk: d, rng: rand.New(rand.NewPCG(*seed, 3)), book: newFullBook(), commits: newCommits()}
	f.node = newSoakNode(t, buildBarnabas(t), dir,
		"log.segment.bytes=1048576", "offsets.topic.num.partitions=3", "offsets.topic.segment.bytes=1048576",
		"log.cleaner.backoff.ms=100", "log.cleaner.min.cleanable.ratio=0.1",
		"log.flush.offset.checkpoint.interval.ms=300", "log.flush.start.offset.checkpoint.interval.ms=300", "replica.high.watermark.checkpoint.interval.ms=300",
		"log.retention.check.interval.ms=500", "log.initial.task.delay.ms=500", "log.segment.delete.delay.ms=500",
		"metadata.log.max.record.bytes.between.snapshots=5000")
	f.setUp()
	f.startLoad()
	for round := range *fills {
		f.round(round)
	}
	f.stopLoad()
	read := f.whole("under load")
	t.Logf("%d times full, %d acknowledged records in %d, %d acknowledged commits, all there", *fills, f.book.len(), len(read), f.commits.total())
	f.restarts(read)
}

// restarts stops the node in four ways; what was read must be there each time.
func (f *fullTest) restarts(read map[place][8]byte) {
	for _, stop := range []struct {
		name string
		full bool
		stop func() error
	}{
		{"a clean stop", false, f.node.Stop}, {"a kill", false, f.node.Kill},
		{"a clean stop on a full disk", true, f.node.Stop}, {"a kill on a full disk", true, f.node.Kill},
	} {
		if stop.full {
			f.fill()
		}
		if err := stop.stop(); err != nil {
			f.t.Fatalf("%s: %v", stop.name, err)
		}
		f.disk.empty(f.t)
		if err := f.node.Start(); err != nil {
			f.t.Fatalf("after %s: %v", stop.name, err)
		}
		waitUntil(f.t, "the logs are open", func() bool { return leads(f.node.Address()) })
		if again := f.whole("after " + stop.name); !maps.Equal(again, read) {
			f.t.Fatalf("after %s other records are there: %d, before %d", stop.name, len(again), len(read))
		}
	}
}

// round fills the disk once.
func (f *fullTest) round(round int) {
	f.t.Helper()
	f.book.allow(fullRound / 2)
	f.progress("before the disk is full")
	victims := []string{fmt.Sprint("soak-victim-", round, "-first"), fmt.Sprint("soak-victim-", round, "-second")}
	f.make(victims...)
	f.book.allow(fullRound / 2)
	f.fill()
	f.answers(victims[0])
	for range 3 {
		// A little space comes and goes: some things get through and others do not.
		f.disk.release(f.t, f.rng.Int64N(256<<10))
		f.probe()
		f.fill()
	}
	f.answers(victims[1])
	f.disk.empty(f.t)
	f.progress("after there is space again")
	f.worksAgain(round)
}

// smallDisk is a file system of its own, and a foreign file that takes its space.
type smallDisk struct{ dir string }

// mount makes the disk. Where that takes a namespace of its own, the test runs again
// in one, and mount is false. A machine that allows neither fails the test.
func (d *smallDisk) mount(t *testing.T, size int64) bool {
	t.Helper()
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	err := unix.Mount("none", d.dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
	if err == nil {
		t.Cleanup(func() {
			if err := unix.Unmount(d.dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		return true
	}
	if os.Getenv(insideNamespace) != "" {
		t.Fatalf("no tmpfs of %d bytes can be mounted, not even in a namespace of its own: %v", size, err)
	}
	runInNamespace(t)
	return false
}

// runInNamespace runs the calling test in a user and mount namespace of its own.
func runInNamespace(t *testing.T) {
	t.Helper()
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	flag.Visit(func(f *flag.Flag) {
		if f.Name != "test.run" && f.Name != "test.v" && f.Name != "test.testlogfile" && f.Name != "test.paniconexit0" {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), insideNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	t.Logf("in a namespace of its own:\n%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatal("the test did not run in its namespace")
	}
}

func (d *smallDisk) foreign() string { return filepath.Join(d.dir, "foreign") }

// fill takes all space that is left.
func (d *smallDisk) fill(t *testing.T) {
	t.Helper()
	file, err := os.OpenFile(d.foreign(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	defer file.Close()
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// release gives some bytes back.
func (d *smallDisk) release(t *testing.T, bytes int64) {
	t.Helper()
	info, err := os.Stat(d.foreign())
	if err == nil {
		err = os.Truncate(d.foreign(), max(0, info.Size()-bytes))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// empty gives all space back.
func (d *smallDisk) empty(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.foreign()); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// fullTest is a node on a small disk, and its load.
type fullTest struct {
	t       *testing.T
	disk    *smallDisk
	node    *kit.Node
	rng     *rand.Rand
	book    *fullBook
	commits *commits
	load    *fullLoad
}

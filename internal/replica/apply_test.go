package replica

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/storage/commitlog"
	"barnabas/internal/storage/logdir"
)

// folders lists the replicas' folders of a directory; random parts become "*".
func (n *node) folders(dir string) string {
	n.t.Helper()
	entries, err := n.disks[dir].ReadDir(dir)
	if err != nil {
		n.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if !e.Dir {
			continue
		}
		name, mark, marked := strings.Cut(e.Name, ".")
		if marked {
			name += ".*" + mark[32:]
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func (n *node) read(path string) string {
	n.t.Helper()
	text, err := vfs.ReadFile(n.disks[filepath.Dir(path)], path)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(text)
}

func (n *node) again(overrides ...string) *node {
	n.t.Helper()
	next := newNode(n.t, n.disks, overrides...)
	next.img = n.img
	return next
}

func TestDeletedReplicasGoAfterTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.create("b", 1, "file.delete.delay.ms=5000")
		n.start()
		n.produce(1, put{"b", 0, batch(1, nil)})
		n.remove("b")
		if got, want := n.folders("/data"), "a-0 b-0.*-delete"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		time.Sleep(4 * time.Second)
		if got, want := n.folders("/data"), "a-0 b-0.*-delete"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		time.Sleep(3 * time.Second)
		if got, want := n.folders("/data"), "a-0"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		n.remove("a")
		n.close()
		// What an earlier run left goes after the default delay.
		n = n.again().start()
		defer n.close()
		time.Sleep(59 * time.Second)
		if got, want := n.folders("/data"), "a-0.*-delete"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		time.Sleep(3 * time.Second)
		if got, want := n.folders("/data"), ""; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestFoldersOfTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("known", 2)
		n.create("removed", 1)
		n.create("moved", 1)
		n.start()
		for _, topic := range []string{"known", "removed", "moved"} {
			n.produce(AcksAll, put{topic, 0, batch(1, nil)})
		}
		n.close()
		disk := n.disks["/data"].(*vfs.Mem)
		for _, folder := range []string{"empty-0", "unknown-0", "known-1.0123456789abcdef0123456789abcdef-future", "other-3.0123456789abcdef0123456789abcdef-stray", "__cluster_metadata-0"} {
			if err := disk.MkdirAll("/data/" + folder); err != nil {
				t.Fatal(err)
			}
		}
		// A copy under another name is left alone; an empty folder without a topic
		// id is used.
		if err := disk.MkdirAll("/data/copy-0"); err != nil {
			t.Fatal(err)
		}
		if err := commitlog.WritePartitionMetadata(disk, "/data/copy-0", topicID("known")); err != nil {
			t.Fatal(err)
		}
		m := n.m
		n.m = nil
		n.remove("removed")
		n.create("empty", 1)
		r := metarec.NewPartitionChangeRecord()
		r.TopicID, r.PartitionID, r.Replicas, r.Isr, r.Leader = topicID("moved"), 0, []kafka.BrokerID{4}, []kafka.BrokerID{4}, 4
		r.Directories = []kafka.UUID{{}}
		n.replay(r)
		n.m = m
		n = n.again().start()
		defer n.close()
		want := "__cluster_metadata-0 copy-0 empty-0 known-0 known-1 known-1.*-future moved-0.*-stray other-3.*-stray removed-0.*-stray unknown-0.*-stray"
		if got := n.folders("/data"); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		n.produce(AcksAll, put{"empty", 0, batch(1, nil)}).must(t, 0)
		n.produce(AcksAll, put{"known", 0, batch(1, nil)}).must(t, 1)
		if got, want := n.produce(1, put{"moved", 0, batch(1, nil)}).code(0), kafka.ErrNotLeaderOrFollower; got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestAnUnknownFolderStopsTheStart(t *testing.T) {
	disks := oneDisk()
	if err := disks["/data"].MkdirAll("/data/photographs"); err != nil {
		t.Fatal(err)
	}
	err := newNode(t, disks).open()
	if err == nil || !strings.Contains(err.Error(), "Found directory /data/photographs") {
		t.Fatal(err)
	}
}

func TestAReplicaInTwoDirectoriesStopsTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks := map[string]vfs.FS{"/data": vfs.NewMem(nil), "/data2": vfs.NewMem(nil)}
		for dir, disk := range disks {
			if err := disk.MkdirAll(dir + "/a-0"); err != nil {
				t.Fatal(err)
			}
			if err := commitlog.WritePartitionMetadata(disk, dir+"/a-0", topicID("a")); err != nil {
				t.Fatal(err)
			}
		}
		n := newNode(t, disks)
		n.create("a", 1)
		n.start()
		defer n.close()
		if n.fatal == nil || !strings.Contains(n.fatal.Error(), "two log directories") {
			t.Fatal(n.fatal)
		}
	})
}

func TestNewReplicasGoWhereFewestAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks := map[string]vfs.FS{"/data": vfs.NewMem(nil), "/data2": vfs.NewMem(nil), "/data3": vfs.NewMem(nil)}
		n := newNode(t, disks, "log.dirs=/data,/data2,/data3", "cordoned.log.dirs=/data3")
		f := metarec.NewFeatureLevelRecord()
		f.Name, f.FeatureLevel = kafka.FeatureMetadataVersion, int16(kafka.MetadataVersionDirectories)
		n.replay(f)
		n.start()
		defer n.close()
		n.create("a", 3)
		if a, b, c := n.folders("/data"), n.folders("/data2"), n.folders("/data3"); a != "a-0 a-2" || b != "a-1" || c != "" {
			t.Fatalf("%q, %q, %q", a, b, c)
		}
		if got, want := fmt.Sprint(n.assigned), "[a-0 0 a-1 1 a-2 0]"; got != want {
			t.Fatalf("told the controller %s, want %s", got, want)
		}
		// What the controller has named goes there, also to a cordoned one.
		records := topicRecords("b", 1)
		records[1].(*metarec.PartitionRecord).Directories = []kafka.UUID{n.dirIDs["/data3"]}
		n.replay(records...)
		if got, want := n.folders("/data3"), "b-0"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		if len(n.assigned) != 3 {
			t.Fatalf("told the controller what it knows: %v", n.assigned)
		}
	})
}

func TestConfigurationTakesEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.create("b", 1)
		n.start()
		defer n.close()
		set := func(topic, key string, value *string) {
			c := metarec.NewConfigRecord()
			c.ResourceType, c.ResourceName, c.Name, c.Value = int8(image.TopicResource), topic, key, value
			n.replay(c)
		}
		text := func(s string) *string { return &s }
		set("a", "max.message.bytes", text("10"))
		if p := n.produce(1, put{"a", 0, batch(1, nil)}, put{"b", 0, batch(1, nil)}); p.code(0) != kafka.ErrMessageTooLarge || p.code(1) != kafka.ErrNone {
			t.Fatalf("%v and %v", p.code(0), p.code(1))
		}
		set("a", "max.message.bytes", nil)
		n.produce(1, put{"a", 0, batch(1, nil)}).must(t, 0)
		set("a", "message.timestamp.type", text("LogAppendTime"))
		if p := n.produce(1, put{"a", 0, batch(1, nil)}); p.Appends[0].Out.LogAppendTime != time.Now().UnixMilli() {
			t.Fatalf("append time %d", p.Appends[0].Out.LogAppendTime)
		}
		set("a", "internal.segment.bytes", text(fmt.Sprint(one)))
		for range 3 {
			n.produce(1, put{"a", 0, batch(1, nil)})
		}
		if got := n.m.Partition("a", 0).role.Load().log.Snapshot().Segments(); got != 4 {
			t.Fatalf("%d segments, want 4", got)
		}
		// flush.messages=1 counts what is not synced yet only when it is.
		set("b", "flush.messages", text("1"))
		synctest.Wait()
		if got := n.m.Partition("b", 0).flushedOffset(); got != 1 {
			t.Fatalf("synced to %d, want 1", got)
		}
		set("nosuch", "max.message.bytes", text("10"))
		// The broker's default changes: topics that set nothing follow.
		c, _ := n.config.With(configDynamic("message.max.bytes", "20"))
		n.m.SetConfig(c)
		if p := n.produce(1, put{"b", 0, batch(1, nil)}); p.code(0) != kafka.ErrMessageTooLarge {
			t.Fatal(p.code(0))
		}
	})
}

func TestATopicNameDoesNotLeadOutOfTheDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("../out", 1)
		n.create("in", 1)
		n.start()
		defer n.close()
		if _, err := n.disks["/data"].Stat("/out-0"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("outside: %v", err)
		}
		if got := n.folders("/data"); got != "in-0" {
			t.Errorf("folders %s", got)
		}
		if got := n.produce(1, put{"../out", 0, batch(1, nil)}).code(0); got != kafka.ErrKafkaStorageError {
			t.Errorf("produce: %v", got)
		}
		n.produce(1, put{"in", 0, batch(1, nil)}).must(t, 0)
	})
}

func TestTopicSettingsWithoutEffectAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.create("b", 1)
		n.start()
		defer n.close()
		for _, topic := range []string{"a", "b"} {
			week := "604800000"
			c := metarec.NewConfigRecord()
			c.ResourceType, c.ResourceName, c.Name, c.Value = int8(image.TopicResource), topic, "local.retention.ms", &week
			n.replay(c)
		}
		if log := n.logs.String(); strings.Count(log, "key=local.retention.ms") != 1 || !strings.Contains(log, "first_topic=a") {
			t.Fatal(log)
		}
	})
}

func TestCleanShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 2)
		n.start()
		if got := n.m.PreviousEpoch(); got != kafka.NoBrokerEpoch {
			t.Fatalf("previous epoch %d", got)
		}
		for range 3 {
			n.produce(AcksAll, put{"a", 1, batch(1, nil)})
		}
		parked := newFetch(fetchOptions{epoch: -1, wait: time.Hour}, from{"a", 0, 0})
		n.m.Fetch(&parked.Fetch)
		n.close()
		parked.wait(t)
		if got, want := parked.show(), "a-0 NOT_LEADER_OR_FOLLOWER"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		if p := newProduce(1, time.Second, put{"a", 0, batch(1, nil)}); true {
			n.m.Produce([]*Produce{&p.Produce})
			if p.code(0) != kafka.ErrNotLeaderOrFollower {
				t.Fatalf("after the end: %v", p.code(0))
			}
		}
		for name, want := range map[string]string{
			".kafka_cleanshutdown":             `{"version":0,"brokerEpoch":5}`,
			"recovery-point-offset-checkpoint": "0\n2\na 0 0\na 1 3\n",
			"replication-offset-checkpoint":    "0\n2\na 0 0\na 1 3\n",
			"log-start-offset-checkpoint":      "0\n0\n",
			"cleaner-offset-checkpoint":        "",
		} {
			if got := n.read("/data/" + name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		// Nothing is recovered after a clean stop, and the mark is gone at once.
		n = n.again().start()
		if got := n.m.PreviousEpoch(); got != 5 {
			t.Fatalf("previous epoch %d, want 5", got)
		}
		if ok, err := vfs.Exists(n.disks["/data"], "/data/"+logdir.CleanShutdownFile); ok || err != nil {
			t.Fatalf("mark is there: %v, %v", ok, err)
		}
		if strings.Contains(n.logs.String(), "recovered") {
			t.Fatal(n.logs.String())
		}
		n.produce(AcksAll, put{"a", 1, batch(1, nil)}).must(t, 3)
		n.close()
	})
}

// TestANodeThatNeverStartedLeavesTheMark: opening and closing without an image
// must not make an unclean directory look clean, nor a clean one unclean.
func TestANodeThatNeverStartedLeavesTheMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, clean := range []bool{true, false} {
			n := newNode(t, oneDisk())
			if err := n.disks["/data"].MkdirAll("/data"); err != nil {
				t.Fatal(err)
			}
			if clean {
				if err := logdir.WriteCleanShutdown(n.disks["/data"], "/data", 3); err != nil {
					t.Fatal(err)
				}
			}
			if err := n.open(); err != nil {
				t.Fatal(err)
			}
			n.close()
			mark, err := logdir.ReadCleanShutdown(n.disks["/data"], "/data")
			if err != nil || mark.Clean != clean || clean && mark.BrokerEpoch != 3 {
				t.Fatalf("clean %v: %+v, %v", clean, mark, err)
			}
		}
	})
}

func TestCheckpointsOfARunningNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1, fmt.Sprintf("internal.segment.bytes=%d", 2*one))
		n.start()
		for range 5 {
			n.produce(AcksAll, put{"a", 0, batch(1, nil)})
		}
		time.Sleep(6 * time.Second)
		if got, want := n.read("/data/replication-offset-checkpoint"), "0\n1\na 0 5\n"; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		time.Sleep(55 * time.Second)
		if got, want := n.read("/data/recovery-point-offset-checkpoint"), "0\n1\na 0 4\n"; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		// After a kill the log is scanned from the recovery point, and readers are
		// kept below the high watermark until there is a leader.
		killed := n.disks["/data"].(*vfs.Mem)
		n.disks = map[string]vfs.FS{"/data": killed.Crash()}
		next := n.again().start()
		if got := next.m.Partition("a", 0).highWatermark(); got != 4 {
			t.Fatalf("high watermark %d, want 4: what was synced", got)
		}
		next.close()
		n.close()
	})
}

// TestPartitionsServeWhileOthersRecover: recovery of one log must not hold the
// others, nor later changes of the metadata.
func TestPartitionsServeWhileOthersRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks := map[string]vfs.FS{"/data": vfs.NewMem(nil), "/data2": vfs.NewMem(nil)}
		n := newNode(t, disks)
		n.create("a", 2)
		n.start()
		n.produce(1, put{"a", 0, batch(1, nil)}, put{"a", 1, batch(1, nil)})
		n.close()
		if err := disks["/data"].Remove("/data/" + logdir.CleanShutdownFile); err != nil {
			t.Fatal(err)
		}
		held := &heldDisk{FS: disks["/data"], hold: make(chan struct{})}
		n.disks["/data"] = held
		n = n.again()
		if err := n.open(); err != nil {
			t.Fatal(err)
		}
		n.m.Apply(image.Diff(image.Empty(), n.img))
		synctest.Wait()
		if p := n.m.Progress(); p.Logs != 2 || p.LogsOpen != 1 {
			t.Fatalf("%+v", p)
		}
		select {
		case <-n.m.Recovered():
			t.Fatal("recovered, though one log is not")
		default:
		}
		p := n.produce(1, put{"a", 0, batch(1, nil)}, put{"a", 1, batch(1, nil)})
		if p.code(0) != kafka.ErrNotLeaderOrFollower || p.code(1) != kafka.ErrNone {
			t.Fatalf("%v and %v", p.code(0), p.code(1))
		}
		n.create("b", 1)
		n.produce(1, put{"b", 0, batch(1, nil)}).must(t, 0)
		n.lead("a", 0, self)
		close(held.hold)
		<-n.m.Recovered()
		n.produce(1, put{"a", 0, batch(1, nil)}).must(t, 1)
		if got := n.m.Partition("a", 0).role.Load().leaderEpoch; got != 1 {
			t.Fatalf("leader epoch %d, want 1", got)
		}
		n.close()
	})
}

// TestARecoveryThatIsCutShort stops a node whose logs are not all open: their
// directory must not look clean, nor forget their recovery points.
func TestARecoveryThatIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.create("b", 1)
		n.start()
		n.produce(1, put{"a", 0, batch(1, nil)}, put{"b", 0, batch(2, nil)})
		n.close()
		disk := n.disks["/data"]
		if err := disk.Remove("/data/" + logdir.CleanShutdownFile); err != nil {
			t.Fatal(err)
		}
		held := &heldDisk{FS: disk, hold: make(chan struct{})}
		n.disks["/data"] = held
		n = n.again("num.recovery.threads.per.data.dir=1")
		if err := n.open(); err != nil {
			t.Fatal(err)
		}
		n.m.Apply(image.Diff(image.Empty(), n.img))
		n.create("c", 1)
		n.produce(1, put{"c", 0, batch(3, nil)})
		time.Sleep(2 * time.Minute)
		for name, want := range map[string]string{
			"recovery-point-offset-checkpoint": "0\n3\na 0 1\nb 0 2\nc 0 0\n",
			"replication-offset-checkpoint":    "0\n3\na 0 1\nb 0 2\nc 0 3\n",
		} {
			if got := n.read("/data/" + name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		ended := make(chan struct{})
		go func() {
			n.close()
			close(ended)
		}()
		synctest.Wait()
		close(held.hold)
		<-ended
		if p := n.m.Progress(); p.LogsOpen != 1 {
			t.Fatalf("%+v", p)
		}
		if ok, err := vfs.Exists(disk, "/data/"+logdir.CleanShutdownFile); ok || err != nil {
			t.Fatalf("a mark of a clean shutdown: %v, %v", ok, err)
		}
		if got, want := n.read("/data/recovery-point-offset-checkpoint"), "0\n3\na 0 1\nb 0 2\nc 0 3\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestTheHighWatermarkComesBack: a leader that waits for a follower begins where
// the checkpoint says, not at its own end.
func TestTheHighWatermarkComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		n.produce(AcksAll, put{"a", 0, batch(3, nil)})
		n.twoReplicas("a", 2)
		n.produce(AcksLeader, put{"a", 0, batch(2, nil)})
		n.close()
		n = n.again().start()
		defer n.close()
		n.expect("a-0 hw=3 [0..2]", fetchOptions{epoch: -1}, from{"a", 0, 0})
		n.expect("a-0 hw=3", fetchOptions{epoch: -1}, from{"a", 0, 3})
	})
}

// TestAReplicaIsDroppedWhileItRecovers removes a topic whose log is being opened.
func TestAReplicaIsDroppedWhileItRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		n.produce(1, put{"a", 0, batch(1, nil)})
		n.close()
		held := &heldDisk{FS: n.disks["/data"], hold: make(chan struct{})}
		n.disks["/data"] = held
		n = n.again()
		if err := n.open(); err != nil {
			t.Fatal(err)
		}
		n.m.Apply(image.Diff(image.Empty(), n.img))
		synctest.Wait()
		n.remove("a")
		close(held.hold)
		<-n.m.Recovered()
		if got, want := n.folders("/data"), "a-0.*-delete"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		n.close()
	})
}

// heldDisk does not let a log's folder be read until it is told.
type heldDisk struct {
	vfs.FS
	hold chan struct{}
}

func (d *heldDisk) ReadDir(path string) ([]vfs.Entry, error) {
	if strings.HasSuffix(path, "a-0") {
		<-d.hold
	}
	return d.FS.ReadDir(path)
}

// TestRandomLife lets clients work while topics come and go and leaders change.
func TestRandomLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		for i := range 3 {
			n.create(fmt.Sprintf("t%d", i), 2)
		}
		n.start()
		stop := time.Now().Add(3 * time.Second)
		var clients sync.WaitGroup
		for i := range 6 {
			clients.Go(func() {
				for time.Now().Before(stop) {
					p := newProduce([]int16{AcksAll, AcksLeader}[i%2], time.Second, put{fmt.Sprintf("t%d", i%4), int32(i % 2), batch(1, nil)}, put{"t0", 0, batch(1, nil)})
					n.m.Produce([]*Produce{&p.Produce})
					p.wait(t)
					time.Sleep(time.Millisecond)
				}
			})
			clients.Go(func() {
				id, epoch := int32(0), int32(0)
				for at := int64(0); time.Now().Before(stop); epoch++ {
					var parts []from
					if epoch == 0 {
						parts = []from{{"t0", 0, 0}, {"t1", 1, at}, {fmt.Sprintf("t%d", i%4), 0, 0}}
					}
					f := newFetch(fetchOptions{id: id, epoch: epoch, wait: 30 * time.Millisecond, minBytes: 300}, parts...)
					n.m.Fetch(&f.Fetch)
					f.wait(t)
					f.answer.Release()
					time.Sleep(time.Millisecond)
					if id = f.answer.Response.SessionID; f.answer.Response.ErrorCode != 0 || epoch > 10 {
						id, epoch = 0, -1
					}
				}
			})
		}
		for i := 0; time.Now().Before(stop); i++ {
			time.Sleep(20 * time.Millisecond)
			switch name := fmt.Sprintf("t%d", i%4); {
			case n.img.Topics.ByName(name) == nil:
				n.create(name, 2)
			case i%3 == 0:
				n.remove(name)
			default:
				n.lead(name, int32(i%2), []kafka.BrokerID{self, 9, self}[i%3])
			}
		}
		clients.Wait()
		n.close()
		if n.fatal != nil || strings.Contains(n.logs.String(), "ERROR") {
			t.Fatal(n.fatal, n.logs.String())
		}
		if s := n.m.Stats().Sessions; s.Sessions != 0 {
			t.Fatalf("%+v after the end", s)
		}
	})
}

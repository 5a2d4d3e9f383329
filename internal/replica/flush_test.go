package replica

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// slowDisk is a file system whose syncs of segments take time.
type slowDisk struct {
	vfs.FS
	takes   time.Duration
	syncs   atomic.Int64
	running atomic.Int64
	most    atomic.Int64
}

type slowFile struct {
	vfs.File
	disk *slowDisk
}

func (d *slowDisk) Open(path string, mode vfs.Mode) (vfs.File, error) {
	f, err := d.FS.Open(path, mode)
	if err == nil && filepath.Ext(path) == ".log" {
		f = &slowFile{f, d}
	}
	return f, err
}

func (f *slowFile) slow(sync func() error) error {
	d := f.disk
	d.syncs.Add(1)
	for n := d.running.Add(1); ; {
		if most := d.most.Load(); n <= most || d.most.CompareAndSwap(most, n) {
			break
		}
	}
	time.Sleep(d.takes)
	defer d.running.Add(-1)
	return sync()
}

func (f *slowFile) Sync() error     { return f.slow(f.File.Sync) }
func (f *slowFile) SyncData() error { return f.slow(f.File.SyncData) }

func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &slowDisk{FS: vfs.NewMem(nil), takes: 10 * time.Millisecond}
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1, "flush.messages=1")
		n.start()
		defer n.close()
		disk.syncs.Store(0)
		for _, acks := range []int16{AcksLeader, AcksAll} {
			start := time.Now()
			p := newProduce(acks, time.Minute, put{"a", 0, batch(1, nil)})
			n.m.Produce([]*Produce{&p.Produce})
			if p.placed.Load() != 1 {
				t.Fatalf("acks=%d: placed %d times before the sync", acks, p.placed.Load())
			}
			if f := n.fetch(fetchOptions{epoch: -1}, from{"a", 0, n.end64("a") - 1}); len(f.show()) > len("a-0 hw=0") {
				t.Fatalf("acks=%d: readable before the sync", acks)
			}
			p.wait(t)
			if took := time.Since(start); took != disk.takes {
				t.Fatalf("acks=%d: answered after %v", acks, took)
			}
		}
		// acks=0 waits for nothing, but is not visible before it is synced.
		n.produce(AcksNone, put{"a", 0, batch(1, nil)}).must(t, 2)
		n.expect("a-0 hw=2", fetchOptions{epoch: -1}, from{"a", 0, 2})
		n.expect("a-0 hw=3 [2..2]", fetchOptions{epoch: -1, wait: time.Minute}, from{"a", 0, 2})

		// 256 producers share the syncs, one of which is under way at a time.
		disk.syncs.Store(0)
		disk.most.Store(0)
		start := time.Now()
		var producers sync.WaitGroup
		for i := range 256 {
			producers.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(i)))
				time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
				acks := []int16{AcksLeader, AcksAll}[rnd.IntN(2)]
				for range 4 {
					p := newProduce(acks, time.Minute, put{"a", 0, batch(1, nil)})
					n.m.Produce([]*Produce{&p.Produce})
					p.wait(t)
					if p.code(0) != kafka.ErrNone {
						t.Errorf("producer %d: %v", i, p.code(0))
					}
				}
			})
		}
		producers.Wait()
		if syncs, took := disk.syncs.Load(), time.Since(start); syncs > 14 || took > 140*time.Millisecond {
			t.Errorf("%d syncs in %v for 1024 appends", syncs, took)
		}
		if disk.most.Load() != 1 {
			t.Errorf("%d syncs of one log at once", disk.most.Load())
		}
		if got, want := n.listOffset("a", kafka.TimestampLatest), "NONE 1027 epoch 0"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func (n *node) end64(topic string) int64 {
	return int64(n.m.Partition(topic, 0).role.Load().log.Snapshot().LogEnd())
}

// TestFlushEveryFewMessages: the append that makes the unsynced records as many
// as flush.messages says is answered when they are synced; others are not held.
func TestFlushEveryFewMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &slowDisk{FS: vfs.NewMem(nil), takes: 10 * time.Millisecond}
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1, "flush.messages=5")
		n.start()
		defer n.close()
		for i, wait := range []time.Duration{0, 0, disk.takes, 0, 0, disk.takes} {
			start := time.Now()
			n.produce([]int16{AcksAll, AcksLeader}[i%2], put{"a", 0, batch(2, nil)})
			if took := time.Since(start); took != wait {
				t.Errorf("append %d took %v, want %v", i, took, wait)
			}
		}
	})
}

func TestFlushByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &slowDisk{FS: vfs.NewMem(nil)}
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1, "flush.ms=5000")
		n.create("b", 1)
		n.start()
		defer n.close()
		disk.syncs.Store(0)
		n.produce(1, put{"a", 0, batch(1, nil)}, put{"b", 0, batch(1, nil)})
		time.Sleep(4 * time.Second)
		if disk.syncs.Load() != 0 {
			t.Fatal("synced too early")
		}
		time.Sleep(3 * time.Second)
		if n := disk.syncs.Load(); n != 1 {
			t.Fatalf("%d syncs, want 1", n)
		}
		if a, b := n.m.Partition("a", 0).flushedOffset(), n.m.Partition("b", 0).flushedOffset(); a != 1 || b != 0 {
			t.Fatalf("synced to %d and %d", a, b)
		}
	})
}

func TestProduceTimesOutWhileTheDiskSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &slowDisk{FS: vfs.NewMem(nil), takes: time.Minute}
		n := newNode(t, map[string]vfs.FS{"/data": disk})
		n.create("a", 1, "flush.messages=1")
		n.start()
		defer n.close()
		p := newProduce(AcksLeader, time.Second, put{"a", 0, batch(1, nil)})
		n.m.Produce([]*Produce{&p.Produce})
		p.wait(t)
		if p.code(0) != kafka.ErrRequestTimedOut {
			t.Fatal(p.code(0))
		}
	})
}

// TestARolledSegmentIsSynced: after a roll the sealed segment is synced in the
// background, as Apache does whatever flush.messages says.
func TestARolledSegmentIsSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1, fmt.Sprintf("internal.segment.bytes=%d", 2*one))
		n.start()
		defer n.close()
		for range 5 {
			n.produce(1, put{"a", 0, batch(1, nil)})
		}
		synctest.Wait()
		if got := n.m.Partition("a", 0).flushedOffset(); got != 4 {
			t.Fatalf("synced to %d, want 4", got)
		}
	})
}

func TestTheLastDirectoryEndsTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks := map[string]vfs.FS{"/data": vfs.NewMem(nil), "/data2": vfs.NewMem(nil)}
		n := newNode(t, disks)
		n.create("a", 2)
		n.start()
		defer n.close()
		where := [2]string{n.m.Partition("a", 0).role.Load().dir.Path(), n.m.Partition("a", 1).role.Load().dir.Path()}
		if where[0] == where[1] {
			t.Fatal("both replicas in one directory")
		}
		n.produce(AcksAll, put{"a", 0, batch(1, nil)}, put{"a", 1, batch(1, nil)})
		break0 := func(i int) {
			disks[where[i]].(*vfs.Mem).Inject(func(op vfs.Op) vfs.Fault {
				if op.Kind == vfs.OpWrite {
					return vfs.Fault{Err: syscall.EIO}
				}
				return vfs.Fault{}
			})
		}
		parked := newFetch(fetchOptions{epoch: -1, wait: time.Hour}, from{"a", 0, 1})
		n.m.Fetch(&parked.Fetch)
		break0(0)
		p := n.produce(AcksAll, put{"a", 0, batch(1, nil)}, put{"a", 1, batch(1, nil)})
		if p.code(0) != kafka.ErrKafkaStorageError || p.code(1) != kafka.ErrNone {
			t.Fatalf("%v and %v", p.code(0), p.code(1))
		}
		parked.wait(t)
		if got, want := parked.show(), "a-0 KAFKA_STORAGE_ERROR"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		n.expect("a-0 KAFKA_STORAGE_ERROR; a-1 hw=2 [0..0 1..1]", fetchOptions{epoch: -1}, from{"a", 0, 0}, from{"a", 1, 0})
		if got, want := n.listOffset("a", -1), "KAFKA_STORAGE_ERROR -1 epoch -1"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		if len(n.failed) != 1 || n.failed[0] != n.dirIDs[where[0]] || n.fatal != nil {
			t.Fatalf("failed %v, fatal %v", n.failed, n.fatal)
		}
		n.m.Partition("a", 0).role.Load().dir.fail("fail again", kafka.TopicPartition{}, syscall.EIO)
		if len(n.failed) != 1 {
			t.Fatalf("told %d times", len(n.failed))
		}
		if s := n.m.Stats(); s.Offline != 1 || s.Leaders != 1 {
			t.Fatalf("%+v", s)
		}
		// A partition that is not new might lie in the directory that is gone; a
		// new one goes to the other.
		n.create("b", 1)
		n.produce(AcksAll, put{"b", 0, batch(1, nil)}).must(t, 0)
		break0(1)
		if p := n.produce(AcksAll, put{"a", 1, batch(1, nil)}); p.code(0) != kafka.ErrKafkaStorageError {
			t.Fatal(p.code(0))
		}
		if n.fatal == nil || !strings.Contains(n.fatal.Error(), "input/output error") {
			t.Fatalf("fatal: %v", n.fatal)
		}
	})
}

// TestAFailedSyncIsNeverRepeated: what a failed sync dropped may not be written
// by the next one, which would say that all is well.
func TestAFailedSyncIsNeverRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks := oneDisk()
		n := newNode(t, disks)
		n.create("a", 1, "flush.messages=1")
		n.start()
		defer n.close()
		fails := 0
		disks["/data"].(*vfs.Mem).Inject(func(op vfs.Op) vfs.Fault {
			if op.Kind == vfs.OpSync {
				fails++
				return vfs.Fault{Err: syscall.EIO}
			}
			return vfs.Fault{}
		})
		for range 3 {
			if p := n.produce(AcksLeader, put{"a", 0, batch(1, nil)}); p.code(0) != kafka.ErrKafkaStorageError {
				t.Fatal(p.code(0))
			}
		}
		if fails != 1 {
			t.Fatalf("%d syncs, want 1", fails)
		}
	})
}

// TestAcknowledgedSurvivesAPowerCut cuts the power at random moments while
// producers write with flush.messages=1. Whatever was acknowledged, and whatever
// a consumer can have seen, is there afterwards, in its place. It runs in real
// time: a roll syncs under the append lock, which virtual time cannot pass.
func TestAcknowledgedSurvivesAPowerCut(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			cutThePower(t, seed)
		})
	}
}

func cutThePower(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	mem := vfs.NewMem(nil)
	n := newNode(t, map[string]vfs.FS{"/data": &slowDisk{FS: mem, takes: time.Millisecond}})
	n.create("a", 2, "flush.messages=1", fmt.Sprintf("internal.segment.bytes=%d", 5*one))
	n.start()
	var mu sync.Mutex
	acked := [2]map[int64]string{{}, {}} // guarded by mu
	var producers sync.WaitGroup
	stop := time.Now().Add(30 * time.Millisecond)
	for i := range 8 {
		producers.Go(func() {
			pause := rand.New(rand.NewPCG(seed, uint64(i)))
			for s := 0; time.Now().Before(stop); s++ {
				time.Sleep(time.Duration(pause.IntN(2_000)) * time.Microsecond)
				value := fmt.Sprintf("%d/%d", i, s)
				p := newProduce([]int16{AcksLeader, AcksAll}[s%2], time.Minute, put{"a", int32(i % 2), oneRecord(t, value)})
				n.m.Produce([]*Produce{&p.Produce})
				p.wait(t)
				mu.Lock()
				acked[i%2][p.Appends[0].Out.BaseOffset] = value
				mu.Unlock()
			}
		})
	}
	time.Sleep(time.Duration(rnd.IntN(30_000)) * time.Microsecond)
	mu.Lock()
	kept := [2]map[int64]string{maps.Clone(acked[0]), maps.Clone(acked[1])}
	visible := [2]kafka.Offset{n.m.Partition("a", 0).highWatermark(), n.m.Partition("a", 1).highWatermark()}
	after := mem.CrashTorn(seed)
	mu.Unlock()
	producers.Wait()
	n.close()

	again := newNode(t, map[string]vfs.FS{"/data": after})
	again.img = n.img
	again.start()
	defer again.close()
	for i, want := range kept {
		part := again.m.Partition("a", int32(i))
		// What recovery found is synced before it counts.
		eventually(t, func() bool { return part.highWatermark() == part.role.Load().log.Snapshot().LogEnd() })
		got := again.values("a", int32(i))
		if kafka.Offset(len(got)) < visible[i] {
			t.Errorf("partition %d: consumers saw %d records, %d are left", i, visible[i], len(got))
		}
		for o, v := range want {
			if o >= int64(len(got)) || got[o] != v {
				t.Errorf("partition %d: offset %d of %d: want %s", i, o, len(got), v)
			}
		}
	}
	again.produce(AcksAll, put{"a", 0, batch(1, nil)})
}

// oneRecord is a batch of one record.
func oneRecord(t *testing.T, value string) []byte {
	b := record.NewBuilder(record.BatchOptions{})
	b.Append(record.Record{Value: []byte(value)})
	raw, err := b.Build()
	if err != nil {
		t.Error(err)
	}
	return raw
}

// eventually waits for a condition.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatal("still not so after 30 s")
		}
		runtime.Gosched()
	}
}

// values reads all values of a partition.
func (n *node) values(topic string, partition int32) (out []string) {
	n.t.Helper()
	for {
		f := n.fetch(fetchOptions{epoch: -1}, from{topic, partition, int64(len(out))})
		s := f.answer.Records[0]
		if s.Length == 0 {
			return out
		}
		raw := make([]byte, s.Length)
		if _, err := s.File.ReadAt(raw, s.Position); err != nil {
			n.t.Fatal(err)
		}
		f.answer.Release()
		for len(raw) > 0 {
			b, rest, err := record.Next(raw)
			if err != nil {
				n.t.Fatal(err)
			}
			var it record.Iterator
			it.Reset(b)
			for it.Next() {
				out = append(out, string(it.Record().Value))
			}
			if it.Err() != nil {
				n.t.Fatal(it.Err())
			}
			raw = rest
		}
	}
}

package replica

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

func TestStatsCountRecordsAndBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 2)
		n.start()
		defer n.close()
		one, two := batch(3, nil), batch(2, nil)
		size := int64(len(one) + len(two))
		n.produce(AcksAll, put{"a", 0, one}, put{"a", 1, two}, put{"nowhere", 0, batch(7, nil)})
		n.fetch(fetchOptions{epoch: -1}, from{"a", 0, 0}).answer.Release()
		n.fetch(fetchOptions{epoch: -1}, from{"a", 0, 3}).answer.Release()
		s := n.m.Stats()
		if s.MessagesIn != 5 || s.BytesIn != size || s.BytesOut != int64(len(one)) {
			t.Errorf("%d messages in, %d bytes in, %d out; want 5, %d, %d", s.MessagesIn, s.BytesIn, s.BytesOut, size, len(one))
		}
		want := DirStats{Path: "/data", Online: true, Replicas: 2, Segments: 2, Bytes: size}
		if len(s.Dirs) != 1 || s.Dirs[0] != want {
			t.Errorf("directories %+v, want %+v", s.Dirs, want)
		}
		if s.Partitions != 2 || s.Leaders != 2 || s.Offline != 0 || s.UnderReplicated != 0 || s.BelowMinISR != 0 || s.AtMinISR != 2 {
			t.Errorf("%+v", s)
		}
	})
}

func TestStatsCountDuplicatesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		n.produce(AcksAll, put{"a", 0, batch(3, &record.Producer{ID: 4})})
		n.produce(AcksAll, put{"a", 0, batch(3, &record.Producer{ID: 4})}).must(t, 0)
		if s := n.m.Stats(); s.MessagesIn != 3 {
			t.Errorf("%d messages in, want 3", s.MessagesIn)
		}
	})
}

func TestStatsCountWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.twoReplicas("a", 2)
		n.start()
		defer n.close()
		waits := func(produces, fetches, produceExpired, fetchExpired int64) {
			t.Helper()
			synctest.Wait()
			s := n.m.Stats()
			if s.ProducesWaiting != produces || s.FetchesWaiting != fetches || s.ProduceExpired != produceExpired || s.FetchExpired != fetchExpired {
				t.Errorf("waiting %d and %d, expired %d and %d; want %d, %d, %d, %d", s.ProducesWaiting, s.FetchesWaiting,
					s.ProduceExpired, s.FetchExpired, produces, fetches, produceExpired, fetchExpired)
			}
		}
		late := newProduce(AcksAll, time.Second, put{"a", 0, batch(1, nil)})
		waiting := newProduce(AcksAll, time.Hour, put{"a", 0, batch(1, nil)})
		n.m.Produce([]*Produce{&late.Produce, &waiting.Produce})
		short := newFetch(fetchOptions{epoch: -1, wait: time.Second}, from{"a", 0, 0})
		long := newFetch(fetchOptions{epoch: -1, wait: time.Hour}, from{"a", 0, 0})
		n.m.Fetch(&short.Fetch)
		n.m.Fetch(&long.Fetch)
		waits(2, 2, 0, 0)
		late.wait(t)
		short.wait(t)
		waits(1, 1, 1, 1)
		if s := n.m.Stats(); s.UnderReplicated != 0 || s.AtMinISR != 0 {
			t.Errorf("%+v", s)
		}
		r := metarec.NewPartitionChangeRecord()
		r.PartitionID = 0
		r.TopicID, r.Isr = topicID("a"), []kafka.BrokerID{self}
		n.replay(r)
		waiting.wait(t)
		long.wait(t)
		long.answer.Release()
		waits(0, 0, 1, 1)
		if s := n.m.Stats(); s.UnderReplicated != 1 || s.AtMinISR != 1 {
			t.Errorf("one of two in sync: %+v", s)
		}
	})
}

func TestSyncsAreTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, map[string]vfs.FS{"/data": &slowDisk{FS: vfs.NewMem(nil), takes: 3 * time.Second}})
		var count, sum atomic.Int64
		n.flushed = func(took time.Duration) { count.Add(1); sum.Add(int64(took)) }
		n.create("a", 1, "flush.messages=1")
		n.start()
		defer n.close()
		n.produce(AcksAll, put{"a", 0, batch(1, nil)}).must(t, 0)
		if count.Load() != 1 || time.Duration(sum.Load()) != 3*time.Second {
			t.Errorf("%d syncs in %v", count.Load(), time.Duration(sum.Load()))
		}
	})
}

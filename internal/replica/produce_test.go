package replica

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

func TestAppendsAreAnsweredWithOffsets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 2)
		n.start()
		defer n.close()
		for i, acks := range []int16{AcksAll, AcksLeader, AcksNone} {
			p := n.produce(acks, put{"a", 0, batch(3, nil)}, put{"a", 1, batch(1, nil)})
			p.must(t, int64(3*i))
			if out := p.Appends[1].Out; out.ErrorCode != 0 || out.BaseOffset != int64(i) || out.LogAppendTime != -1 || out.LogStartOffset != 0 {
				t.Fatalf("acks=%d: %+v", acks, out)
			}
			if p.placed.Load() != 0 {
				t.Fatalf("acks=%d: placed, though nothing had to wait", acks)
			}
		}
	})
}

func TestARunIsOneWritePerPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks := oneDisk()
		n := newNode(t, disks)
		n.create("a", 2)
		n.start()
		defer n.close()
		n.produce(AcksAll, put{"a", 0, batch(1, nil)}, put{"a", 1, batch(1, nil)})
		before := disks["/data"].(*vfs.Mem).Count(vfs.OpWrite)
		var run []*Produce
		var all []*produced
		for range 5 {
			p := newProduce(AcksAll, time.Second, put{"a", 1, batch(2, nil)}, put{"a", 0, batch(1, nil)})
			run, all = append(run, &p.Produce), append(all, p)
		}
		n.m.Produce(run)
		for i, p := range all {
			p.wait(t)
			p.must(t, int64(1+2*i))
			if got := p.Appends[1].Out.BaseOffset; got != int64(1+i) {
				t.Errorf("request %d: offset %d in partition 0, want %d", i, got, 1+i)
			}
		}
		if writes := disks["/data"].(*vfs.Mem).Count(vfs.OpWrite) - before; writes != 2 {
			t.Fatalf("%d writes for a run of 5 requests to 2 partitions, want 2", writes)
		}
	})
}

func TestRefusalsComeInApachesOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.create("elsewhere", 1)
		n.lead("elsewhere", 0, 9)
		n.create("strict", 1, "min.insync.replicas=2")
		n.twoReplicas("strict", 1)
		n.create("compacted", 1, "cleanup.policy=compact")
		n.create("small", 1, "max.message.bytes=100")
		n.start()
		defer n.close()
		corrupt := batch(1, nil)
		corrupt[len(corrupt)-1]++
		tx := record.NewBuilder(record.BatchOptions{Producer: &record.Producer{ID: 4}, Transactional: true})
		tx.Append(record.Record{Value: []byte("x")})
		open, err := tx.Build()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name     string
			acks     int16
			put      put
			code     kafka.ErrorCode
			logStart int64
			leader   int32
		}{
			{"unknown topic before the form", 1, put{"nosuch", 0, nil}, kafka.ErrUnknownTopicOrPartition, -1, -1},
			{"unknown partition", 1, put{"a", 7, batch(1, nil)}, kafka.ErrUnknownTopicOrPartition, -1, -1},
			{"negative partition", 1, put{"a", -7, batch(1, nil)}, kafka.ErrUnknownTopicOrPartition, -1, -1},
			{"null records before acks", 5, put{"a", 0, nil}, kafka.ErrInvalidRecord, -1, -1},
			{"two batches before acks", 5, put{"a", 0, append(batch(1, nil), batch(1, nil)...)}, kafka.ErrInvalidRecord, -1, -1},
			{"acks before the leader", 5, put{"elsewhere", 0, batch(1, nil)}, kafka.ErrInvalidRequiredAcks, -1, -1},
			{"the leader before the records", 1, put{"elsewhere", 0, corrupt}, kafka.ErrNotLeaderOrFollower, -1, 9},
			{"min.insync.replicas before the records", AcksAll, put{"strict", 0, corrupt}, kafka.ErrNotEnoughReplicas, 0, -1},
			{"min.insync.replicas is for acks=all", AcksLeader, put{"strict", 0, batch(1, nil)}, kafka.ErrNone, 0, -1},
			{"checksum", 1, put{"a", 0, corrupt}, kafka.ErrCorruptMessage, -1, -1},
			{"too large", 1, put{"small", 0, batch(20, nil)}, kafka.ErrMessageTooLarge, -1, -1},
			{"no key", 1, put{"compacted", 0, batch(2, nil)}, kafka.ErrInvalidRecord, 0, -1},
			{"transaction that nobody has verified", 1, put{"a", 0, open}, kafka.ErrInvalidTxnState, -1, -1},
			{"sequence", 1, put{"a", 0, batch(1, &record.Producer{ID: 5, Epoch: 0, BaseSequence: 3})}, kafka.ErrNone, 0, -1},
			{"gap in the sequence", 1, put{"a", 0, batch(1, &record.Producer{ID: 5, Epoch: 0, BaseSequence: 8})}, kafka.ErrOutOfOrderSequenceNumber, 0, -1},
		} {
			p := n.produce(c.acks, c.put)
			out := p.Appends[0].Out
			if p.code(0) != c.code || out.LogStartOffset != c.logStart || out.CurrentLeader.LeaderID != c.leader {
				t.Errorf("%s: %v, log start %d, leader %d; want %v, %d, %d", c.name, p.code(0), out.LogStartOffset, out.CurrentLeader.LeaderID, c.code, c.logStart, c.leader)
			}
			if c.code != kafka.ErrNone && out.BaseOffset != -1 {
				t.Errorf("%s: base offset %d", c.name, out.BaseOffset)
			}
			if c.name == "no key" && (len(out.ErrorRecords) != 2 || out.ErrorMessage == nil) {
				t.Errorf("%s: record errors %v", c.name, out.ErrorRecords)
			}
		}
	})
}

// twoReplicas gives a topic's first partition a second replica, which never
// fetches, and an ISR of the first so many.
func (n *node) twoReplicas(topic string, inSync int) {
	n.t.Helper()
	r := metarec.NewPartitionChangeRecord()
	r.TopicID, r.PartitionID = topicID(topic), 0
	r.Replicas, r.Directories = []kafka.BrokerID{self, 2}, []kafka.UUID{{}, {}}
	r.Isr = r.Replicas[:inSync]
	n.replay(r)
}

func TestDuplicateIsAnsweredLikeTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		for i := range 3 {
			n.produce(AcksAll, put{"a", 0, batch(2, &record.Producer{ID: 7, BaseSequence: int32(2 * i)})}).must(t, int64(2*i))
		}
		first := time.Now().UnixMilli()
		time.Sleep(time.Second)
		again := n.produce(AcksAll, put{"a", 0, batch(2, &record.Producer{ID: 7, BaseSequence: 2})})
		again.must(t, 2)
		if got := again.Appends[0].Out.LogAppendTime; got != first {
			t.Fatalf("append time %d, want that of the batch in the log, %d", got, first)
		}
		if got, want := n.listOffset("a", kafka.TimestampLatest), "NONE 6 epoch 0"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestAcksAllWaitsForTheOtherReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.twoReplicas("a", 2)
		n.start()
		defer n.close()
		start := time.Now()
		late := newProduce(AcksAll, 300*time.Millisecond, put{"a", 0, batch(2, nil)})
		n.m.Produce([]*Produce{&late.Produce})
		if late.placed.Load() != 1 || late.answered.Load() != 0 {
			t.Fatalf("placed %d times, answered %d times; want 1 and 0", late.placed.Load(), late.answered.Load())
		}
		late.wait(t)
		if late.code(0) != kafka.ErrRequestTimedOut || late.Appends[0].Out.BaseOffset != 0 || time.Since(start) < 300*time.Millisecond {
			t.Fatalf("%v at %d after %v", late.code(0), late.Appends[0].Out.BaseOffset, time.Since(start))
		}
		now := newProduce(AcksAll, 0, put{"a", 0, batch(2, nil)})
		n.m.Produce([]*Produce{&now.Produce})
		now.wait(t)
		if now.code(0) != kafka.ErrRequestTimedOut {
			t.Fatalf("no time to wait: %v", now.code(0))
		}
		if got, want := n.fetch(fetchOptions{epoch: -1}, from{"a", 0, 0}).show(), "a-0 hw=0"; got != want {
			t.Fatalf("not committed, but got %s", got)
		}
		// The other replica leaves the ISR: what waited is committed.
		waiting := newProduce(AcksAll, time.Minute, put{"a", 0, batch(1, nil)})
		n.m.Produce([]*Produce{&waiting.Produce})
		r := metarec.NewPartitionChangeRecord()
		r.PartitionID = 0
		r.TopicID, r.Isr = topicID("a"), []kafka.BrokerID{self}
		n.replay(r)
		waiting.wait(t)
		waiting.must(t, 4)
		if got, want := n.fetch(fetchOptions{epoch: -1}, from{"a", 0, 0}).show(), "a-0 hw=5 [0..1 2..3 4..4]"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestAChangeOfLeaderEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, how := range []string{"leader", "epoch", "delete"} {
			n := newNode(t, oneDisk())
			n.create("a", 2)
			n.twoReplicas("a", 2)
			n.start()
			p := newProduce(AcksAll, time.Hour, put{"a", 0, batch(1, nil)}, put{"a", 1, batch(1, nil)})
			n.m.Produce([]*Produce{&p.Produce})
			synctest.Wait()
			if p.answered.Load() != 0 {
				t.Fatalf("%s: answered too early", how)
			}
			switch how {
			case "leader":
				n.lead("a", 0, 2)
			case "epoch":
				n.lead("a", 0, self)
			case "delete":
				n.remove("a")
			}
			p.wait(t)
			if p.code(0) != kafka.ErrNotLeaderOrFollower || p.code(1) != kafka.ErrNone {
				t.Fatalf("%s: %v and %v", how, p.code(0), p.code(1))
			}
			n.close()
		}
	})
}

func TestTooFewReplicasAfterTheAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.twoReplicas("a", 2)
		n.start()
		defer n.close()
		p := newProduce(AcksAll, time.Minute, put{"a", 0, batch(1, nil)})
		n.m.Produce([]*Produce{&p.Produce})
		// The high watermark moves, and only then min.insync.replicas goes up.
		part := n.m.Partition("a", 0)
		part.belowMin.Store(true)
		part.highWaits.Reached(1).Complete(kafka.ErrNone)
		p.wait(t)
		if p.code(0) != kafka.ErrNotEnoughReplicasAfterAppend {
			t.Fatal(p.code(0))
		}
	})
}

func TestRecoveringLeaderSaysThatItIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		r := metarec.NewPartitionChangeRecord()
		r.PartitionID = 0
		r.TopicID, r.Leader, r.LeaderRecoveryState = topicID("a"), self, kafka.Recovering
		n.replay(r)
		n.answer = func(q *kmsgAlter) (*kmsgAltered, error) {
			if len(n.asked()) < 3 {
				return nil, fmt.Errorf("controller is away")
			}
			return alteredAs(q, kafka.ErrNone), nil
		}
		n.start()
		defer n.close()
		time.Sleep(time.Second)
		asked := n.asked()
		if len(asked) != 3 {
			t.Fatalf("%d requests, want 3: two that fail and one that does not", len(asked))
		}
		q := asked[2]
		p := q.Topics[0].Partitions[0]
		if q.BrokerEpoch != 77 || p.LeaderEpoch != 1 || p.PartitionEpoch != 0 || p.LeaderRecoveryState != int8(kafka.Recovered) ||
			len(p.NewEpochISR) != 1 || p.NewEpochISR[0].BrokerID != 1 || p.NewEpochISR[0].BrokerEpoch != 77 {
			t.Fatalf("%+v", q)
		}
		n.produce(AcksAll, put{"a", 0, batch(1, nil)}).must(t, 0)
	})
}

// TestTimeIsUpBetweenTwoWaits: the time of a request ends after its append was
// taken out of one queue and before it is in the next.
func TestTimeIsUpBetweenTwoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.twoReplicas("a", 2)
		n.start()
		defer n.close()
		p := newProduce(AcksAll, time.Minute, put{"a", 0, batch(1, nil)})
		n.m.Produce([]*Produce{&p.Produce})
		part := n.m.Partition("a", 0)
		w := &waitingProduce{env: n.m.env, request: &p.Produce}
		w.left.Store(1)
		w.expired.Store(true)
		a := waitingAppend{Append: &p.Appends[0], owner: w, partition: part, epoch: 0, end: 1}
		a.queue(false)
		p.wait(t)
		if p.code(0) != kafka.ErrRequestTimedOut {
			t.Fatal(p.code(0))
		}
		part.highWaits.Drain() // the request's first wait
	})
}

package commitlog

import (
	"bytes"
	"syscall"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

func TestAppendStampsOffsetsAndEpoch(t *testing.T) {
	fx := newFixture(t)
	out := make([]Appended, 3)
	must(t, fx.log.AppendLeader(4, fx.now, []record.Batch{batch(3, 1), batch(1, 2), batch(2, 3)}, out))
	want := []Appended{{Base: 0, Last: 2}, {Base: 3, Last: 3}, {Base: 4, Last: 5}}
	for i := range want {
		if out[i] != want[i] {
			t.Errorf("batch %d: %+v, want %+v", i, out[i], want[i])
		}
	}
	if fx.log.LogEnd() != 6 || fx.log.LatestEpoch() != 4 {
		t.Errorf("end %d, epoch %d", fx.log.LogEnd(), fx.log.LatestEpoch())
	}
	for i, h := range fx.contents() {
		if h.BaseOffset != want[i].Base || h.LeaderEpoch != 4 {
			t.Errorf("batch %d in the log: offset %d, epoch %d", i, h.BaseOffset, h.LeaderEpoch)
		}
	}
	if got := string(fx.file("leader-epoch-checkpoint")); got != "0\n1\n4 0\n" {
		t.Errorf("epoch file %q", got)
	}
}

func TestARunIsOneWrite(t *testing.T) {
	fx := newFixture(t)
	fx.append(batch(1, 1)) // the epoch is written, the file opened
	before := fx.mem.Count(vfs.OpWrite)
	fx.append(batch(1, 1), batch(5, 1), sizedBatch(3, 1000, 1), batch(1, 1))
	if n := fx.mem.Count(vfs.OpWrite) - before; n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
}

func TestFailedWriteLeavesTheLogAsItWas(t *testing.T) {
	for name, fault := range map[string]vfs.Fault{
		"nothing written":  {Err: syscall.EIO},
		"part written":     {Err: syscall.EIO, Written: 100},
		"all written":      {Err: syscall.ENOSPC, Written: 1 << 30},
		"a batch and more": {Err: syscall.ENOSPC, Written: 200},
	} {
		t.Run(name, func(t *testing.T) {
			fx := newFixture(t)
			fx.append(batch(2, 1, producerOpt(7, 0, 0)))
			state := fx.log.Producers(nil)
			size := len(fx.file("00000000000000000000.log"))
			fx.mem.Inject(func(op vfs.Op) vfs.Fault {
				if op.Kind == vfs.OpWrite {
					return fault
				}
				return vfs.Fault{}
			})
			out := make([]Appended, 2)
			batches := []record.Batch{batch(1, 9, producerOpt(7, 0, 2)), batch(1, 9, producerOpt(8, 0, 0))}
			if err := fx.log.AppendLeader(0, fx.now, batches, out); err == nil {
				t.Fatal("no error")
			}
			fx.mem.Inject(nil)
			for i, a := range out {
				if a.Err != kafka.ErrKafkaStorageError || a.Base != -1 {
					t.Errorf("batch %d: %+v", i, a)
				}
			}
			if got := len(fx.file("00000000000000000000.log")); got != size {
				t.Errorf("%d bytes in the file, want %d", got, size)
			}
			if got := fx.log.Producers(nil); fx.log.LogEnd() != 2 || len(got) != 1 || got[0] != state[0] {
				t.Errorf("end %d, producers %+v", fx.log.LogEnd(), got)
			}
			fx.append(batches...)
			if fx.log.LogEnd() != 4 {
				t.Errorf("end %d after the batches were sent again", fx.log.LogEnd())
			}
		})
	}
}

func TestLogRefusesAppendsWhenItCannotCutBack(t *testing.T) {
	fx := newFixture(t)
	fx.append(batch(1, 1))
	fx.mem.Inject(func(op vfs.Op) vfs.Fault {
		if op.Kind == vfs.OpWrite || op.Kind == vfs.OpTruncate {
			return vfs.Fault{Err: syscall.EIO, Written: 10}
		}
		return vfs.Fault{}
	})
	out := make([]Appended, 1)
	if err := fx.log.AppendLeader(0, fx.now, []record.Batch{batch(1, 1)}, out); err == nil {
		t.Fatal("no error")
	}
	fx.mem.Inject(nil)
	if err := fx.log.AppendLeader(0, fx.now, []record.Batch{batch(1, 1)}, out); err == nil {
		t.Error("an append succeeded although nobody knows what is in the file")
	}
}

func TestOversizedBatchIsRefusedAlone(t *testing.T) {
	fx := newFixture(t, func(c *Config) { c.SegmentBytes = 1000 })
	out := fx.try(batch(1, 1), sizedBatch(1, 2000, 1), batch(1, 1))
	if out[0].Err != 0 || out[1].Err != kafka.ErrRecordListTooLarge || out[2].Base != 1 {
		t.Errorf("%+v", out)
	}
}

func TestFollowerTakesBatchesAsTheyAre(t *testing.T) {
	leader := newFixture(t)
	leader.append(batch(3, 1), batch(2, 2))
	must(t, leader.log.AssignEpoch(1))
	out := make([]Appended, 1)
	must(t, leader.log.AppendLeader(1, leader.now, []record.Batch{batch(4, 3)}, out))
	must(t, leader.log.Checkpoint(leader.log.LogEnd())) // writes the epochs
	raw := read(t, leader.log.Snapshot(), ReadRequest{UpTo: 9, MaxBytes: 1 << 20})

	fx := newFixture(t)
	done, err := fx.log.AppendFollower(1, fx.now, raw)
	must(t, err)
	if done != (Followed{Base: 0, Last: 8, Batches: 3, Bytes: len(raw), MaxTimestamp: 6}) {
		t.Errorf("%+v", done)
	}
	for _, name := range []string{"00000000000000000000.log", "leader-epoch-checkpoint"} {
		if !bytes.Equal(fx.file(name), leader.file(name)) {
			t.Errorf("%s differs from the leader's", name)
		}
	}
	if _, err := fx.log.AppendFollower(1, fx.now, raw); err == nil {
		t.Error("batches below the log's end were taken")
	}
}

func TestFollowerStopsAtAnEpochAboveItsOwn(t *testing.T) {
	fx := newFixture(t)
	a, b := batch(1, 1), batch(1, 1)
	b.SetBaseOffset(1)
	b.SetLeaderEpoch(5)
	c := batch(1, 1)
	c.SetBaseOffset(2)
	raw := append(append(bytes.Clone(a), b...), c...)
	done, err := fx.log.AppendFollower(4, fx.now, raw)
	must(t, err)
	if done.Batches != 1 || fx.log.LogEnd() != 1 || fx.log.LatestEpoch() != 0 {
		t.Errorf("%+v, end %d, epoch %d", done, fx.log.LogEnd(), fx.log.LatestEpoch())
	}
}

func TestFollowerRefusesDamageWhole(t *testing.T) {
	fx := newFixture(t)
	a, b := batch(1, 1), batch(1, 1)
	b.SetBaseOffset(1)
	b[len(b)-1] ^= 1
	if _, err := fx.log.AppendFollower(0, fx.now, append(bytes.Clone(a), b...)); err == nil {
		t.Error("a damaged batch was taken")
	}
	if fx.log.LogEnd() != 0 {
		t.Errorf("end %d", fx.log.LogEnd())
	}
	done, err := fx.log.AppendFollower(0, fx.now, append(bytes.Clone(a), b[:30]...))
	must(t, err)
	if done.Batches != 1 {
		t.Errorf("%+v with a partial batch at the end", done)
	}
}

func TestRaftAppendTakesControlBatches(t *testing.T) {
	fx := newFixture(t)
	control := record.NewBuilder(record.BatchOptions{Control: true})
	control.Append(record.Record{Timestamp: 5, Key: record.ControlKey(record.ControlLeaderChange), Value: []byte{0, 0}})
	b, err := control.Build()
	must(t, err)
	out := make([]Appended, 2)
	must(t, fx.log.AppendRaft(3, fx.now, []record.Batch{b, batch(2, 6)}, out))
	got := fx.contents()
	if len(got) != 2 || !got[0].Attributes.IsControl() || got[1].BaseOffset != 1 || got[1].LeaderEpoch != 3 {
		t.Errorf("%+v", got)
	}
}

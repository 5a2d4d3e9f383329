package commitlog

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// message builds an entry of magic 0 or 1, as Kafka wrote them before 0.11.
func message(offset kafka.Offset, magic byte, timestamp int64, value string) []byte {
	be := binary.BigEndian
	body := []byte{magic, 0}
	if magic == 1 {
		body = be.AppendUint64(body, uint64(timestamp))
	}
	body = be.AppendUint32(body, 0xffffffff) // no key
	body = be.AppendUint32(body, uint32(len(value)))
	body = append(body, value...)
	b := be.AppendUint64(nil, uint64(offset))
	b = be.AppendUint32(b, uint32(4+len(body)))
	b = be.AppendUint32(b, crc32.ChecksumIEEE(body))
	return append(b, body...)
}

// TestOldFormatsAreRead opens a folder whose log begins with messages of magic 0
// and 1, scans it, reads it and goes on in the current format.
func TestOldFormatsAreRead(t *testing.T) {
	var log []byte
	for o := range kafka.Offset(30) {
		switch {
		case o < 10:
			log = append(log, message(o, 0, 0, "zero")...)
		default:
			log = append(log, message(o, 1, 1000+int64(o), "one")...)
		}
	}
	mem := vfs.NewMem(nil)
	must(t, mem.MkdirAll(testDir))
	must(t, vfs.WriteFile(mem, testDir+"/00000000000000000000.log", log))
	fx := &fixture{t: t, mem: mem, env: testEnv(mem), config: *DefaultConfig()}
	fx.config.IndexIntervalBytes = 100
	fx.open(Options{})
	defer func() { fx.log.Abandon() }()
	if fx.log.LogEnd() != 30 || len(fx.report.Cuts) > 0 {
		t.Fatalf("end %d, report %+v", fx.log.LogEnd(), fx.report)
	}
	fx.append(batch(3, 2000))
	for restart := range 2 {
		s := fx.log.Snapshot()
		for o := range kafka.Offset(33) {
			slice, err := s.Read(ReadRequest{From: o, UpTo: 33, MaxBytes: 1 << 20})
			must(t, err)
			h, err := record.ParseHeader(bytesOf(t, slice))
			must(t, err)
			if want := min(o, 30); h.BaseOffset != want {
				t.Errorf("read at %d begins at %d", o, h.BaseOffset)
			}
		}
		at, ok, err := s.OffsetByTimestamp(1015)
		if want := (TimestampOffset{1015, 15, kafka.NoLeaderEpoch}); !ok || err != nil || at != want {
			t.Errorf("lookup: %+v, %v, %v", at, ok, err)
		}
		if at, ok, err := s.MaxTimestamp(); !ok || err != nil || at.Offset != 32 {
			t.Errorf("max timestamp: %+v, %v, %v", at, ok, err)
		}
		if restart == 0 {
			fx.restart()
		}
	}
}

// A follower that is sent messages of an old format forgets the epochs, which they
// do not have.
func TestFollowingOldFormatsDropsEpochs(t *testing.T) {
	fx := newFixture(t)
	fx.append(batch(1, 1))
	if fx.log.LatestEpoch() != 0 {
		t.Fatal("no epoch")
	}
	done, err := fx.log.AppendFollower(3, 0, message(1, 1, 5, "x"))
	must(t, err)
	if done.Batches != 1 || fx.log.LatestEpoch() != kafka.NoLeaderEpoch {
		t.Errorf("%+v, epoch %d", done, fx.log.LatestEpoch())
	}
}

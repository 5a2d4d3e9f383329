package commitlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// fixture is a log on a file system in memory, and what a test does with it.
type fixture struct {
	t      tb
	mem    *vfs.Mem
	env    *Env
	config Config
	log    *Log
	report OpenReport
	now    kafka.TimestampMs
}

const testDir = "/logs/t-0"

func newFixture(t testing.TB, change ...func(*Config)) *fixture {
	t.Helper()
	fx := makeFixture(t, change...)
	t.Cleanup(func() {
		if fx.log != nil {
			fx.log.Abandon()
		}
		if n := fx.env.Files.Open(); n != 0 {
			t.Errorf("%d files are open at the end", n)
		}
	})
	return fx
}

func makeFixture(t tb, change ...func(*Config)) *fixture {
	fx := &fixture{t: t, mem: vfs.NewMem(nil), config: *DefaultConfig(), now: 1_700_000_000_000}
	fx.config.SegmentBytes = 1 << 20
	for _, c := range change {
		c(&fx.config)
	}
	fx.env = testEnv(fx.mem)
	must(t, fx.mem.MkdirAll("/logs"))
	must(t, fx.mem.SyncDir("/"))
	fx.open(Options{Clean: true})
	return fx
}

func testEnv(fsys vfs.FS) *Env {
	return &Env{FS: fsys, Files: vfs.NewCache(0, func(err error) { panic(err) })}
}

// tb is what helpers need of a test; rapid's tests have it too.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens the log; the environment, folder, configuration and time are the
// fixture's.
func (fx *fixture) open(o Options) {
	fx.t.Helper()
	must(fx.t, fx.tryOpen(o))
}

func (fx *fixture) tryOpen(o Options) (err error) {
	o.Env, o.Dir, o.Config, o.Now = fx.env, testDir, &fx.config, fx.now
	fx.log, fx.report, err = Open(o)
	return err
}

// kill opens the log again as after the death of the process.
func (fx *fixture) kill(recoveryPoint kafka.Offset) {
	fx.t.Helper()
	fx.log.Abandon()
	fx.open(Options{RecoveryPoint: recoveryPoint})
}

// restart stops cleanly and opens the log again.
func (fx *fixture) restart() {
	fx.t.Helper()
	start := fx.log.LogStart()
	must(fx.t, fx.log.Close())
	fx.open(Options{Clean: true, RecoveryPoint: fx.log.RecoveryPoint(), LogStart: start})
}

// crash replaces the file system by what a power cut leaves of it.
func (fx *fixture) crash(after *vfs.Mem, recoveryPoint kafka.Offset) {
	fx.t.Helper()
	fx.log.Abandon()
	fx.mem = after
	fx.env = testEnv(after)
	fx.open(Options{RecoveryPoint: recoveryPoint})
}

// batch builds a batch of n records, each with a timestamp of its own from at on.
func batch(n int, at kafka.TimestampMs, change ...func(*record.BatchOptions)) record.Batch {
	return sizedBatch(n, 10, at, change...)
}

func sizedBatch(n, size int, at kafka.TimestampMs, change ...func(*record.BatchOptions)) record.Batch {
	var o record.BatchOptions
	for _, c := range change {
		c(&o)
	}
	b := record.NewBuilder(o)
	for i := range n {
		b.Append(record.Record{Timestamp: at + int64(i), Value: bytes.Repeat([]byte{byte('a' + i%26)}, size)})
	}
	out, err := b.Build()
	if err != nil {
		panic(err)
	}
	return out
}

func producerOpt(id kafka.ProducerID, epoch kafka.ProducerEpoch, sequence int32) func(*record.BatchOptions) {
	return func(o *record.BatchOptions) {
		o.Producer = &record.Producer{ID: id, Epoch: epoch, BaseSequence: sequence}
	}
}

func inTxn(o *record.BatchOptions) { o.Transactional = true }

// append appends as leader of epoch 0 and expects success.
func (fx *fixture) append(batches ...record.Batch) []Appended {
	fx.t.Helper()
	out := fx.try(batches...)
	for i, a := range out {
		if a.Err != kafka.ErrNone {
			fx.t.Fatalf("batch %d: %v", i, a.Err)
		}
	}
	return out
}

func (fx *fixture) try(batches ...record.Batch) []Appended {
	fx.t.Helper()
	out := make([]Appended, len(batches))
	must(fx.t, fx.log.AppendLeader(0, fx.now, batches, out))
	return out
}

// fill appends batches of one record until the log ends at o.
func (fx *fixture) fill(o kafka.Offset, size int) {
	fx.t.Helper()
	for fx.log.LogEnd() < o {
		fx.append(sizedBatch(1, size, fx.now+int64(fx.log.LogEnd())))
	}
}

// read reads from an offset and returns the bytes.
func read(t tb, s *Snapshot, r ReadRequest) []byte {
	t.Helper()
	slice, err := s.Read(r)
	must(t, err)
	return bytesOf(t, slice)
}

func bytesOf(t tb, slice Slice) []byte {
	t.Helper()
	defer slice.Release()
	b := make([]byte, slice.Length)
	if slice.Length > 0 {
		_, err := slice.File.ReadAt(b, slice.Position)
		must(t, err)
	}
	return b
}

// contents reads the whole log, batch by batch, through reads of random access.
func contents(t tb, s *Snapshot) (all []record.Header) {
	t.Helper()
	for o := s.LogStart(); o < s.LogEnd(); {
		b := read(t, s, ReadRequest{From: o, UpTo: s.LogEnd(), MaxBytes: 1 << 20, WholeFirst: true})
		if len(b) == 0 {
			break
		}
		for len(b) > 0 {
			h, err := record.ParseHeader(b)
			if errors.Is(err, record.ErrShort) || err == nil && h.Size > len(b) {
				break
			}
			must(t, err)
			must(t, record.Verify(b[:h.Size]))
			if h.LastOffset() < o {
				t.Fatalf("batch [%d, %d] read from offset %d", h.BaseOffset, h.LastOffset(), o)
			}
			all = append(all, h)
			o = h.NextOffset()
			b = b[h.Size:]
		}
	}
	return all
}

func (fx *fixture) contents() []record.Header {
	fx.t.Helper()
	return contents(fx.t, fx.log.Snapshot())
}

// file returns the bytes of a file in the log's folder.
func (fx *fixture) file(name string) []byte {
	fx.t.Helper()
	b, err := vfs.ReadFile(fx.mem, testDir+"/"+name)
	must(fx.t, err)
	return b
}

// files lists the folder.
func (fx *fixture) files() string {
	fx.t.Helper()
	entries, err := fx.mem.ReadDir(testDir)
	must(fx.t, err)
	var out string
	for _, e := range entries {
		info, err := fx.mem.Stat(testDir + "/" + e.Name)
		must(fx.t, err)
		out += fmt.Sprintf("%s %d\n", e.Name, info.Size)
	}
	return out
}

// overwrite writes bytes into a file.
func (fx *fixture) overwrite(name string, off int64, b []byte) {
	fx.t.Helper()
	f, err := fx.mem.Open(testDir+"/"+name, vfs.ReadWrite)
	must(fx.t, err)
	defer f.Close()
	_, err = f.WriteAt(b, off)
	must(fx.t, err)
}

func readAll(f io.ReaderAt, size int64) ([]byte, error) {
	b := make([]byte, size)
	_, err := f.ReadAt(b, 0)
	return b, err
}

package commitlog

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/record"
)

// TestIdleLogsCostLittle opens many logs: they hold no descriptor and little
// memory.
func TestIdleLogsCostLittle(t *testing.T) {
	const n = 1000
	const dir = "/logs"
	env := testEnv(vfs.NewMem(nil))
	config := DefaultConfig()
	logs := make([]*Log, n)
	open := func() {
		for i := range logs {
			var err error
			logs[i], _, err = Open(Options{Env: env, Dir: filepath.Join(dir, fmt.Sprintf("topic-%d", i)), Config: config, Clean: true})
			must(t, err)
		}
	}
	open()
	for _, l := range logs {
		out := make([]Appended, 1)
		must(t, l.AppendLeader(0, 0, []record.Batch{batch(1, 1)}, out))
		must(t, l.Close())
	}
	clear(logs)
	before := heap()
	open()
	each := float64(heap()-before) / n
	t.Logf("%.0f bytes a log", each)
	if each > 1500 {
		t.Errorf("an idle log costs %.0f bytes", each)
	}
	if env.Files.Open() != 0 {
		t.Errorf("%d files are open for idle logs", env.Files.Open())
	}
	// Closing what nobody has touched writes and syncs nothing.
	for _, l := range logs {
		must(t, l.Close())
	}
	runtime.KeepAlive(logs)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestClosingAnIdleLogTouchesNoFile(t *testing.T) {
	fx := newFixture(t)
	fx.append(batch(1, 1))
	fx.restart()
	before := [3]int{fx.mem.Count(vfs.OpWrite), fx.mem.Count(vfs.OpSync), fx.mem.Count(vfs.OpOpen)}
	must(t, fx.log.Close())
	if after := [3]int{fx.mem.Count(vfs.OpWrite), fx.mem.Count(vfs.OpSync), fx.mem.Count(vfs.OpOpen)}; after != before {
		t.Errorf("writes, syncs, opens: %v, before the close %v", after, before)
	}
}

// TestAppendAllocatesPerRun pins that nothing is allocated for a record or a batch:
// a run costs its snapshot.
func TestAppendAllocatesPerRun(t *testing.T) {
	env := &Env{FS: vfs.NewOS(nil), Files: vfs.NewCache(0, nil)}
	l, _, err := Open(Options{Env: env, Dir: t.TempDir() + "/t-0", Config: DefaultConfig(), Clean: true})
	must(t, err)
	defer l.Abandon()
	for _, n := range []int{1, 16} {
		run := make([]record.Batch, n)
		for i := range run {
			run[i] = batch(100, 1)
		}
		out := make([]Appended, n)
		got := testing.AllocsPerRun(200, func() {
			if err := l.AppendLeader(0, 0, run, out); err != nil {
				t.Fatal(err)
			}
		})
		if got > 3 {
			t.Errorf("%v allocations for a run of %d batches", got, n)
		}
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	env := &Env{FS: vfs.NewOS(nil), Files: vfs.NewCache(0, nil)}
	l, _, err := Open(Options{Env: env, Dir: t.TempDir() + "/t-0", Config: DefaultConfig(), Clean: true})
	must(t, err)
	defer l.Abandon()
	out := make([]Appended, 1)
	for range 500 {
		must(t, l.AppendLeader(0, 0, []record.Batch{batch(10, 1)}, out))
	}
	must(t, l.Roll(0))
	s := l.Snapshot()
	got := testing.AllocsPerRun(200, func() {
		slice, err := s.Read(ReadRequest{From: 3333, UpTo: s.LogEnd(), MaxBytes: 10_000})
		if err != nil || slice.Length == 0 {
			t.Fatal(slice, err)
		}
		slice.Release()
	})
	if got > 0.5 { // a pool may be emptied by the collector
		t.Errorf("%v allocations a read", got)
	}
}

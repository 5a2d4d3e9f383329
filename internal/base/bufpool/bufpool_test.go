package bufpool

import "testing"

func TestClassesHoldWhatIsAskedFor(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 12288, 12289, 64 << 10, 1<<20 + 8<<10, 1<<20 + 8<<10 + 1, 4<<20 + 8<<10, 4<<20 + 8<<10 + 1, 100 << 20} {
		if Size(n) < n || n > 12288 && Size(n) > 2*n {
			t.Errorf("Size(%d) = %d", n, Size(n))
		}
	}
	if got := Size(1048588 + 200); got != 1<<20+8<<10 {
		t.Errorf("a batch of max.message.bytes takes %d bytes", got)
	}
	var p Pool
	if got := len(p.Get(70000).Bytes()); got != Size(70000) {
		t.Errorf("Get gave %d bytes", got)
	}
}

func TestBufferGoesBackWithTheLastReference(t *testing.T) {
	var p Pool
	b := p.Get(100)
	b.Hold()
	if b.Unique() || b.Release() {
		t.Error("released while held")
	}
	if !b.Unique() || !b.Release() {
		t.Error("not released by the last holder")
	}
	mustPanic(t, "release", func() { b.Release() })
	mustPanic(t, "hold", func() { b.Hold() })
}

func TestLateWriteIsFoundInRaceBuilds(t *testing.T) {
	if !poisoned {
		t.Skip("only with -race")
	}
	b := &Buffer{bytes: make([]byte, 100)}
	b.fillPoison()
	b.checkPoison()
	b.bytes[50] = 1
	mustPanic(t, "late write", b.checkPoison)
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

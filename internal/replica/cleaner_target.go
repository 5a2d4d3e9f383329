package replica

import (
	"errors"
	"io/fs"
	"math"
	"sync"
	"time"

	"barnabas/internal/storage/cleaner"
	"barnabas/internal/storage/commitlog"
)

// cleaningTarget lends a partition's log to a cleaning.
type cleaningTarget struct {
	c    *cleaners
	part *Partition
	role *role // of the beginning
}

var _ cleaner.Target = (*cleaningTarget)(nil)

// Snapshot implements cleaner.Target.
func (t *cleaningTarget) Snapshot() *commitlog.Snapshot { return t.role.log.Snapshot() }

// Locked implements cleaner.Target.
func (t *cleaningTarget) Locked(do func(*commitlog.Log) error) error {
	t.part.mu.Lock()
	defer t.part.mu.Unlock()
	if now := t.part.role.Load(); now.phase != online || now.log != t.role.log {
		return errCleaningStopped
	}
	return do(t.role.log)
}

// Swapped implements cleaner.Target.
func (t *cleaningTarget) Swapped(g commitlog.Garbage) {
	now := t.c.m.env.now()
	t.role.dir.deleteLater(deletion{files: g, at: now.Add(t.part.role.Load().settings.topic.FileDeleteDelay)})
}

// Pace implements cleaner.Target: it holds the bytes of all cleanings together to
// log.cleaner.io.max.bytes.per.second, and ends the cleaning when it is in vain.
func (t *cleaningTarget) Pace(n int) error {
	if now := t.part.role.Load(); now.phase != online || t.c.m.stopping() {
		return errCleaningStopped
	}
	rate := t.c.m.config().Cleaner.MaxBytesPerSecond
	if wait := t.c.pace.take(n, rate, t.c.m.env.now); wait > 0 && !t.c.sleep(wait) {
		return errCleaningStopped
	}
	return nil
}

// pacer spreads bytes over time.
type pacer struct {
	mu   sync.Mutex
	free time.Time // when all that was taken is paid for; guarded by mu
}

// Waits are not shorter than paceLeast, and not longer than paceMost: a rate that is
// lowered to next to nothing can be raised again.
const (
	paceLeast = 5 * time.Millisecond
	paceMost  = time.Second
)

// take takes n bytes at a rate in bytes per second, and says how long to wait first.
func (p *pacer) take(n int, rate float64, now func() time.Time) time.Duration {
	if rate >= math.MaxInt64 || rate <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := now()
	if p.free.Before(at) {
		p.free = at
	}
	cost := min(float64(n)/rate, float64(paceMost)/float64(time.Second))
	p.free = p.free.Add(time.Duration(cost * float64(time.Second)))
	if wait := p.free.Sub(at); wait >= paceLeast {
		return min(wait, paceMost)
	}
	return 0
}

// logUsable says whether the log still takes changes.
func (p *Partition) logUsable(r *role) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.role.Load()
	return now.phase == online && now.log == r.log && r.log.Err() == nil
}

// isRetry says that the log changed while it was cleaned, or that the cleaning was
// stopped: nothing is wrong.
func isRetry(err error) bool {
	return errors.Is(err, commitlog.ErrStale) || errors.Is(err, commitlog.ErrClosed) || errors.Is(err, errCleaningStopped)
}

func isSystem(err error) bool {
	var system *fs.PathError
	return errors.As(err, &system)
}

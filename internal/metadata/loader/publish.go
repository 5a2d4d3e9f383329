package loader

import (
	"context"

	"barnabas/internal/metadata/image"
)

// Start begins to publish and to write snapshots, on goroutines of its own, until
// Close. Who drives the loader step by step calls Publish and WriteSnapshot instead.
func (l *Loader) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.tasks.Add(2)
	go l.run(ctx, l.wakePublish, l.Publish)
	go l.run(ctx, l.wakeSnapshot, l.WriteSnapshot)
}

// Close ends publishing and waits for a publication or snapshot that is under way. It
// may be called again.
func (l *Loader) Close() {
	if l.cancel != nil {
		l.cancel()
	}
	l.tasks.Wait()
}

// run calls step after each wake-up as long as it finds something to do.
func (l *Loader) run(ctx context.Context, wake <-chan struct{}, step func() bool) {
	defer l.tasks.Done()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		for ctx.Err() == nil && step() {
		}
	}
}

// Publish gives the publishers what they were not given yet and says whether there was
// anything.
func (l *Loader) Publish() bool {
	l.mu.Lock()
	pending := l.pending
	l.pending = nil
	l.mu.Unlock()
	if len(pending) == 0 {
		return false
	}
	d := image.Merge(pending...)
	for _, p := range l.opts.Publishers {
		p.Publish(d)
	}
	l.shown.Store(d.New)
	l.judge(d.New)
	return true
}

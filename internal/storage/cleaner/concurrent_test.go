package cleaner

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// locked is a rig whose log has an append lock, as one with readers and writers has.
type locked struct {
	*rig
	mu sync.Mutex
}

func (l *locked) Locked(do func(*commitlog.Log) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return do(l.log)
}

// Readers find the last record of every key at any moment of a cleaning, and none of
// them meets a log that changes faster than a fetch tries again (10 times).
func TestReadersDuringCleanings(t *testing.T) {
	r := newRig(t)
	target := &locked{rig: r}
	const keys = 8
	round := func(version int) {
		target.mu.Lock()
		defer target.mu.Unlock()
		for k := range keys {
			r.put(fmt.Sprint("key-", k), fmt.Sprint("value ", version))
		}
		r.roll()
		must(t, r.log.Flush(r.log.LogEnd()))
	}
	round(0)
	var stop atomic.Bool
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop.Store(true)
	for range 3 {
		readers.Go(func() {
			for !stop.Load() {
				seen, err := keysOf(r.log)
				if err != nil {
					t.Error(err)
					return
				}
				if len(seen) != keys {
					t.Errorf("%d keys of %d", len(seen), keys)
					return
				}
			}
		})
	}
	for version := range 60 {
		round(version + 1)
		at, err := Measure(r.log.Snapshot(), r.dirty, r.log.RecoveryPoint(), Rules{MaxLagMs: 1 << 62}, r.now)
		must(t, err)
		r.dirty, _, err = Clean(target, at, r.clean, r.keys, r.now)
		must(t, err)
		for _, g := range r.garbage {
			must(t, g.Remove(r.mem))
		}
		r.garbage = nil
	}
}

// keysOf reads a log as fetches do: a slice at a time, each from a new snapshot.
func keysOf(l *commitlog.Log) (map[string]bool, error) {
	seen := map[string]bool{}
	end := l.Snapshot().LogEnd()
	for o := kafka.Offset(0); o < end; {
		next, err := readOnce(l, o, seen)
		if err != nil {
			return nil, fmt.Errorf("offset %d: %w", o, err)
		}
		if next == o {
			break
		}
		o = next
	}
	return seen, nil
}

func readOnce(l *commitlog.Log, o kafka.Offset, seen map[string]bool) (next kafka.Offset, err error) {
	for range 10 {
		s := l.Snapshot()
		slice, err := s.Read(commitlog.ReadRequest{From: o, UpTo: s.LogEnd(), MaxBytes: 1 << 20, WholeFirst: true})
		if errors.Is(err, commitlog.ErrStale) {
			continue
		}
		if err != nil {
			return o, err
		}
		return takeKeys(slice, o, seen)
	}
	return o, commitlog.ErrStale
}

func takeKeys(slice commitlog.Slice, o kafka.Offset, seen map[string]bool) (kafka.Offset, error) {
	defer slice.Release()
	if slice.Length == 0 {
		return o, nil
	}
	b := make([]byte, slice.Length)
	if _, err := slice.File.ReadAt(b, slice.Position); err != nil {
		return o, err
	}
	var it record.Iterator
	defer it.Close()
	for len(b) > 0 {
		batch, rest, err := record.Next(b)
		if err != nil {
			return o, err
		}
		for it.Reset(batch); it.Next(); {
			seen[string(it.Record().Key)] = true
		}
		if err := it.Err(); err != nil {
			return o, err
		}
		o, b = batch.NextOffset(), rest
	}
	return o, nil
}

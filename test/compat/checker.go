package compat

import (
	"errors"
	"fmt"
	"sync"
)

// checker compares what a consumer sees with what was written: each partition
// from its first offset on, without a gap.
type checker struct {
	want int
	seen int
	next [Partitions]int64
	bad  error
}

func newChecker(n int) *checker { return &checker{want: n} }

func (c *checker) record(p int, offset int64, key, value []byte) {
	c.seen++
	if c.bad != nil {
		return
	}
	if offset != c.next[p] {
		c.bad = fmt.Errorf("partition %d: offset %d comes after %d", p, offset, c.next[p]-1)
		return
	}
	c.next[p]++
	if wrong := Expect(p, offset, key, value); wrong != "" {
		c.bad = errors.New(wrong)
	}
}

func (c *checker) done() bool { return c.bad != nil || c.seen >= c.want }

func (c *checker) result() error {
	if c.bad == nil && c.seen != c.want {
		return fmt.Errorf("%d records, want %d", c.seen, c.want)
	}
	return c.bad
}

// firstError keeps the first error that callbacks report.
type firstError struct {
	mu  sync.Mutex
	err error // guarded by mu
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

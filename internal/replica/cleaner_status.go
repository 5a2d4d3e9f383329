package replica

import (
	"barnabas/internal/storage/cleaner"
)

// CleaningStatus says why old records of a partition are still there, as far as
// compaction goes.
type CleaningStatus struct {
	cleaner.Range
	MinRatio float64 // min.cleanable.dirty.ratio
	Due      bool    // it is cleaned as soon as a thread is free
	Busy     bool    // it is being cleaned
	Last     LastCleaning
	Aside    string // why it is not cleaned any more; "": it is
	// Disabled says that log.cleaner.enable is false or log.cleaner.threads is 0.
	Disabled bool
}

// Cleaning gives the state of compaction of a partition; ok is false if it is not
// compacted, or not online.
func (m *Manager) Cleaning(topic string, index int32) (s CleaningStatus, ok bool) {
	p := m.Partition(topic, index)
	if p == nil {
		return s, false
	}
	r := p.role.Load()
	if r.phase != online || !r.settings.topic.Compact {
		return s, false
	}
	bounds, err := m.cleaners.measure(p, r, m.env.now().UnixMilli())
	if err != nil {
		return s, false
	}
	c := m.config().Cleaner
	s = CleaningStatus{
		Range: bounds, MinRatio: r.settings.topic.MinCleanableDirtyRatio, Due: bounds.Due(r.settings.topic.MinCleanableDirtyRatio),
		Disabled: !c.Enable || c.Threads == 0,
	}
	m.cleaners.mu.Lock()
	defer m.cleaners.mu.Unlock()
	s.Busy = m.cleaners.busy[p.id.TopicPartition()]
	if h := m.cleaners.logs[p]; h != nil {
		s.Last, s.Aside = h.last, h.aside
	}
	return s, true
}

// cleanerStats counts.
func (m *Manager) cleanerStats() CleanerStats {
	c := m.cleaners
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.total
	for _, running := range c.running {
		if running {
			s.Threads++
		}
	}
	return s
}

// uncleanable gives the partitions that are set aside.
func (c *cleaners) uncleanable() (out []*Partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, h := range c.logs {
		if h.aside != "" {
			out = append(out, p)
		}
	}
	return out
}

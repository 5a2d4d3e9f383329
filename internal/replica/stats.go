package replica

import (
	"sync/atomic"

	"barnabas/internal/kafka"
	"barnabas/internal/replica/fetchsession"
)

// counters are written where things happen, each with one atomic a run of
// requests.
type counters struct {
	messagesIn, bytesIn, bytesOut   atomic.Int64
	producesWaiting, produceExpired atomic.Int64
	fetchesWaiting, fetchExpired    atomic.Int64
}

// Stats are the numbers of all replicas.
type Stats struct {
	Partitions, Leaders, Offline int
	// Of the partitions led here: fewer in sync than replicas, fewer than
	// min.insync.replicas, just as many as that.
	UnderReplicated, BelowMinISR, AtMinISR int

	Dirs     []DirStats // in the order of Options.Dirs
	Cleaner  CleanerStats
	Sessions fetchsession.Stats

	// ProducesWaiting and FetchesWaiting are requests that wait now. What follows
	// only grows: records and bytes appended for producers, bytes read for
	// consumers, and waits that ended because their time was over.
	ProducesWaiting, FetchesWaiting int64
	MessagesIn, BytesIn, BytesOut   int64
	ProduceExpired, FetchExpired    int64
}

// DirStats are the numbers of a log directory.
type DirStats struct {
	Path             string
	Online, Cordoned bool
	Replicas         int
	Segments         int
	Bytes            int64 // of logs, without indexes
	// What retention has removed since the start, and when the next segment is due
	// by its age, in milliseconds since 1970; 0: never.
	DeletedSegments, DeletedBytes int64
	RetentionDue                  kafka.TimestampMs
	// Of the replicas that compaction has set aside.
	Uncleanable      int
	UncleanableBytes int64
}

// Stats counts. It takes no lock of a partition.
func (m *Manager) Stats() Stats {
	c := &m.env.count
	s := Stats{
		Sessions:        m.sessions.Stats(),
		Cleaner:         m.cleanerStats(),
		ProducesWaiting: c.producesWaiting.Load(), FetchesWaiting: c.fetchesWaiting.Load(),
		MessagesIn: c.messagesIn.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		ProduceExpired: c.produceExpired.Load(), FetchExpired: c.fetchExpired.Load(),
	}
	byDir := map[*Dir]*DirStats{}
	s.Dirs = make([]DirStats, len(m.dirs))
	for i, d := range m.dirs {
		s.Dirs[i] = DirStats{
			Path: d.path, Online: d.Online(), Cordoned: m.cordoned(d),
			DeletedSegments: d.deletedSegments.Load(), DeletedBytes: d.deletedBytes.Load(), RetentionDue: d.nextDue.Load(),
		}
		byDir[d] = &s.Dirs[i]
	}
	for _, p := range m.cleaners.uncleanable() {
		if r := p.role.Load(); r.phase == online {
			byDir[r.dir].Uncleanable++
			byDir[r.dir].UncleanableBytes += r.log.Snapshot().Size()
		}
	}
	for _, p := range m.all() {
		r := p.role.Load()
		if r.dir != nil {
			byDir[r.dir].add(r)
		}
		s.add(p, r)
		if r.code == kafka.ErrNone {
			m.addISR(&s, p, r)
		}
	}
	return s
}

// all gives every replica that is hosted now.
func (m *Manager) all() []*Partition {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []*Partition
	for _, t := range m.topics {
		for _, p := range t.partitions {
			if p != nil {
				out = append(out, p)
			}
		}
	}
	return out
}

func (d *DirStats) add(r *role) {
	d.Replicas++
	if r.phase == online {
		snap := r.log.Snapshot()
		d.Segments += snap.Segments()
		d.Bytes += snap.Size()
	}
}

func (s *Stats) add(p *Partition, r *role) {
	s.Partitions++
	if r.phase == offline {
		s.Offline++
	}
	if r.code == kafka.ErrNone {
		s.Leaders++
	}
	if p.belowMin.Load() {
		s.BelowMinISR++
	}
}

// addISR compares the in-sync replicas of a partition that is led here.
func (m *Manager) addISR(s *Stats, p *Partition, r *role) {
	reg := m.image.Load().Topics.Partition(p.id.ID, p.id.Partition)
	if reg == nil {
		return
	}
	if len(reg.ISR) < len(reg.Replicas) {
		s.UnderReplicated++
	}
	if len(reg.ISR) == r.settings.topic.MinInsyncReplicas {
		s.AtMinISR++
	}
}

package runtime

import (
	"sync/atomic"
	"time"
)

// counters are written where things happen.
type counters struct {
	loads, loadErrors            atomic.Int64
	loadedRecords, loadedBytes   atomic.Int64
	appends, appendErrors        atomic.Int64
	records, bytes               atomic.Int64
	refused, overloaded, expired atomic.Int64
}

// Stats are the numbers of a runtime.
type Stats struct {
	// Partitions by what they are now.
	Active, Loading, Failed int
	// LoadOffsets and LoadOffsetsDone are the offsets of the partitions that are
	// being loaded, and how many of them are read.
	LoadOffsets, LoadOffsetsDone int64
	// Queued are operations that wait to run.
	Queued int

	// What follows only grows.
	Loads, LoadErrors          int64
	LoadedRecords, LoadedBytes int64
	Appends, AppendErrors      int64 // batches
	Records, Bytes             int64 // in batches
	// Refused are operations that were not run, Overloaded those of them that found a
	// queue full; Expired are answers that were given up, because their records were
	// not committed in time.
	Refused, Overloaded, Expired int64
}

// Stats counts.
func (r *Runtime[M]) Stats() Stats {
	c := &r.count
	st := Stats{
		Loads: c.loads.Load(), LoadErrors: c.loadErrors.Load(), LoadedRecords: c.loadedRecords.Load(), LoadedBytes: c.loadedBytes.Load(),
		Appends: c.appends.Load(), AppendErrors: c.appendErrors.Load(), Records: c.records.Load(), Bytes: c.bytes.Load(),
		Refused: c.refused.Load(), Overloaded: c.overloaded.Load(), Expired: c.expired.Load(),
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.shards {
		st.Queued += s.exec.Waiting()
		switch s.phase() {
		case active:
			st.Active++
		case loading:
			st.Loading++
			if l := s.progress.Load(); l != nil {
				st.LoadOffsets += l.target.Load() - l.start.Load()
				st.LoadOffsetsDone += l.at.Load() - l.start.Load()
			}
		case failed:
			st.Failed++
		}
	}
	return st
}

// slowLoad is how long a load takes that is worth a line in the log.
const slowLoad = time.Second

// loadEnded counts a load that has ended and says so if it took long.
func (r *Runtime[M]) loadEnded(l *load[M]) {
	r.count.loadedRecords.Add(l.records.Load())
	r.count.loadedBytes.Add(l.bytes.Load())
	if l.err != nil {
		r.count.loadErrors.Add(1)
		return
	}
	r.count.loads.Add(1)
	r.o.Loaded(l.took)
	say := r.o.Log.Debug
	if l.took >= slowLoad {
		say = r.o.Log.Info
	}
	say("a coordinator's partition is loaded", "partition", l.s.name(), "leader_epoch", l.led.Epoch,
		"records", l.records.Load(), "bytes", l.bytes.Load(), "took", l.took, "waited", r.o.Now().Sub(l.queued)-l.took)
}

package replica

import (
	"slices"

	"barnabas/internal/kafka"
)

// A disk that is full is not a disk that has failed: what was there before is
// whole, and what could not be written was refused. The directory stays in service.
// Producers get KAFKA_STORAGE_ERROR, after which they try again; whoever reads or
// deletes goes on, and so do the chores once there is space. A replica whose log
// cannot be made or recovered waits for space in the phase opening. What a stop
// cannot write is left to the recovery of the next start.

// fullEvery is how often a full disk is logged.
const fullEvery = 60_000

// full logs that there is no space, not too often.
func (d *Dir) full(doing string, tp kafka.TopicPartition, err error) {
	now, last := d.m.env.now().UnixMilli(), d.fullLogged.Load()
	if now-last < fullEvery || !d.fullLogged.CompareAndSwap(last, now) {
		return
	}
	about := []any{"dir", d.path, "while", doing, "error", err}
	if tp.Topic != "" {
		about = append(about, "partition", tp.String())
	}
	d.m.env.log.Error("a log directory is full: producers are refused until there is space", about...)
}

// waiting is a replica that has no log yet because there was no space for it.
type waiting struct {
	part *Partition
	// fresh says that it is a new replica; the others were there at the start.
	fresh bool
}

// await has the log of a replica made or opened once there is space.
func (d *Dir) await(w waiting, doing string, err error) {
	d.full(doing, w.part.id.TopicPartition(), err)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, w)
}

// openWaiting tries again, once for each replica that waits.
func (d *Dir) openWaiting() error {
	d.mu.Lock()
	n := len(d.waiting)
	d.mu.Unlock()
	made := false
	for ; n > 0 && d.Online() && !d.m.stopping(); n-- {
		made = d.openNext() || made
	}
	if !made || !d.Online() {
		return nil
	}
	return d.fs.SyncDir(d.path) // the names of new folders
}

// openNext tries the one who has waited longest. It says whether a folder may have
// been made.
func (d *Dir) openNext() (made bool) {
	d.mu.Lock()
	if len(d.waiting) == 0 {
		d.mu.Unlock()
		return false
	}
	w := d.waiting[0]
	d.waiting = d.waiting[1:]
	d.atWork, d.workDone = w.part, make(chan struct{})
	d.mu.Unlock()
	if w.fresh {
		d.m.create(w.part)
	} else {
		d.openStarted(w.part)
	}
	d.mu.Lock()
	close(d.workDone)
	d.atWork, d.workDone = nil, nil
	d.mu.Unlock()
	return w.fresh
}

// stopWaiting ends the wait of a replica that has left. It is true if there was
// one: then nobody else touches its folder.
func (d *Dir) stopWaiting(p *Partition) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.atWork == p {
		done := d.workDone
		d.mu.Unlock()
		<-done
		d.mu.Lock()
	}
	before := len(d.waiting)
	d.waiting = slices.DeleteFunc(d.waiting, func(w waiting) bool { return w.part == p })
	return len(d.waiting) < before
}

package replica

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/storage/commitlog"
	"barnabas/internal/storage/logdir"
)

// progress counts what the start has to open.
type progress struct {
	logs, logsOpen         atomic.Int64
	bytes, bytesScanned    atomic.Int64
	segments, segmentsDone atomic.Int64
}

// Progress is how far the logs of the start are open. Bytes and segments are
// those that recovery has met so far.
type Progress struct {
	Logs, LogsOpen         int64
	Segments, SegmentsDone int64
	Bytes, BytesDone       int64
}

// Progress says how far the start has come.
func (m *Manager) Progress() Progress {
	p := &m.progress
	return Progress{
		Logs: p.logs.Load(), LogsOpen: p.logsOpen.Load(),
		Segments: p.segments.Load(), SegmentsDone: p.segmentsDone.Load(),
		Bytes: p.bytes.Load(), BytesDone: p.bytesScanned.Load(),
	}
}

// Recovered closes when every log that was there at the start is open, or when
// the node stops before.
func (m *Manager) Recovered() <-chan struct{} { return m.recovered }

// openFound gives each folder that was there at the start its meaning, and begins
// to open the logs, as many at once in each directory as
// num.recovery.threads.per.data.dir says, more where nothing has to be scanned.
func (m *Manager) openFound(img *image.Image) {
	work := make([][]*Partition, len(m.dirs))
	for i, d := range m.dirs {
		work[i] = d.sort(img)
		m.progress.logs.Add(int64(len(work[i])))
		d.mu.Lock()
		d.unopened = len(work[i])
		d.mu.Unlock()
	}
	var opened sync.WaitGroup
	for i, d := range m.dirs {
		work := work[i]
		queue := make(chan *Partition, len(work))
		for _, p := range work {
			queue <- p
		}
		close(queue)
		workers := m.config().Logs.RecoveryThreadsPerDataDir
		if d.clean.Clean {
			workers = atOnce
		}
		for range min(len(work), max(1, workers)) {
			opened.Go(func() {
				for p := range queue {
					d.openStarted(p)
				}
			})
		}
		m.loops.Go(func() { d.background(m.stop) })
	}
	m.loops.Go(m.cleaners.run)
	begun := m.env.now()
	m.loops.Go(func() {
		opened.Wait()
		close(m.recovered)
		if p := m.Progress(); p.Logs > 0 && !m.stopping() {
			m.env.log.Info("the logs of the start are open", "logs", p.Logs, "bytes_scanned", p.BytesDone, "took", m.env.now().Sub(begun))
		}
	})
}

// sort finds the partition of each folder. Folders that belong to none are
// renamed or left alone, as Apache does.
func (d *Dir) sort(img *image.Image) (work []*Partition) {
	now := d.m.env.now()
	for _, f := range d.found {
		switch f.Kind {
		case logdir.Deleted:
			d.deleteLater(deletion{folder: f.Name, at: now.Add(d.m.newSettings(d.m.config(), "", nil).topic.FileDeleteDelay)})
		case logdir.Future:
			d.m.env.log.Warn("left alone: the copy of a replica that was moving between log directories", "dir", d.path, "folder", f.Name)
		case logdir.Live:
			p, err := d.claim(f.TopicPartition, img)
			if err != nil {
				d.fail("look at folders", f.TopicPartition, err)
				return nil
			}
			if p != nil {
				work = append(work, p)
			}
		}
	}
	d.found = nil
	return work
}

// claim finds out whose the folder of a live replica is.
func (d *Dir) claim(tp kafka.TopicPartition, img *image.Image) (*Partition, error) {
	folder := filepath.Join(d.path, logdir.Name(tp))
	id, ok, err := commitlog.ReadPartitionMetadata(d.fs, folder)
	if err != nil {
		return nil, err
	}
	p := d.m.Partition(tp.Topic, tp.Partition)
	if !ok && p != nil {
		// A crash between making the folder and naming its topic leaves an empty
		// one, which is as good as none.
		if empty, err := d.emptyFolder(folder); err != nil || empty {
			return nil, err
		}
	}
	if ok && (p == nil || p.id.ID != id) {
		if other := img.Topics.Partition(id, tp.Partition); other != nil && slices.Contains(other.Replicas, d.m.env.self) {
			d.m.env.log.Warn("left alone: a folder that names a topic of this node but not by its name", "dir", d.path, "folder", logdir.Name(tp), "topic_id", id.String())
			return nil, nil
		}
	}
	if !ok || p == nil || p.id.ID != id {
		if cuts := d.m.opts.MetadataCuts; cuts != "" {
			d.m.opts.Fatal(fmt.Errorf("%s holds a replica that the metadata log does not have, and bytes were cut off the end of that log, %s: records of it are lost. "+
				"Put back __cluster_metadata-0 from a copy; or, to go on without the topics that are lost, remove its files *%s and start again", folder, cuts, commitlog.CutSuffix))
			return nil, nil
		}
		name, err := d.retire(tp, logdir.Stray)
		if err == nil {
			d.m.env.log.Warn("set aside: a replica that the metadata does not have on this node", "dir", d.path, "folder", name)
		}
		return nil, err
	}
	r := *p.role.Load()
	if r.dir != nil {
		// Which one is right only an operator can say.
		d.m.opts.Fatal(fmt.Errorf("replica %s lies in two log directories, %s and %s", tp, r.dir.path, d.path))
		return nil, nil
	}
	r.dir = d
	p.role.Store(&r)
	d.add(p)
	return p, nil
}

// emptyFolder says whether nothing was ever appended in a folder.
func (d *Dir) emptyFolder(folder string) (bool, error) {
	entries, err := d.fs.ReadDir(folder)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name) != ".log" {
			continue
		}
		info, err := d.fs.Stat(filepath.Join(folder, e.Name))
		if err != nil || info.Size > 0 {
			return false, err
		}
	}
	return true, nil
}

// openStarted opens a log of the start, and lets its partition serve. Where there is
// no space for that the partition waits.
func (d *Dir) openStarted(p *Partition) {
	select {
	case <-d.m.stop:
		return
	default:
	}
	if d.Online() {
		err := d.open(p, commitlog.Options{
			Clean:         d.clean.Clean,
			RecoveryPoint: d.points.recovery[p.id.TopicPartition()],
			LogStart:      d.points.logStart[p.id.TopicPartition()],
		}, d.points.high[p.id.TopicPartition()])
		if err != nil {
			d.await(waiting{part: p}, "open", err)
			return
		}
	}
	d.m.progress.logsOpen.Add(1)
	d.mu.Lock()
	d.unopened--
	d.mu.Unlock()
}

// open opens a partition's log and gives it to the partition. The error is a lack of
// space; any other ends the directory.
func (d *Dir) open(p *Partition, o commitlog.Options, high kafka.Offset) error {
	var last commitlog.Progress
	o.Env, o.Dir = d.logs, filepath.Join(d.path, logdir.Name(p.id.TopicPartition()))
	o.Config = p.role.Load().settings.log
	o.Now = d.m.env.now().UnixMilli()
	o.Progress = func(now commitlog.Progress) {
		c := &d.m.progress
		c.segments.Add(int64(now.Segments - last.Segments))
		c.segmentsDone.Add(int64(now.SegmentsDone - last.SegmentsDone))
		c.bytes.Add(now.Bytes - last.Bytes)
		c.bytesScanned.Add(now.BytesDone - last.BytesDone)
		last = now
	}
	log, report, err := commitlog.Open(o)
	if vfs.IsFull(err) {
		return err
	}
	if err != nil {
		d.fail("open", p.id.TopicPartition(), err)
		return nil
	}
	d.report(p, report)
	log.SetHighWatermark(high)
	if !p.opened(log) {
		log.Abandon()
		if p.role.Load().phase == stopped && !d.m.stopping() {
			d.m.retireFolder(p, d)
		}
	}
	return nil
}

// report logs what opening a log has found. A cut that took whole batches, and
// damage, are errors: data is missing that was written once.
func (d *Dir) report(p *Partition, r commitlog.OpenReport) {
	log := d.m.env.log.With("partition", p.id.TopicPartition().String(), "dir", d.path)
	for _, c := range r.Cuts {
		if len(c.Kept) > 0 {
			log.Error("recovery cut a log where whole batches lie behind bad bytes; the bytes are kept",
				"offset", c.Offset, "first_lost", c.FirstLost, "last_lost", c.LastLost, "bytes", c.Bytes, "reason", c.Reason, "kept", c.Kept)
		} else {
			log.Warn("recovery cut a torn tail", "offset", c.Offset, "bytes", c.Bytes, "reason", c.Reason)
		}
	}
	for _, x := range r.Damages {
		log.Error("records below the recovery point cannot be read", "segment", x.Segment, "first_lost", x.FirstLost, "last_lost", x.LastLost, "reason", x.Reason)
	}
	if r.ResetTo != nil {
		log.Warn("a log ended below its checkpointed start and was emptied", "offset", *r.ResetTo)
	}
	if r.BadEpochs != nil {
		log.Warn("leader-epoch-checkpoint was made anew from the batches", "reason", r.BadEpochs)
	}
	if len(r.BadSnapshots) > 0 {
		log.Warn("snapshots of producers could not be read; what they said was read from the batches", "files", r.BadSnapshots)
	}
	if r.SegmentsRecovered+len(r.IndexesRebuilt)+len(r.SwapsFinished) > 0 {
		log.Debug("recovered a log", "segments", r.SegmentsRecovered, "bytes", r.BytesScanned,
			"indexes", len(r.IndexesRebuilt), "swaps", r.SwapsFinished)
	}
}

func (m *Manager) anyOnline() bool { return slices.ContainsFunc(m.dirs, (*Dir).Online) }

func (m *Manager) anyOffline() bool {
	return slices.ContainsFunc(m.dirs, func(d *Dir) bool { return !d.Online() })
}

// newReplica is a replica that has no log yet. If it may have one in a directory
// that is offline, it gets none.
type newReplica struct {
	part     *Partition
	reg      *image.Partition
	mayExist bool
}

// createAll makes the logs of new replicas. They serve when it returns.
func (m *Manager) createAll(replicas []newReplica, img *image.Image) {
	if len(replicas) == 0 {
		return
	}
	lost := 0
	var first string
	for i := range replicas {
		if r := &replicas[i]; !m.choose(r) {
			if lost++; lost == 1 {
				first = r.part.id.TopicPartition().String()
			}
		}
	}
	if lost > 0 {
		m.env.log.Warn("replicas are offline: they may lie in a log directory that is", "replicas", lost, "first", first)
	}
	inParallel(len(replicas), func(i int) { m.create(replicas[i].part) })
	for _, d := range m.dirs {
		if d.Online() {
			// The names of the new folders.
			if err := d.fs.SyncDir(d.path); err != nil {
				d.fail("sync the directory", kafka.TopicPartition{}, err)
			}
		}
	}
	for _, r := range replicas {
		m.tellDirectory(r.part, r.reg, img)
	}
}

// tellDirectory tells the controller where a replica lies, if that is not what the
// metadata says (KIP-858): of a new one on a node with several directories it says
// nothing, and a folder may have been moved while the node was down.
func (m *Manager) tellDirectory(p *Partition, reg *image.Partition, img *image.Image) {
	if img.Features.MetadataVersion < kafka.MetadataVersionDirectories {
		return
	}
	assigned, _ := reg.Directory(m.env.self)
	if d := p.role.Load().dir; d != nil && d.Online() && d.id != assigned {
		m.opts.Membership.AssignDirectory(p.id.ID, p.id.Partition, d.id)
	}
}

// choose chooses the directory of a new replica. It is false if there is none, because
// the replica may lie in one that is offline.
func (m *Manager) choose(n *newReplica) bool {
	// Controllers refuse such names. A log that has one all the same must not lead
	// out of the log directory ("../…").
	if err := kafka.CheckTopicName(n.part.id.Topic); err != nil {
		n.part.leave(offline)
		m.env.log.Error("a replica is offline: its topic's name cannot be that of a folder", "partition", n.part.id.TopicPartition().String(), "error", err)
		return true
	}
	assigned, _ := n.reg.Directory(m.env.self)
	d := m.place(assigned)
	if n.mayExist || d == nil {
		n.part.leave(offline)
		return false
	}
	r := *n.part.role.Load()
	r.dir = d
	n.part.role.Store(&r)
	d.add(n.part)
	return true
}

// create makes the folder and the log of a replica that has its directory. Where
// there is no space the partition waits for it.
func (m *Manager) create(p *Partition) {
	d := p.role.Load().dir
	if d == nil {
		return
	}
	folder := filepath.Join(d.path, logdir.Name(p.id.TopicPartition()))
	err := d.makeFolder(folder, p.id.ID)
	if err == nil {
		err = d.open(p, commitlog.Options{Clean: true}, 0)
	}
	if vfs.IsFull(err) {
		d.await(waiting{part: p, fresh: true}, "create", err)
	} else if err != nil {
		d.fail("create", p.id.TopicPartition(), err)
	}
}

func (d *Dir) makeFolder(folder string, id kafka.UUID) error {
	if err := d.fs.MkdirAll(folder); err != nil {
		return err
	}
	return commitlog.WritePartitionMetadata(d.fs, folder, id)
}

// place chooses the directory of a new replica: the one that the metadata names,
// or else the one with the fewest replicas, if possible one that is not cordoned.
func (m *Manager) place(assigned kafka.UUID) *Dir {
	var best *Dir
	var least [2]int
	for _, d := range m.dirs {
		if !d.Online() {
			continue
		}
		if d.id == assigned {
			return d
		}
		rank := [2]int{0, d.count()}
		if m.cordoned(d) {
			rank[0] = 1
		}
		if best == nil || slices.Compare(rank[:], least[:]) < 0 {
			best, least = d, rank
		}
	}
	return best
}

// cordoned says whether the directory takes no new replicas by its own choice.
func (m *Manager) cordoned(d *Dir) bool {
	return slices.ContainsFunc(m.config().Node.CordonedLogDirs, func(c string) bool { return c == "*" || filepath.Clean(c) == filepath.Clean(d.path) })
}

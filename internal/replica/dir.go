package replica

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/storage/commitlog"
	"barnabas/internal/storage/logdir"
)

// flushesAtOnce bounds the syncs under way in one log directory. It is below the
// directory's gate, so that reads get through while the disk syncs.
const flushesAtOnce = 32

// Dir is one log directory.
type Dir struct {
	path string
	id   kafka.UUID
	// metadata says that the metadata log lies in it, too.
	metadata bool
	fs       vfs.FS
	m        *Manager
	logs     *commitlog.Env
	flushes  *executor
	clean    logdir.CleanShutdown // how the last node left it
	found    []logdir.Folder      // at the start
	points   checkpoints          // read at the start, until every log is open; cleaner stays, guarded by mu

	// What retention has done since the start, when it looks next, and when the
	// next segment is due by its age (timestamps; 0: never).
	deletedSegments, deletedBytes atomic.Int64
	nextCheck, nextDue            atomic.Int64

	fullLogged atomic.Int64 // when a lack of space was last logged, in ms

	failed    atomic.Bool
	unkept    atomic.Bool // a stop could not write all for lack of space
	highMoved atomic.Bool // a high watermark moved since the last checkpoint

	mu         sync.Mutex
	partitions map[*Partition]struct{} // guarded by mu
	unopened   int                     // logs of the start that are not open yet; guarded by mu
	deletions  []deletion              // guarded by mu
	// startWaits are told when the log starts have been written; one task does
	// that as long as keepingStarts. Guarded by mu.
	startWaits    []func(error)
	keepingStarts bool
	// waiting are replicas that have no log for lack of space; atWork is the one of
	// them that is being tried, until workDone closes. Guarded by mu.
	waiting  []waiting
	atWork   *Partition
	workDone chan struct{}

	cleanedMoved bool // points.cleaner is not what its file says; guarded by mu

	// checkpointMu keeps two from writing one checkpoint file. It is held across
	// the write, and only background goroutines take it.
	checkpointMu sync.Mutex
	// logsClosed says that logs are being closed, which then write the last
	// checkpoint of log starts; guarded by checkpointMu.
	logsClosed bool
}

// checkpoints are offsets that were written by the last node.
type checkpoints struct {
	recovery, logStart, high, cleaner map[kafka.TopicPartition]kafka.Offset
}

// deletion is a folder, or files of a log, to be removed.
type deletion struct {
	folder string // "" if it is files
	files  commitlog.Garbage
	at     time.Time
}

// Path is where the directory lies.
func (d *Dir) Path() string { return d.path }

// ID is the directory's id in the metadata.
func (d *Dir) ID() kafka.UUID { return d.id }

// Online says whether the directory works.
func (d *Dir) Online() bool { return !d.failed.Load() }

// start reads a directory that works. An error of the disk takes it offline; the error
// is why the node cannot start without it.
func (d *Dir) start() error {
	if !d.Online() {
		return nil
	}
	err := d.read()
	switch {
	case err == nil:
		return nil
	case d.metadata || vfs.IsFull(err) || errors.As(err, new(*logdir.NameError)):
		return fmt.Errorf("log directory %s: %w", d.path, err)
	}
	d.failed.Store(true)
	d.tellFailed("read it", kafka.TopicPartition{}, err)
	d.found, d.points, d.clean = nil, checkpoints{}, logdir.CleanShutdown{BrokerEpoch: kafka.NoBrokerEpoch}
	if !d.m.anyOnline() {
		return lastFailed(d, err)
	}
	return nil
}

// read reads what the last node left: folders, checkpoints and the mark of a
// clean shutdown, which is removed.
func (d *Dir) read() (err error) {
	if err := logdir.CreateCheckpoints(d.fs, d.path); err != nil {
		return err
	}
	if d.found, err = logdir.Scan(d.fs, d.path); err != nil {
		return err
	}
	for c, to := range map[logdir.Checkpoint]*map[kafka.TopicPartition]kafka.Offset{
		logdir.RecoveryPoints:  &d.points.recovery,
		logdir.LogStartOffsets: &d.points.logStart,
		logdir.HighWatermarks:  &d.points.high,
		logdir.CleanerOffsets:  &d.points.cleaner,
	} {
		if *to, err = d.readCheckpoint(c); err != nil {
			return err
		}
	}
	d.clean, err = logdir.TakeCleanShutdown(d.fs, d.path)
	return err
}

// readCheckpoint gives no offsets where the file makes no sense: recovery then
// scans more, and a leader's high watermark comes back by itself.
func (d *Dir) readCheckpoint(c logdir.Checkpoint) (map[kafka.TopicPartition]kafka.Offset, error) {
	offsets, err := logdir.ReadCheckpoint(d.fs, d.path, c)
	if errors.As(err, new(*logdir.CheckpointError)) {
		d.m.env.log.Warn("a checkpoint makes no sense; going on as if it were empty", "dir", d.path, "file", string(c), "error", err)
		return nil, nil
	}
	return offsets, err
}

func (d *Dir) add(p *Partition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.partitions[p] = struct{}{}
}

func (d *Dir) remove(p *Partition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.partitions, p)
}

// list gives the partitions as they are now.
func (d *Dir) list() []*Partition {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*Partition, 0, len(d.partitions))
	for p := range d.partitions {
		out = append(out, p)
	}
	return out
}

func (d *Dir) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.partitions)
}

// fail takes the directory out of service after an error of the disk: whatever
// was on its way there can no longer be trusted to arrive. It is called without
// locks; the first call counts.
func (d *Dir) fail(doing string, tp kafka.TopicPartition, err error) {
	if d.failed.Swap(true) {
		return
	}
	d.tellFailed(doing, tp, err)
	for _, p := range d.list() {
		if log := p.leave(offline); log != nil {
			p.mu.Lock()
			log.Abandon()
			p.mu.Unlock()
		}
	}
	d.m.directoryFailed(d, err)
}

func (d *Dir) tellFailed(doing string, tp kafka.TopicPartition, err error) {
	about := []any{"dir", d.path, "while", doing, "error", err}
	if tp.Topic != "" {
		about = append(about, "partition", tp.String())
	}
	d.m.env.log.Error("a log directory has failed and is offline until the next start", about...)
}

// retire renames a replica's folder, which is to be deleted or kept as a stray,
// and gives its new name.
func (d *Dir) retire(tp kafka.TopicPartition, kind logdir.Kind) (name string, err error) {
	name = logdir.Mark(tp, kind, d.m.env.drawUUID())
	if err := d.fs.Rename(filepath.Join(d.path, logdir.Name(tp)), filepath.Join(d.path, name)); err != nil {
		return "", err
	}
	return name, d.fs.SyncDir(d.path)
}

// deleteLater lets something be removed when its time has come.
func (d *Dir) deleteLater(x ...deletion) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deletions = append(d.deletions, x...)
}

// removeDue removes the folders and files whose time has come.
func (d *Dir) removeDue(now time.Time) error {
	d.mu.Lock()
	var due []deletion
	rest := d.deletions[:0]
	for _, x := range d.deletions {
		if x.at.After(now) {
			rest = append(rest, x)
		} else {
			due = append(due, x)
		}
	}
	clear(d.deletions[len(rest):])
	d.deletions = rest
	d.mu.Unlock()
	for i, x := range due {
		if err := d.removeNow(x); err != nil {
			d.deleteLater(due[i:]...)
			return err
		}
	}
	return nil
}

func (d *Dir) removeNow(x deletion) error {
	if x.folder == "" {
		if err := x.files.Remove(d.fs); err != nil {
			return fmt.Errorf("remove files of deleted segments: %w", err)
		}
		return nil
	}
	if err := vfs.RemoveAll(d.fs, filepath.Join(d.path, x.folder)); err != nil {
		return fmt.Errorf("remove %s: %w", x.folder, err)
	}
	d.m.env.log.Info("deleted a replica's folder", "dir", d.path, "folder", x.folder)
	return nil
}

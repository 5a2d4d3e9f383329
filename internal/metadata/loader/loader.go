package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// maxPending is how many deltas wait before they become one. Merging now and then costs
// the feeder little, and images in between are not kept.
const maxPending = 128

// Publisher is told of each image. Publish must not wait for something that only a
// later image brings.
type Publisher struct {
	Name    string
	Publish func(*image.Delta)
}

// Options make a Loader.
type Options struct {
	// Publishers are called in this order.
	Publishers []Publisher
	// CaughtUp says whether everything below next is all that is known to be
	// committed. It is called by the feeder until it has said yes once.
	CaughtUp func(next kafka.Offset) bool

	// CreateSnapshot begins a snapshot of an image at that position. A nil writer
	// and no error say that there is one already. Without it none are made.
	CreateSnapshot func(image.Position) (SnapshotWriter, error)
	// SnapshotBytes is how many bytes of log make a snapshot due
	// (metadata.log.max.record.bytes.between.snapshots), and SnapshotAge how much
	// time; 0 means that time does not (metadata.log.max.snapshot.interval.ms).
	SnapshotBytes int64
	SnapshotAge   time.Duration

	Now    func() time.Time
	Logger *slog.Logger
}

// Loader is the owner of the metadata image. Apply and LoadSnapshot belong to the
// feeder; Image and Loaded may be called by anyone.
type Loader struct {
	opts Options

	// owned by the feeder
	stream   *image.Stream
	caughtUp bool

	failing bool // the last snapshot failed; owned by who calls WriteSnapshot

	loaded atomic.Pointer[image.Image]
	shown  atomic.Pointer[image.Image]

	mu        sync.Mutex
	pending   []*image.Delta // guarded by mu; what publishers were not given yet
	bytes     int64          // guarded by mu; of log since the last snapshot
	since     time.Time      // guarded by mu; of the last snapshot
	due       *image.Image   // guarded by mu; to be made a snapshot of
	dueReason string         // guarded by mu
	writing   bool           // guarded by mu; a snapshot is being written

	wakePublish  chan struct{}
	wakeSnapshot chan struct{}
	cancel       context.CancelFunc // nil: not started
	tasks        sync.WaitGroup
}

// New returns a loader that has seen nothing of the log.
func New(opts Options) *Loader {
	empty := image.Empty()
	l := &Loader{
		opts:         opts,
		stream:       image.NewStream(empty),
		since:        opts.Now(),
		wakePublish:  make(chan struct{}, 1),
		wakeSnapshot: make(chan struct{}, 1),
	}
	l.loaded.Store(empty)
	l.shown.Store(empty)
	return l
}

// Image is the last image that all publishers were given; an empty one before that.
func (l *Loader) Image() *image.Image { return l.shown.Load() }

// Loaded is the image of all that was applied, be it published or not. What belongs to
// an open metadata transaction is left out.
func (l *Loader) Loaded() *image.Image { return l.loaded.Load() }

// InTransaction says whether the log ends inside a metadata transaction, so far. It is
// for the feeder.
func (l *Loader) InTransaction() bool { return l.stream.InTransaction() }

// Apply loads the next committed batches of the log, control batches included. An
// error means that the node cannot follow the log: it must stop, and the loader must
// not be used any more.
func (l *Loader) Apply(batches []record.Batch) error {
	decoded := make([]image.Batch, len(batches))
	size := int64(0)
	for i, raw := range batches {
		b, err := decode(raw)
		if err != nil {
			return err
		}
		decoded[i] = b
		size += int64(raw.Size())
	}
	deltas, err := l.stream.Apply(decoded...)
	if err != nil {
		return err
	}
	l.countBytes(size)
	for _, d := range deltas {
		l.take(d.New, func() *image.Delta { return d })
	}
	return nil
}

// decode reads the records of a batch. Control records are the quorum's affair.
func decode(raw record.Batch) (image.Batch, error) {
	b := image.Batch{BaseOffset: raw.BaseOffset(), LastOffset: raw.LastOffset(), Epoch: raw.LeaderEpoch(), Timestamp: raw.MaxTimestamp()}
	if raw.IsControl() {
		return b, nil
	}
	b.Records = make([]metarec.Message, 0, raw.Count())
	var it record.Iterator
	defer it.Close()
	for it.Reset(raw); it.Next(); {
		m, _, err := metarec.Decode(it.Record().Value)
		if err != nil {
			return b, fmt.Errorf("metadata record at offset %d: %w", it.Record().Offset, err)
		}
		b.Records = append(b.Records, m)
	}
	if err := it.Err(); err != nil {
		return b, fmt.Errorf("metadata batch at offset %d: %w", b.BaseOffset, err)
	}
	return b, nil
}

// SnapshotReader gives the batches of a snapshot, then io.EOF.
type SnapshotReader interface {
	Next() (record.Batch, error)
	LastContainedLogTimestamp() kafka.TimestampMs
}

// LoadSnapshot replaces all that was loaded by the snapshot of the log below end,
// whose last record is of that epoch. An error means what it means for Apply.
func (l *Loader) LoadSnapshot(end kafka.Offset, epoch kafka.LeaderEpoch, r SnapshotReader) error {
	b := image.NewBuilder(image.Empty())
	for {
		raw, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("snapshot %d-%d: %w", end, epoch, err)
		}
		if err := replayAll(b, raw); err != nil {
			return fmt.Errorf("snapshot %d-%d: %w", end, epoch, err)
		}
	}
	img, _ := b.Build(image.Position{Offset: end - 1, Epoch: epoch, Timestamp: r.LastContainedLogTimestamp(), Aligned: true})
	l.opts.Logger.Info("metadata snapshot loaded", "end_offset", int64(end), "epoch", int32(epoch),
		"topics", img.Topics.Len(), "partitions", img.Topics.Partitions(), "brokers", img.Cluster.Brokers.Len())
	l.stream = image.NewStream(img)
	l.resetCounters()
	old := l.loaded.Load()
	l.take(img, func() *image.Delta { return image.Diff(old, img) })
	return nil
}

func replayAll(b *image.Builder, raw record.Batch) error {
	decoded, err := decode(raw)
	if err != nil {
		return err
	}
	for i, m := range decoded.Records {
		if err := b.Replay(m); err != nil {
			return fmt.Errorf("record %d: %w", decoded.BaseOffset+kafka.Offset(i), err)
		}
	}
	return nil
}

// take notes what was loaded and hands its delta to the publishing side; but until the
// image is caught up there is nothing to publish.
func (l *Loader) take(img *image.Image, delta func() *image.Delta) {
	l.loaded.Store(img)
	if !l.caughtUp {
		if img.Features.MetadataVersion == 0 || !l.opts.CaughtUp(img.Position.Offset+1) {
			return
		}
		l.caughtUp = true
		l.opts.Logger.Info("metadata log loaded", "offset", int64(img.Position.Offset),
			"metadata_version", img.Features.MetadataVersion.String())
		delta = func() *image.Delta { return image.Diff(image.Empty(), img) }
	}
	d := delta()
	l.mu.Lock()
	l.pending = append(l.pending, d)
	if len(l.pending) == maxPending {
		l.pending = []*image.Delta{image.Merge(l.pending...)}
	}
	l.mu.Unlock()
	signal(l.wakePublish)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one is waiting already
	}
}

package quorum

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/raft"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// Options say which node this is and where its metadata log lies.
type Options struct {
	FS  vfs.FS
	Dir string // metadata.log.dir; the log is the folder __cluster_metadata-0 in it

	NodeID      kafka.BrokerID
	DirectoryID kafka.UUID      // directory.id of Dir
	Endpoints   []raft.Endpoint // the controller listeners, as others reach them
	// StaticVoters is controller.quorum.voters. It counts until the log or a
	// snapshot holds a voter set.
	StaticVoters raft.VoterSet

	SegmentBytes int           // metadata.log.segment.bytes
	SegmentAge   time.Duration // metadata.log.segment.ms
	// MaxRetentionBytes and MaxRetention are metadata.max.retention.bytes and .ms:
	// beyond them old snapshots, and the log below the oldest that is left, go.
	// Negative is no limit.
	MaxRetentionBytes int64
	MaxRetention      time.Duration

	Now func() time.Time
	// Fatal is called once, from the loop, when the metadata log cannot be written
	// or the listener fails. The node must stop; Fatal must not call Close itself.
	Fatal  func(error)
	Logger *slog.Logger
}

// Listener follows the metadata log. Its methods are called by the loop, one at a
// time and in order; while one runs, nothing is written or committed, so that what
// takes long belongs on a goroutine of the listener's own. An error is fatal for
// the node.
type Listener interface {
	// LoadSnapshot replaces all that the listener knows by the snapshot. The
	// reader is closed when the call returns.
	LoadSnapshot(*SnapshotReader) error
	// Committed gives the next batches, control batches included. They may be kept
	// and must not be changed.
	Committed([]record.Batch) error
	// LeaderChanged tells of a leader. When it is this node, the listener has
	// been given everything below NextOffset.
	LeaderChanged(LeaderChange)
	// CutBack tells the leader that the disk is full: nothing that was appended at
	// NextOffset and above is in the log, nor will it be. The listener has been
	// given everything below.
	CutBack(LeaderChange)
}

// LeaderChange says who leads an epoch.
type LeaderChange struct {
	Epoch    kafka.LeaderEpoch
	LeaderID kafka.BrokerID // kafka.NoBroker: nobody, the leader resigned
	IsLeader bool           // this node leads
	// NextOffset is the offset of the next record, meant if IsLeader.
	NextOffset kafka.Offset
}

// Errors of Append.
var (
	// ErrNotLeader: this node does not lead, or no longer in that epoch.
	ErrNotLeader = errors.New("not the leader of the metadata quorum")
	// ErrTooLarge: the records do not fit in one batch.
	ErrTooLarge = errors.New("too many records for one metadata batch")
	// ErrBusy: too much is waiting to be written; nothing was appended.
	ErrBusy = errors.New("the metadata log cannot keep up")
	// ErrFull: the disk of the metadata log was full a moment ago, or what was appended
	// before could not be written; nothing was appended.
	ErrFull = errors.New("the disk of the metadata log is full")
	// ErrStopped: the quorum is closed or has failed.
	ErrStopped = errors.New("the metadata quorum has stopped")
)

// Atomicity says whether the records of one Append may be divided.
type Atomicity bool

// The values of Atomicity.
const (
	// Atomic: all records are in one batch, so that all or none survive.
	Atomic Atomicity = true
	// Divisible: the records may be written as several batches.
	Divisible Atomicity = false
)

// Limits of one batch.
const (
	MaxBatchBytes   = 8 << 20
	MaxBatchRecords = 10_000
)

// Status is a view of the quorum, for DescribeQuorum and metrics.
type Status struct {
	Role          raft.Role
	Epoch         kafka.LeaderEpoch
	LeaderID      kafka.BrokerID
	LogStart      kafka.Offset
	LogEnd        kafka.Offset // end of what is appended, flushed or not
	HighWatermark kafka.Offset // kafka.NoOffset: unknown
	KRaftVersion  int16
	Voters        raft.VoterSet
}

// maxPending bounds the bytes that wait to be written.
const maxPending = 64 << 20

// Quorum is this node's replica of the metadata log. All methods but Start and
// Close may be called from any goroutine, also from the listener's calls.
type Quorum struct {
	opts Options
	dir  string
	cut  []string // written by Open only

	// Owned by the loop, after Open.
	log       *commitlog.Log // its Snapshot may be taken by anyone
	machine   *raft.Machine
	listener  Listener
	delivered kafka.Offset  // what the listener has; NoOffset: nothing yet
	change    *LeaderChange // to be told when the listener has caught up

	mu            sync.Mutex // guards all below
	pending       []record.Batch
	pendingBytes  int
	next          kafka.Offset // of the next record
	role          raft.Role
	epoch         kafka.LeaderEpoch
	leaderID      kafka.BrokerID
	highWatermark kafka.Offset
	history       history
	snapshots     *snapshotSet
	cleanDue      bool  // snapshots and log are to be held against retention
	space         space // what the disk had when it was last written
	// retryAt is when, without space, the next try is due.
	retryAt   time.Time
	reserving bool  // the loop is to try to reserve space
	stopped   error // why nothing is appended any more

	wake    chan struct{}
	closing chan struct{}
	closed  sync.Once
	done    chan struct{}
	// closeErr is written before done is closed.
	closeErr error
}

// Append puts framed metadata records at the end of the log and returns the offset
// of the last one. It does not wait for the disk: the records are committed when
// the listener is given them. All that is appended while an fsync runs is written
// and synced together after it; when nothing runs, an append is written at once.
//
// The frames are copied. An error means that nothing was appended.
func (q *Quorum) Append(epoch kafka.LeaderEpoch, frames [][]byte, how Atomicity) (kafka.Offset, error) {
	return q.AppendRecords(Records{Epoch: epoch, At: kafka.NoOffset, Frames: frames, How: how})
}

// Records are what is to be appended.
type Records struct {
	Epoch kafka.LeaderEpoch
	// At is the offset for which they were decided, or NoOffset. If it is not the next
	// one, the log was cut back on a full disk, of which the listener is about to be
	// told, and the error is ErrFull.
	At     kafka.Offset
	Frames [][]byte
	How    Atomicity
	// Growing says that they are not taken when the disk is full. Others are, as long
	// as what was reserved for them lasts: a disk gets space by deletions.
	Growing bool
}

// AppendRecords is Append with more to say.
func (q *Quorum) AppendRecords(r Records) (kafka.Offset, error) {
	epoch, frames, how := r.Epoch, r.Frames, r.How
	if len(frames) == 0 {
		return kafka.NoOffset, errors.New("append of no records to the metadata log")
	}
	batches, err := dataBatches(frames, how, record.BatchOptions{LeaderEpoch: epoch}, q.opts.nowMs())
	if err != nil {
		return kafka.NoOffset, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.stopped != nil:
		return kafka.NoOffset, q.stopped
	case q.role != raft.Leader || epoch != q.epoch:
		return kafka.NoOffset, fmt.Errorf("%w in epoch %d", ErrNotLeader, epoch)
	case q.pendingBytes >= maxPending:
		return kafka.NoOffset, ErrBusy
	case r.At > q.next || q.space != enough && q.refuseLocked(r.Growing):
		return kafka.NoOffset, ErrFull
	}
	for _, b := range batches {
		b.SetBaseOffset(q.next)
		q.next = b.NextOffset()
		q.pendingBytes += b.Size()
	}
	q.pending = append(q.pending, batches...)
	q.signal()
	return q.next - 1, nil
}

// signal wakes the loop.
func (q *Quorum) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Status is a view of the quorum now.
func (q *Quorum) Status() Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	voters, _ := q.history.voterSet()
	return Status{
		Role: q.role, Epoch: q.epoch, LeaderID: q.leaderID,
		LogStart: q.log.Snapshot().LogStart(), LogEnd: q.next, HighWatermark: q.highWatermark,
		KRaftVersion: q.history.kraftVersion(), Voters: voters,
	}
}

package quorum

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/raft"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// Names in the folder of the metadata log.
const (
	folderName             = "__cluster_metadata-0"
	metadataIndexBytes     = 10 << 20
	metadataIndexInterval  = 4096
	openSegmentDescriptors = 16
	readChunk              = 1 << 20
)

// Open recovers the metadata log in o.Dir, which it creates if it is not there,
// and checks that this node can lead it. Nothing is written by others meanwhile:
// the caller holds the lock of the directory.
func Open(o Options) (*Quorum, error) {
	q := &Quorum{
		opts:    o,
		dir:     filepath.Join(o.Dir, folderName),
		wake:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	if err := q.open(); err != nil {
		if q.log != nil {
			q.log.Abandon()
		}
		return nil, fmt.Errorf("metadata log %s: %w", q.dir, err)
	}
	return q, nil
}

func (q *Quorum) open() error {
	o := q.opts
	if err := makeDir(o.FS, q.dir); err != nil {
		return err
	}
	snapshots, err := scanSnapshots(o.FS, q.dir)
	if err != nil {
		return err
	}
	q.snapshots = snapshots
	if err := q.openLog(); err != nil {
		return err
	}
	if err := q.matchSnapshots(); err != nil {
		return err
	}
	if err := q.nameTopic(); err != nil {
		return err
	}
	if err := q.learn(); err != nil {
		return err
	}
	return q.makeMachine()
}

// openLog recovers the log. Apache Kafka scans this log at every start, however it
// was closed, and so do we: its recovery point is kept nowhere.
func (q *Quorum) openLog() error {
	config := commitlog.DefaultConfig()
	config.SegmentBytes = q.opts.SegmentBytes
	config.SegmentMs = q.opts.SegmentAge.Milliseconds()
	config.IndexBytes = metadataIndexBytes
	config.IndexIntervalBytes = metadataIndexInterval
	config.ReserveAhead = reserve
	closeFailed := func(err error) { q.opts.Logger.Error("closing a segment of the metadata log failed", "error", err) }
	log, report, err := commitlog.Open(commitlog.Options{
		Env:    &commitlog.Env{FS: q.opts.FS, Files: vfs.NewCache(openSegmentDescriptors, closeFailed)},
		Dir:    q.dir,
		Config: config,
		Now:    q.opts.Now().UnixMilli(),
	})
	if err != nil {
		return err
	}
	q.log = log
	q.tell(report)
	return q.findCuts(report)
}

// tell logs what recovery has found.
func (q *Quorum) tell(report commitlog.OpenReport) {
	for _, cut := range report.Cuts {
		say := q.opts.Logger.Warn
		if len(cut.Kept) > 0 {
			say = q.opts.Logger.Error
		}
		say("the end of the metadata log was cut off", "offset", cut.Offset, "bytes", cut.Bytes, "reason", cut.Reason, "kept", cut.Kept)
	}
	for _, d := range report.Damages {
		q.opts.Logger.Error("records of the metadata log cannot be read", "segment", d.Segment, "first_lost", d.FirstLost, "last_lost", d.LastLost, "reason", d.Reason)
	}
	if report.BadEpochs != nil {
		q.opts.Logger.Warn("leader-epoch-checkpoint of the metadata log was made anew from the batches", "reason", report.BadEpochs)
	}
}

// findCuts notes where bytes were cut off, by this recovery or, as the files that it
// has kept show, by an earlier one.
func (q *Quorum) findCuts(report commitlog.OpenReport) error {
	for _, cut := range report.Cuts {
		q.cut = append(q.cut, fmt.Sprintf("at offset %d (%s)", cut.Offset, cut.Reason))
	}
	if len(q.cut) > 0 {
		return nil
	}
	entries, err := q.opts.FS.ReadDir(q.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name, commitlog.CutSuffix) {
			q.cut = append(q.cut, "see "+filepath.Join(q.dir, e.Name))
		}
	}
	return nil
}

// Cuts says where bytes were cut off the end of the log, "" for none. What was cut may
// have been committed: only the rest of the node can tell, by what it finds on its
// disks.
func (q *Quorum) Cuts() string { return strings.Join(q.cut, ", ") }

// matchSnapshots brings log and snapshots together after a crash: a snapshot from
// elsewhere may be ahead of the log, and old ones may be left below its start.
func (q *Quorum) matchSnapshots() error {
	latest, ok := q.snapshots.latest()
	if ok && q.aheadOfLog(latest) {
		garbage, err := q.log.TruncateFullyAndStartAt(latest.EndOffset, q.opts.nowMs())
		if err != nil {
			return err
		}
		if err := q.discard(garbage); err != nil {
			return err
		}
	}
	start := q.log.LogStart()
	if start > 0 && (!ok || latest.EndOffset < start) {
		return fmt.Errorf("it starts at offset %d, but no snapshot reaches that far: what lies below is lost", start)
	}
	return q.snapshots.remove(q.snapshots.dropBelow(start))
}

func (q *Quorum) aheadOfLog(id SnapshotID) bool {
	epoch := q.log.LatestEpoch()
	return id.Epoch > epoch || id.Epoch == epoch && id.EndOffset > q.log.LogEnd()
}

// nameTopic writes the file that names the topic, unless it is there.
func (q *Quorum) nameTopic() error {
	id, found, err := commitlog.ReadPartitionMetadata(q.opts.FS, q.dir)
	switch {
	case err != nil:
		return err
	case !found:
		return commitlog.WritePartitionMetadata(q.opts.FS, q.dir, kafka.MetadataTopicID)
	case id != kafka.MetadataTopicID:
		return fmt.Errorf("partition.metadata names the topic id %s, not that of the metadata log, %s", id, kafka.MetadataTopicID)
	}
	return nil
}

// learn collects what the latest snapshot and the log behind it say of
// kraft.version and the voters.
func (q *Quorum) learn() error {
	q.history = history{static: q.opts.StaticVoters}
	from := q.log.LogStart()
	if n := len(q.snapshots.ids); n > 0 {
		id := q.snapshots.ids[n-1]
		if err := q.snapshots.withSnapshot(id, q.history.learnSnapshot); err != nil {
			return err
		}
		from = id.EndOffset
	}
	if from > q.log.LogEnd() {
		return fmt.Errorf("it ends at offset %d, below its latest snapshot's end %d", q.log.LogEnd(), from)
	}
	end, err := q.readLog(from, q.log.LogEnd(), func(batches []record.Batch) error {
		for _, b := range batches {
			if err := q.history.learnBatch(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return q.cutHole(end)
}

// cutHole takes off the hole that a power cut leaves at the end when it strikes
// between a roll and the next sync: the new segment's name has survived, the last
// records before it have not. They were not committed, and no record may be there
// that the log only claims to hold.
func (q *Quorum) cutHole(end kafka.Offset) error {
	if end == q.log.LogEnd() {
		return nil
	}
	q.opts.Logger.Warn("the end of the metadata log was cut off", "offset", end, "reason", "records that were not committed are missing before a new segment")
	garbage, err := q.log.TruncateTo(end, q.opts.nowMs())
	if err != nil {
		return err
	}
	return q.discard(garbage)
}

func (q *Quorum) makeMachine() error {
	election, err := readElection(q.opts.FS, q.electionPath())
	if err != nil {
		return err
	}
	voters, at := q.history.voterSet()
	lastEpoch := max(q.log.LatestEpoch(), 0)
	if latest, ok := q.snapshots.latest(); ok {
		lastEpoch = max(lastEpoch, latest.Epoch)
	}
	q.machine, err = raft.New(raft.Config{
		Self: raft.Voter{
			ReplicaKey:      raft.ReplicaKey{ID: q.opts.NodeID, Directory: q.opts.DirectoryID},
			Endpoints:       q.opts.Endpoints,
			MinKRaftVersion: raft.KRaftVersion0,
			MaxKRaftVersion: raft.KRaftVersion1,
		},
		KRaftVersion: q.history.kraftVersion(),
		Voters:       voters,
		VotersOffset: at,
		Election:     election,
		LogEnd:       q.log.LogEnd(),
		LastEpoch:    lastEpoch,
	})
	if err != nil {
		return err
	}
	q.next = q.log.LogEnd()
	q.highWatermark = kafka.NoOffset
	q.epoch = election.Epoch
	q.leaderID = kafka.NoBroker
	q.delivered = kafka.NoOffset
	q.cleanDue = true
	q.opts.Logger.Info("metadata log opened", "dir", q.dir, "start", q.log.LogStart(), "end", q.log.LogEnd(),
		"epoch", lastEpoch, "kraft_version", q.history.kraftVersion(), "voters", voters.String())
	return nil
}

func (q *Quorum) electionPath() string { return filepath.Join(q.dir, electionFileName) }

// readLog reads [from, upTo) of the log, from the start of a batch, and gives the
// batches in portions. They are in memory of their own. It returns the end of the
// last batch. Holes between batches are passed over: logs of Apache Kafka may have
// some where records that were not committed got lost (see cutHole).
func (q *Quorum) readLog(from, upTo kafka.Offset, use func([]record.Batch) error) (kafka.Offset, error) {
	for from < upTo {
		raw, err := q.readPortion(from, upTo)
		if err != nil {
			return from, err
		}
		batches, err := splitBatches(raw, upTo)
		if err != nil {
			return from, fmt.Errorf("offset %d: %w", from, err)
		}
		if len(batches) == 0 {
			return from, nil
		}
		if batches[0].BaseOffset() < from {
			return from, fmt.Errorf("offset %d is inside the batch that begins at %d", from, batches[0].BaseOffset())
		}
		from = batches[len(batches)-1].NextOffset()
		if err := use(batches); err != nil {
			return from, err
		}
	}
	return from, nil
}

func (q *Quorum) readPortion(from, upTo kafka.Offset) ([]byte, error) {
	slice, err := q.log.Snapshot().Read(commitlog.ReadRequest{From: from, UpTo: upTo, MaxBytes: readChunk, WholeFirst: true})
	if err != nil {
		return nil, err
	}
	defer slice.Release()
	raw := make([]byte, slice.Length)
	if slice.Length == 0 {
		return raw, nil
	}
	if _, err := slice.File.ReadAt(raw, slice.Position); err != nil {
		return nil, err
	}
	return raw, nil
}

// splitBatches divides raw into batches below upTo. A batch that is cut off at the
// end is left out.
func splitBatches(raw []byte, upTo kafka.Offset) ([]record.Batch, error) {
	var out []record.Batch
	for len(raw) > 0 {
		b, rest, err := record.Next(raw)
		if errors.Is(err, record.ErrShort) || err == nil && b.BaseOffset() >= upTo {
			break
		}
		if err != nil {
			return nil, err
		}
		out, raw = append(out, b), rest
	}
	return out, nil
}

// discard removes files that the log no longer knows. Nobody reads the metadata
// log but this package, and whoever has a file open keeps it.
func (q *Quorum) discard(g commitlog.Garbage) error { return g.Remove(q.opts.FS) }

// retention is what the options say of it.
func (o *Options) retention() retention {
	return retention{bytes: o.MaxRetentionBytes, age: o.MaxRetention}
}

// nowMs is the wall clock as record timestamps have it.
func (o *Options) nowMs() kafka.TimestampMs { return o.Now().UnixMilli() }

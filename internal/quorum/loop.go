package quorum

import (
	"errors"
	"fmt"
	"slices"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/raft"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// Start stands for election and starts the loop, which alone calls the listener.
func (q *Quorum) Start(l Listener) {
	q.listener = l
	go q.run()
}

// Close writes and commits what was appended, gives the leadership up and closes
// the log. It waits for the loop. After a failure it writes nothing more.
func (q *Quorum) Close() error {
	q.closed.Do(func() {
		close(q.closing)
		if q.listener == nil {
			q.closeErr = q.log.Close()
			close(q.done)
		}
	})
	<-q.done
	return q.closeErr
}

// run is the loop: it owns the log and the machine.
func (q *Quorum) run() {
	defer close(q.done)
	err := q.begin()
	for err == nil {
		select {
		case <-q.wake:
			err = q.step()
		case <-q.closing:
			if err = q.end(); err == nil {
				return
			}
		}
	}
	q.fail(err)
	<-q.closing
}

// begin stands for election. With a sole voter the node leads afterwards, and the
// listener has everything that was committed before.
func (q *Quorum) begin() error {
	if err := q.apply(q.machine.Start()); err != nil {
		return err
	}
	if err := q.flush(); err != nil {
		return err
	}
	return q.afterCommit(nil)
}

// step does what has come up: it writes all that is pending as one, once. What a
// full disk does not take is cut off.
func (q *Quorum) step() error {
	batches, reserving := q.takePending()
	if reserving {
		if err := q.log.Reserve(); err != nil {
			return err
		}
	}
	written, lack := q.write(batches)
	if lack != nil && !(vfs.IsFull(lack) && q.log.Usable()) {
		return lack
	}
	if len(written) > 0 {
		if err := q.flush(); err != nil {
			return err
		}
	}
	if err := q.afterCommit(written); err != nil {
		return err
	}
	if lack != nil {
		q.cutBack(lack)
	} else if len(batches) > 0 || reserving {
		q.look()
	}
	return nil
}

// end is the last step: nothing is appended any more.
func (q *Quorum) end() error {
	q.mu.Lock()
	q.stopped = ErrStopped
	q.mu.Unlock()
	if err := q.step(); err != nil {
		return err
	}
	if err := q.apply(q.machine.Resign()); err != nil {
		return err
	}
	q.tellLeader()
	if q.closeErr = q.log.Close(); vfs.IsFull(q.closeErr) {
		q.opts.Logger.Warn("no space to close the metadata log: the next start recovers it, as it always does", "dir", q.dir, "error", q.closeErr)
		q.closeErr = nil
	}
	return nil
}

// fail ends the quorum: whatever is on disk stays as it is, because a write that
// failed may have left anything behind it.
func (q *Quorum) fail(err error) {
	q.mu.Lock()
	q.stopped = fmt.Errorf("%w: %w", ErrStopped, err)
	q.role, q.leaderID = raft.Unattached, kafka.NoBroker
	q.mu.Unlock()
	q.log.Abandon()
	q.closeErr = err
	q.opts.Logger.Error("the metadata log has failed; this node must stop", "dir", q.dir, "error", err)
	q.opts.Fatal(err)
}

func (q *Quorum) takePending() (batches []record.Batch, reserving bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batches, reserving = q.pending, q.reserving
	q.pending, q.pendingBytes, q.reserving = nil, 0, false
	return batches, reserving
}

// write appends batches whose offsets were given out already. With an error it gives
// those that were written all the same; the log ends behind them.
func (q *Quorum) write(batches []record.Batch) (written []record.Batch, err error) {
	if len(batches) == 0 {
		return nil, nil
	}
	epoch := q.machine.Epoch()
	first := batches[0].BaseOffset()
	if end := q.log.LogEnd(); end != first {
		panic(fmt.Sprintf("BUG: quorum: the metadata log ends at %d, but offset %d was given out next", end, first))
	}
	out := make([]commitlog.Appended, len(batches))
	if err := q.log.AppendRaft(epoch, q.opts.nowMs(), batches, out); err != nil {
		n := slices.IndexFunc(out, func(a commitlog.Appended) bool { return a.Err != kafka.ErrNone })
		return batches[:max(n, 0)], fmt.Errorf("appending at offset %d: %w", first, err)
	}
	for i, a := range out {
		if a.Err != kafka.ErrNone {
			return nil, fmt.Errorf("appending at offset %d: %w", batches[i].BaseOffset(), a.Err)
		}
	}
	return batches, nil
}

// flush makes all that is written durable, and commits it.
func (q *Quorum) flush() error {
	end := q.log.LogEnd()
	if err := q.log.Flush(end); err != nil {
		return fmt.Errorf("flushing up to offset %d: %w", end, err)
	}
	return q.apply(q.machine.Flushed(end))
}

// apply carries effects out in order.
func (q *Quorum) apply(effects []raft.Effect) error {
	for i, e := range effects {
		var err error
		switch e := e.(type) {
		case raft.Persist:
			// Of neighbours the last says it all (R1 of package raft): a sole voter
			// reaches leadership with one write instead of two or three.
			if i+1 < len(effects) {
				if _, again := effects[i+1].(raft.Persist); again {
					continue
				}
			}
			err = q.persist(e.State)
		case raft.AppendEpochStart:
			err = q.startEpoch(e)
		case raft.LeaderChanged:
			q.leaderChanged(e)
		case raft.HighWatermark:
			q.commit(e.Offset)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *Quorum) persist(s raft.ElectionState) error {
	q.mu.Lock()
	kraftVersion := q.history.kraftVersion()
	voters, _ := q.history.voterSet()
	q.mu.Unlock()
	if err := writeElection(q.opts.FS, q.electionPath(), s, kraftVersion, voters); err != nil {
		return fmt.Errorf("election state of epoch %d: %w", s.Epoch, err)
	}
	return nil
}

// startEpoch appends the first batch of this node's epoch.
func (q *Quorum) startEpoch(e raft.AppendEpochStart) error {
	records := []metarec.ControlRecord{leaderChange(e)}
	if e.WithVoters {
		records = append(records, kraftVersionRecord(e.KRaftVersion), votersRecord(e.VoterSet))
	}
	b, err := controlBatch(record.BatchOptions{BaseOffset: q.log.LogEnd(), LeaderEpoch: e.Epoch}, q.opts.nowMs(), records...)
	if err != nil {
		return err
	}
	if _, err := q.write([]record.Batch{b}); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next = b.NextOffset()
	return q.history.learnBatch(b)
}

func (q *Quorum) leaderChanged(e raft.LeaderChanged) {
	q.mu.Lock()
	q.role, q.epoch, q.leaderID = q.machine.Role(), e.Epoch, e.LeaderID
	next := q.next
	q.mu.Unlock()
	q.change = &LeaderChange{Epoch: e.Epoch, LeaderID: e.LeaderID, IsLeader: e.LeaderID == q.opts.NodeID, NextOffset: next}
	if e.LeaderID == kafka.NoBroker {
		q.opts.Logger.Info("the metadata quorum has no leader", "epoch", e.Epoch)
		return
	}
	q.opts.Logger.Info("leader of the metadata quorum", "epoch", e.Epoch, "leader", e.LeaderID)
}

func (q *Quorum) commit(hw kafka.Offset) {
	q.log.SetHighWatermark(hw)
	q.mu.Lock()
	q.highWatermark = hw
	q.mu.Unlock()
}

// afterCommit gives the listener what is committed, which with a sole voter is all
// there is, then tells it of a new leader, and does the housekeeping. written are
// the batches of this step.
func (q *Quorum) afterCommit(written []record.Batch) error {
	if err := q.deliver(written); err != nil {
		return err
	}
	q.tellLeader()
	return q.clean()
}

// deliver brings the listener up to the high watermark. Batches just written need
// not be read again.
func (q *Quorum) deliver(written []record.Batch) error {
	hw := q.machine.HighWatermark()
	if hw == kafka.NoOffset {
		return nil
	}
	if q.delivered == kafka.NoOffset {
		if err := q.loadSnapshot(); err != nil {
			return err
		}
	}
	if len(written) > 0 && written[0].BaseOffset() == q.delivered && written[len(written)-1].NextOffset() == hw {
		return q.committed(written)
	}
	_, err := q.readLog(q.delivered, hw, q.committed)
	return err
}

func (q *Quorum) committed(batches []record.Batch) error {
	if err := q.listener.Committed(batches); err != nil {
		return fmt.Errorf("committed records from offset %d: %w", batches[0].BaseOffset(), err)
	}
	q.delivered = batches[len(batches)-1].NextOffset()
	return nil
}

// loadSnapshot begins the listener's knowledge: with the latest snapshot if there
// is one, else with an empty log.
func (q *Quorum) loadSnapshot() error {
	q.mu.Lock()
	id, ok := q.snapshots.latest()
	q.mu.Unlock()
	if !ok {
		q.delivered = q.log.LogStart()
		return nil
	}
	if err := q.snapshots.withSnapshot(id, q.listener.LoadSnapshot); err != nil {
		return err
	}
	q.delivered = id.EndOffset
	return nil
}

func (q *Quorum) tellLeader() {
	if q.change != nil {
		change := *q.change
		q.change = nil
		q.listener.LeaderChanged(change)
	}
}

// clean removes snapshots that retention no longer allows, and the log below the
// oldest that is left.
func (q *Quorum) clean() error {
	q.mu.Lock()
	due := q.cleanDue
	q.cleanDue = false
	set := snapshotSet{fsys: q.snapshots.fsys, dir: q.snapshots.dir, ids: q.snapshots.ids}
	q.mu.Unlock()
	if !due {
		return nil
	}
	n, err := set.surplus(q.opts.retention(), q.log.Snapshot().Size(), q.opts.Now())
	if err != nil || n == 0 {
		return err
	}
	oldest := set.ids[n].EndOffset
	if err := q.log.IncrementLogStart(oldest); err != nil {
		return err
	}
	garbage, err := q.log.RemoveSegments(commitlog.BelowLogStart(oldest), q.opts.nowMs())
	if err != nil {
		return err
	}
	q.opts.Logger.Info("metadata log and snapshots cut to what is to be kept", "start", oldest, "snapshots", n, "files", len(garbage.Files))
	return errors.Join(q.discard(garbage), q.forget(oldest))
}

// forget drops all that lies below the start of the log.
func (q *Quorum) forget(start kafka.Offset) error {
	q.mu.Lock()
	q.history.forgetBelow(start)
	dropped := q.snapshots.dropBelow(start)
	q.mu.Unlock()
	return q.snapshots.remove(dropped)
}

package replica

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
	"barnabas/internal/replica/fetchsession"
	"barnabas/internal/storage/commitlog"
)

// fetchRead is what one look at the partitions of a fetch has found.
type fetchRead struct {
	entries []readEntry
	slots   []*slot // scratch
	bytes   int     // of all slices
	// available is what counts towards the bytes that the client waits for: also
	// what did not fit.
	available int64
	unknown   int  // entries that are refused without a partition
	final     bool // something besides enough bytes that ends the wait
}

// readEntry is one partition of it.
type readEntry struct {
	slot    *slot
	out     kmsg.FetchResponseTopicPartition
	records commitlog.Slice
	// unknown entries stand at the end of an answer, and a fetch waits though it
	// has them; any other error ends the wait.
	unknown bool
}

func (r *fetchRead) reset() {
	clear(r.entries)
	clear(r.slots)
	r.entries, r.slots = r.entries[:0], r.slots[:0]
	r.bytes, r.available, r.unknown, r.final = 0, 0, 0, false
}

// release gives back the files of a read that is not answered.
func (r *fetchRead) release() {
	for i := range r.entries {
		r.entries[i].records.Release()
		r.entries[i].records = commitlog.Slice{}
	}
}

// enough says whether the fetch is answered with this read.
func (r *fetchRead) enough(f *Fetch) bool {
	return r.final || r.available >= int64(f.minBytes) || r.unknown == f.session.Len()
}

// readDirty reads every partition of the session that may have something, in
// order, within the limits of the request.
func (m *Manager) readDirty(f *Fetch) {
	s, r := f.session, &f.read
	r.reset()
	s.Value.watcher.Take(&s.Value.pending)
	for n := range s.Value.pending.All {
		if slot := s.Slot(n); slot != nil {
			r.slots = append(r.slots, slot)
		} else {
			s.Value.pending.Remove(n)
		}
	}
	s.Sort(r.slots)
	if s.Incremental() {
		s.Value.watcher.Grow(s.Slots())
	}
	limit := f.maxBytes
	for _, slot := range r.slots {
		r.entries = append(r.entries, readEntry{slot: slot, out: newFetchPartition(slot.Index)})
		e := &r.entries[len(r.entries)-1]
		if !m.findPartition(f, e) {
			if e.unknown {
				r.unknown++
			} else {
				r.final = true
			}
			continue
		}
		if s.Incremental() {
			f.watch(slot) // before the look
		}
		done := m.readPartition(f, e, limit)
		n := int(e.records.Length)
		r.bytes += n
		limit = max(0, limit-n)
		if done && s.Incremental() && !slot.IsNews(e.told()) {
			s.Value.pending.Remove(slot.Number())
		}
	}
}

// findPartition finds the partition of an entry, or fills in why there is none.
func (m *Manager) findPartition(f *Fetch, e *readEntry) bool {
	slot := e.slot
	part := slot.Value.partition
	known := part != nil && part.role.Load().phase != stopped
	// A partition that goes while the fetch waits for it ends the wait.
	gone := part != nil && !known && f.parked != nil
	if !known {
		part = nil
		slot.Value.watch.Stop()
	}
	img := m.image.Load()
	if slot.Topic == "" && f.Request.Version >= 13 {
		topic := img.Topics.ByID(slot.ID)
		if topic == nil {
			return e.refuseUnknown(kafka.ErrUnknownTopicID)
		}
		slot.Topic = topic.Name
	}
	if !f.Caller.MayRead(f, slot.Topic) {
		return e.refuseUnknown(kafka.ErrTopicAuthorizationFailed)
	}
	if !known {
		var code kafka.ErrorCode
		part, code = m.hosted(slot.Topic, slot.Index)
		slot.Value.partition = part
		switch {
		case code == kafka.ErrUnknownTopicOrPartition && !gone:
			return e.refuseUnknown(code)
		case code != kafka.ErrNone:
			m.tellLeader(e, code)
			return e.refuse(code)
		}
	}
	if !slot.ID.IsZero() && slot.ID != part.id.ID {
		return e.refuse(kafka.ErrInconsistentTopicID)
	}
	return true
}

func (e *readEntry) refuse(code kafka.ErrorCode) bool {
	e.out.ErrorCode = int16(code)
	return false
}

func (e *readEntry) refuseUnknown(code kafka.ErrorCode) bool {
	e.unknown = true
	e.out.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	return e.refuse(code)
}

// tellLeader tells a client that came to the wrong node, or with an old leader
// epoch, who leads (KIP-951).
func (m *Manager) tellLeader(e *readEntry, code kafka.ErrorCode) {
	if code == kafka.ErrNotLeaderOrFollower || code == kafka.ErrFencedLeaderEpoch {
		leader, epoch := m.otherLeader(e.slot.Topic, e.slot.Index)
		if code == kafka.ErrFencedLeaderEpoch {
			r := e.slot.Value.partition.role.Load()
			leader, epoch = r.leaderID, r.leaderEpoch
		}
		e.out.CurrentLeader.LeaderID, e.out.CurrentLeader.LeaderEpoch = int32(leader), int32(epoch)
	}
}

// told is what the entry tells the client.
func (e *readEntry) told() fetchsession.Told {
	return fetchsession.Told{
		Code:          kafka.ErrorCode(e.out.ErrorCode),
		HighWatermark: kafka.Offset(e.out.HighWatermark),
		LogStart:      kafka.Offset(e.out.LogStartOffset),
		Records:       e.records.Length > 0,
		Diverging:     e.out.DivergingEpoch.Epoch >= 0,
	}
}

// readPartition reads one partition, at most limit bytes unless nothing else was
// read yet. It says whether there is nothing left to read there.
func (m *Manager) readPartition(f *Fetch, e *readEntry, limit int) (done bool) {
	part := e.slot.Value.partition
	r := part.role.Load()
	if code := r.forClient(e.slot.CurrentLeaderEpoch); code != kafka.ErrNone {
		f.read.final = true
		e.refuse(code)
		m.tellLeader(e, code)
		return false
	}
	for range staleLimit {
		snap := r.log.Snapshot()
		if code := e.checkOffset(snap); code != kafka.ErrNone {
			f.read.final = true
			e.refuse(code)
			return false
		}
		if e.out.DivergingEpoch.Epoch >= 0 {
			f.read.final = true
			return false
		}
		upTo := snap.HighWatermark()
		if f.isolation() == kafka.ReadCommitted {
			upTo = snap.LastStableOffset()
		}
		err := e.read(f, snap, upTo, limit)
		switch {
		case err == nil:
			return e.slot.FetchOffset >= upTo
		case errors.Is(err, commitlog.ErrStale):
			continue
		}
		f.read.final = true
		e.refuse(part.readFailed(r, err))
		return false
	}
	f.read.final = true
	e.refuse(part.role.Load().gone())
	return false
}

// staleLimit is how often a read that meets a changing log is tried again.
const staleLimit = 10

// checkOffset checks where the client wants to read, and fills in the offsets of
// the log, and the end of the client's last epoch if that diverges.
func (e *readEntry) checkOffset(snap *commitlog.Snapshot) kafka.ErrorCode {
	at := e.slot.FetchOffset
	if last := e.slot.LastFetchedEpoch; last >= 0 {
		epoch, end := snap.EndOffsetForEpoch(last)
		if epoch < 0 || end < 0 || at < snap.LogStart() {
			return kafka.ErrOffsetOutOfRange
		}
		if epoch < last || end < at {
			e.out.DivergingEpoch.Epoch, e.out.DivergingEpoch.EndOffset = int32(epoch), int64(end)
			e.setOffsets(snap)
			return kafka.ErrNone
		}
	}
	if at < snap.LogStart() || at > snap.LogEnd() {
		return kafka.ErrOffsetOutOfRange
	}
	e.setOffsets(snap)
	return kafka.ErrNone
}

func (e *readEntry) setOffsets(snap *commitlog.Snapshot) {
	e.out.HighWatermark = int64(snap.HighWatermark())
	e.out.LastStableOffset = int64(snap.LastStableOffset())
	e.out.LogStartOffset = int64(snap.LogStart())
}

// read reads from one snapshot. The first batch of the first partition that has
// any comes whole whatever the limits say; a batch that begins later and does not
// fit is left for the next fetch.
func (e *readEntry) read(f *Fetch, snap *commitlog.Snapshot, upTo kafka.Offset, limit int) error {
	partitionMax := int(e.slot.MaxBytes)
	slice, err := snap.Read(commitlog.ReadRequest{
		From: e.slot.FetchOffset, UpTo: upTo, MaxBytes: min(partitionMax, limit), WholeFirst: f.read.bytes == 0,
		Hint: e.slot.Value.tail,
	})
	if err != nil {
		return err
	}
	f.read.available += slice.Length
	if e.slot.FetchOffset < upTo && slice.Segment < snap.SegmentBase(upTo) {
		f.read.final = true // the rest of a sealed segment is not waited on top of
	}
	if slice.Length < int64(slice.FirstSize) {
		f.read.available += int64(min(slice.FirstSize, partitionMax)) - slice.Length
		partial := slice.Length > 0
		slice.Release()
		if slice = (commitlog.Slice{}); partial {
			return nil // Apache lists no transactions then, not even none
		}
	}
	if f.isolation() == kafka.ReadCommitted {
		if err := e.readAborted(snap, slice); err != nil {
			slice.Release()
			return err
		}
	}
	e.records = slice
	return nil
}

// readAborted lists the transactions that a reader of committed records leaves
// out. Without any the list is empty, not null.
func (e *readEntry) readAborted(snap *commitlog.Snapshot, slice commitlog.Slice) error {
	e.out.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	if slice.Length == 0 {
		return nil
	}
	aborted, err := snap.AbortedTxns(e.slot.FetchOffset, slice, nil)
	for _, t := range aborted {
		e.out.AbortedTransactions = append(e.out.AbortedTransactions, kmsg.FetchResponseTopicPartitionAbortedTransaction{
			ProducerID: int64(t.ProducerID), FirstOffset: int64(t.FirstOffset),
		})
	}
	return err
}

// buildAnswer makes the answer of what was read last: in an incremental one only
// what is news, what was not found at the end.
func (m *Manager) buildAnswer(f *Fetch) *FetchAnswer {
	a := newFetchAnswer(f.Request)
	s := f.session
	bytes := int64(0)
	for _, unknown := range [...]bool{false, true} {
		for i := range f.read.entries {
			e := &f.read.entries[i]
			if e.unknown != unknown {
				continue
			}
			told := e.told()
			if s.Incremental() && !e.slot.IsNews(told) {
				continue
			}
			e.slot.Tell(told)
			if s.Incremental() && told.Records {
				s.MoveToEnd(e.slot)
			}
			a.add(e.slot.Topic, e.slot.ID, e.out, e.records)
			bytes += e.records.Length
			e.slot.Value.tail = e.records.End
			e.records = commitlog.Slice{} // the answer's now
		}
	}
	m.env.count.bytesOut.Add(bytes)
	return a
}

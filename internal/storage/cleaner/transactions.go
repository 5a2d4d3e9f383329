package cleaner

import (
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// transactions follows the transactions of a log while its batches are read in order,
// below the last stable offset: each of them is decided.
type transactions struct {
	// upcoming are aborted transactions whose first offset was not reached, in its
	// order. One that spans segments may be named by each of them.
	upcoming []commitlog.AbortedTxn
	aborted  map[kafka.ProducerID]*abortedTxn // under way, to be aborted
	// committed are producers of which data was seen since their last marker.
	committed map[kafka.ProducerID]bool
}

type abortedTxn struct {
	commitlog.AbortedTxn
	observed bool // a batch of it is still in the log
}

func newTransactions() *transactions {
	return &transactions{aborted: map[kafka.ProducerID]*abortedTxn{}, committed: map[kafka.ProducerID]bool{}}
}

// expect names transactions that were aborted in what is read next.
func (t *transactions) expect(aborted []commitlog.AbortedTxn) {
	t.upcoming = append(t.upcoming, aborted...)
	slices.SortStableFunc(t.upcoming, func(a, b commitlog.AbortedTxn) int { return int(min(max(a.FirstOffset-b.FirstOffset, -1), 1)) })
}

// reach begins the aborted transactions up to an offset.
func (t *transactions) reach(o kafka.Offset) {
	n := 0
	for ; n < len(t.upcoming) && t.upcoming[n].FirstOffset <= o; n++ {
		a := t.upcoming[n]
		if t.aborted[a.ProducerID] == nil {
			t.aborted[a.ProducerID] = &abortedTxn{AbortedTxn: a}
		}
	}
	t.upcoming = t.upcoming[n:]
}

// data says whether a batch of data belongs to an aborted transaction.
func (t *transactions) data(h *record.Header) (discard bool) {
	t.reach(h.LastOffset())
	if !h.Attributes.IsTransactional() {
		return false
	}
	if a := t.aborted[h.ProducerID]; a != nil {
		a.observed = true
		return true
	}
	t.committed[h.ProducerID] = true
	return false
}

// control says whether a control batch is no longer needed: nothing of its
// transaction was there. kept is the aborted transaction that it ends, if it is
// still needed.
func (t *transactions) control(h *record.Header, entry []byte) (discard bool, kept *commitlog.AbortedTxn, err error) {
	t.reach(h.LastOffset())
	if h.Count == 0 {
		return true, nil, nil // it was cleaned before, and stands for its producer's epoch
	}
	kind, err := controlType(entry)
	if err != nil {
		return false, nil, err
	}
	switch kind {
	case record.ControlAbort:
		a := t.aborted[h.ProducerID]
		delete(t.aborted, h.ProducerID)
		if a == nil || !a.observed {
			return true, nil, nil
		}
		return false, &a.AbortedTxn, nil
	case record.ControlCommit:
		seen := t.committed[h.ProducerID]
		delete(t.committed, h.ProducerID)
		return !seen, nil, nil
	}
	return false, nil, nil
}

// controlType reads the type of the first record of a control batch.
func controlType(entry []byte) (record.ControlType, error) {
	var it record.Iterator
	defer it.Close()
	it.Reset(entry)
	if !it.Next() {
		return 0, it.Err()
	}
	return record.ParseControlKey(it.Record().Key)
}

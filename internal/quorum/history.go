package quorum

import (
	"fmt"
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/raft"
	"barnabas/internal/record"
)

// history is what the control records of the log and of its latest snapshot said
// of kraft.version and the voters, by offset: a snapshot holds what was in force
// at its end. It is a value of its owner.
type history struct {
	static   raft.VoterSet
	versions []since[int16]
	voters   []since[raft.VoterSet]
}

// since is a value and the offset of the record that set it.
type since[T any] struct {
	offset kafka.Offset
	value  T
}

// kraftVersion is the level in force.
func (h *history) kraftVersion() int16 {
	v, _ := last(h.versions)
	return v.value
}

// voterSet is the set in force and where it stands; kafka.NoOffset is "in no
// record of the log".
func (h *history) voterSet() (raft.VoterSet, kafka.Offset) {
	if v, ok := last(h.voters); ok {
		return v.value, v.offset
	}
	return h.static, kafka.NoOffset
}

// before is what was in force below end. The voters are nil where no record had
// named them.
func (h *history) before(end kafka.Offset) (kraftVersion int16, voters raft.VoterSet) {
	version, _ := last(below(h.versions, end))
	set, _ := last(below(h.voters, end))
	return version.value, set.value
}

// forgetBelow drops what nothing at or above start can ask for.
func (h *history) forgetBelow(start kafka.Offset) {
	h.versions = forget(h.versions, start)
	h.voters = forget(h.voters, start)
}

// learn takes what one control record says, if it concerns the history.
func (h *history) learn(offset kafka.Offset, r metarec.ControlRecord) error {
	switch r := r.(type) {
	case *metarec.KRaftVersionRecord:
		if r.KRaftVersion < raft.KRaftVersion0 || r.KRaftVersion > raft.KRaftVersion1 {
			return fmt.Errorf("offset %d: kraft.version %d is not supported, the highest is %d", offset, r.KRaftVersion, raft.KRaftVersion1)
		}
		h.versions = append(h.versions, since[int16]{offset, r.KRaftVersion})
	case *metarec.VotersRecord:
		set, err := voterSet(r)
		if err != nil {
			return fmt.Errorf("offset %d: %w", offset, err)
		}
		h.voters = append(h.voters, since[raft.VoterSet]{offset, set})
	}
	return nil
}

// learnBatch takes a batch of the log; only control batches say anything.
func (h *history) learnBatch(b record.Batch) error {
	return eachControl(b, h.learn)
}

// eachControl calls visit for the control records of the metadata log in b.
func eachControl(b record.Batch, visit func(kafka.Offset, metarec.ControlRecord) error) error {
	if !b.IsControl() {
		return nil
	}
	return eachRecord(b, func(r *record.Record) error {
		c, err := metarec.DecodeControl(r.Key, r.Value)
		if err != nil || c == nil {
			return err
		}
		return visit(r.Offset, c)
	})
}

func last[T any](s []since[T]) (since[T], bool) {
	if len(s) == 0 {
		return since[T]{}, false
	}
	return s[len(s)-1], true
}

// below returns the front of s that is set by records below end.
func below[T any](s []since[T], end kafka.Offset) []since[T] {
	n, _ := slices.BinarySearchFunc(s, end, func(v since[T], end kafka.Offset) int { return int(v.offset - end) })
	return s[:n]
}

// forget drops all but the last of what is below start.
func forget[T any](s []since[T], start kafka.Offset) []since[T] {
	if n := len(below(s, start)); n > 1 {
		return slices.Clone(s[n-1:])
	}
	return s
}

package record

import (
	"encoding/binary"
	"fmt"
)

// ControlType is the kind of a control record.
type ControlType int16

// The kinds of control records.
const (
	ControlAbort          ControlType = 0
	ControlCommit         ControlType = 1
	ControlLeaderChange   ControlType = 2
	ControlSnapshotHeader ControlType = 3
	ControlSnapshotFooter ControlType = 4
	ControlKRaftVersion   ControlType = 5
	ControlKRaftVoters    ControlType = 6
)

var controlNames = [...]string{"ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS"}

// String is the name that Apache's tools print.
func (t ControlType) String() string {
	if t >= 0 && int(t) < len(controlNames) {
		return controlNames[t]
	}
	return "UNKNOWN"
}

// ControlKey encodes the key of a control record: version 0 and the type.
func ControlKey(t ControlType) []byte { return []byte{0, 0, byte(t >> 8), byte(t)} }

// ParseControlKey reads the key of a control record. Newer versions are read as
// version 0, and unknown types are returned, not refused: a reader passes over
// control records that it does not know.
func ParseControlKey(key []byte) (ControlType, error) {
	if len(key) < 4 {
		return 0, errBody(fmt.Sprintf("control record key of %d bytes", len(key)))
	}
	if version := int16(binary.BigEndian.Uint16(key)); version < 0 {
		return 0, errBody(fmt.Sprintf("control record key of version %d", version))
	}
	return ControlType(binary.BigEndian.Uint16(key[2:])), nil
}

// EndTxnMarker is the control record that ends a transaction on a partition.
type EndTxnMarker struct {
	Commit           bool
	CoordinatorEpoch int32
}

// Record encodes the marker as a record to be put into a control batch.
func (m EndTxnMarker) Record(timestamp int64) Record {
	t := ControlAbort
	if m.Commit {
		t = ControlCommit
	}
	value := make([]byte, 6) // version 0, epoch
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	return Record{Timestamp: timestamp, Key: ControlKey(t), Value: value}
}

// ParseEndTxnMarker reads a marker from key and value of a control record. Newer
// versions are read as version 0.
func ParseEndTxnMarker(key, value []byte) (EndTxnMarker, error) {
	t, err := ParseControlKey(key)
	if err != nil {
		return EndTxnMarker{}, err
	}
	if t != ControlAbort && t != ControlCommit {
		return EndTxnMarker{}, errBody(fmt.Sprintf("control record of type %d is no transaction marker", t))
	}
	if len(value) < 6 {
		return EndTxnMarker{}, errBody(fmt.Sprintf("transaction marker of %d bytes", len(value)))
	}
	if version := int16(binary.BigEndian.Uint16(value)); version < 0 {
		return EndTxnMarker{}, errBody(fmt.Sprintf("transaction marker of version %d", version))
	}
	return EndTxnMarker{Commit: t == ControlCommit, CoordinatorEpoch: int32(binary.BigEndian.Uint32(value[2:]))}, nil
}

package metarec

import (
	"encoding/binary"
	"fmt"
)

// ControlType is the number of a control record type, from the record's key.
type ControlType int16

// The control records of the metadata log. 0 and 1 are the transaction markers.
const (
	ControlLeaderChange   ControlType = 2
	ControlSnapshotHeader ControlType = 3
	ControlSnapshotFooter ControlType = 4
	ControlKRaftVersion   ControlType = 5
	ControlVoters         ControlType = 6
)

// ControlRecord is one control record, always a pointer to one of the generated
// types. Its field Version is written as it stands.
type ControlRecord interface {
	// ControlType is the type that goes into the key.
	ControlType() ControlType
	Versions() (lowest, highest int16)
	AppendTo(dst []byte, version int16) ([]byte, error)
	ReadFrom(src []byte, version int16) (rest []byte, err error)
	AppendJSON(dst []byte, version int16) []byte
	// version is the field Version.
	version() int16
}

// ControlType is ControlLeaderChange.
func (*LeaderChangeMessage) ControlType() ControlType { return ControlLeaderChange }

// ControlType is ControlSnapshotHeader.
func (*SnapshotHeaderRecord) ControlType() ControlType { return ControlSnapshotHeader }

// ControlType is ControlSnapshotFooter.
func (*SnapshotFooterRecord) ControlType() ControlType { return ControlSnapshotFooter }

// ControlType is ControlKRaftVersion.
func (*KRaftVersionRecord) ControlType() ControlType { return ControlKRaftVersion }

// ControlType is ControlVoters.
func (*VotersRecord) ControlType() ControlType { return ControlVoters }

func (m *LeaderChangeMessage) version() int16  { return m.Version }
func (m *SnapshotHeaderRecord) version() int16 { return m.Version }
func (m *SnapshotFooterRecord) version() int16 { return m.Version }
func (m *KRaftVersionRecord) version() int16   { return m.Version }
func (m *VotersRecord) version() int16         { return m.Version }

// EncodeControl returns key and value of the control record. It is written at the
// version that its field Version says.
func EncodeControl(m ControlRecord) (key, value []byte, err error) {
	key = binary.BigEndian.AppendUint16(make([]byte, 2, 4), uint16(m.ControlType()))
	value, err = m.AppendTo(nil, m.version())
	return key, value, err
}

// ControlTypeOf reads the key of a control record. Versions of the key above 0 may
// be longer, but begin the same.
func ControlTypeOf(key []byte) (ControlType, error) {
	if len(key) < 4 {
		return 0, fmt.Errorf("key of a control record: %d bytes, want 4", len(key))
	}
	if v := int16(binary.BigEndian.Uint16(key)); v < 0 {
		return 0, fmt.Errorf("key of a control record: version %d", v)
	}
	return ControlType(binary.BigEndian.Uint16(key[2:])), nil
}

// DecodeControl reads a control record of the metadata log. For a type that is none
// of them it returns nil and no error: such records are to be skipped.
func DecodeControl(key, value []byte) (ControlRecord, error) {
	t, err := ControlTypeOf(key)
	if err != nil {
		return nil, err
	}
	m := newControl(t)
	if m == nil {
		return nil, nil
	}
	if len(value) < 2 {
		return nil, fmt.Errorf("control record of type %d: %d bytes", t, len(value))
	}
	version := int16(binary.BigEndian.Uint16(value))
	rest, err := m.ReadFrom(value, version)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("control record of type %d: %d bytes too many", t, len(rest))
	}
	return m, nil
}

func newControl(t ControlType) ControlRecord {
	switch t {
	case ControlLeaderChange:
		return NewLeaderChangeMessage()
	case ControlSnapshotHeader:
		return NewSnapshotHeaderRecord()
	case ControlSnapshotFooter:
		return NewSnapshotFooterRecord()
	case ControlKRaftVersion:
		return NewKRaftVersionRecord()
	case ControlVoters:
		return NewVotersRecord()
	}
	return nil
}

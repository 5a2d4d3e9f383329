package internaltopics

import (
	"encoding/binary"
	"errors"

	"barnabas/internal/coordinator/grouprec"
)

// GroupKey decodes a key of __consumer_offsets.
func GroupKey(b []byte) (t int16, text []byte, err error) {
	m, err := grouprec.DecodeKey(b)
	if errors.Is(err, grouprec.ErrUnknownType) {
		return 0, nil, UnknownTypeError(binary.BigEndian.Uint16(b))
	}
	if err != nil {
		return 0, nil, err
	}
	return int16(m.Type()), grouprec.AppendKeyJSON(nil, m), nil
}

// GroupValue decodes a value of __consumer_offsets whose key has the type t. What
// clients put into it (subscriptions, assignments) stays base64.
func GroupValue(t int16, b []byte) ([]byte, error) {
	m, version, err := grouprec.DecodeValue(grouprec.RecordType(t), b)
	if err != nil {
		return nil, err
	}
	return grouprec.AppendValueJSON(nil, m, version), nil
}

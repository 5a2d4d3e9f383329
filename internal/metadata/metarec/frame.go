package metarec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// RecordType is the number of a record type in the metadata log.
type RecordType int16

// Message is one metadata record, always a pointer to one of the generated types.
type Message interface {
	// Type is the record type.
	Type() RecordType
	// Versions are the lowest and the highest version.
	Versions() (lowest, highest int16)
	// AppendTo appends the message, without the frame, to dst.
	AppendTo(dst []byte, version int16) ([]byte, error)
	// ReadFrom sets the message to what src says and returns the bytes behind it.
	ReadFrom(src []byte, version int16) (rest []byte, err error)
	// AppendJSON appends the fields as JSON to dst.
	AppendJSON(dst []byte, version int16) []byte
}

// Versioned is a message and the version it was, or is to be, written at.
type Versioned struct {
	Message Message
	Version int16
}

// frameVersion is the only version of the frame.
const frameVersion = 1

// Errors of Decode.
var (
	// ErrUnknownType is the error for a record type that Apache Kafka 4.4 does not
	// know: the log was written by something newer.
	ErrUnknownType = errors.New("unknown metadata record type")
	// ErrFrame is the error for bytes that are no frame.
	ErrFrame = errors.New("bad frame of a metadata record")
)

// Encode appends the framed message to dst: the value of a data record.
func Encode(dst []byte, m Message, version int16) ([]byte, error) {
	dst = append(dst, frameVersion)
	dst = binary.AppendUvarint(dst, uint64(m.Type()))
	dst = binary.AppendUvarint(dst, uint64(version))
	return m.AppendTo(dst, version)
}

// Decode reads the value of a data record.
func Decode(frame []byte) (Message, int16, error) {
	var head [3]uint64
	rest := frame
	for i := range head {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > math.MaxInt16 {
			return nil, 0, fmt.Errorf("%w: its head is cut off or too large", ErrFrame)
		}
		head[i], rest = v, rest[n:]
		if head[0] != frameVersion {
			return nil, 0, fmt.Errorf("%w: version %d, known is %d", ErrFrame, head[0], frameVersion)
		}
	}
	t, version := RecordType(head[1]), int16(head[2])
	m := newMessage(t)
	if m == nil {
		return nil, 0, fmt.Errorf("%w %d", ErrUnknownType, t)
	}
	rest, err := m.ReadFrom(rest, version)
	if err != nil {
		return nil, 0, err
	}
	if len(rest) > 0 {
		return nil, 0, fmt.Errorf("%w: %d bytes behind %s", ErrFrame, len(rest), t)
	}
	return m, version, nil
}

// AppendJSON appends the record as Apache Kafka's tools print it: type, version and
// data.
func AppendJSON(dst []byte, m Message, version int16) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, m.Type().String()...)
	dst = append(dst, `","version":`...)
	dst = strconv.AppendInt(dst, int64(version), 10)
	dst = append(dst, `,"data":`...)
	dst = m.AppendJSON(dst, version)
	return append(dst, '}')
}

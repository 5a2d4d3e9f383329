package telemetry

import (
	"encoding/binary"
	"errors"
)

// Wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// errProtobuf is a message that ends too soon or has a wire type that is not known.
var errProtobuf = errors.New("the message is no protobuf")

// field is a field of a protobuf message: number for varint and fixed types, bytes
// for the others.
type field struct {
	id     int
	wire   int
	number uint64
	bytes  []byte
}

// eachField calls f for the fields of a message, in their order.
func eachField(b []byte, f func(field) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errProtobuf
		}
		b = b[n:]
		at := field{id: int(tag >> 3), wire: int(tag & 7)}
		switch at.wire {
		case wireVarint:
			if at.number, n = binary.Uvarint(b); n <= 0 {
				return errProtobuf
			}
		case wireFixed64:
			if n = 8; len(b) < n {
				return errProtobuf
			}
			at.number = binary.LittleEndian.Uint64(b)
		case wireFixed32:
			if n = 4; len(b) < n {
				return errProtobuf
			}
			at.number = uint64(binary.LittleEndian.Uint32(b))
		case wireBytes:
			size, used := binary.Uvarint(b)
			if used <= 0 || size > uint64(len(b)-used) {
				return errProtobuf
			}
			n = used + int(size)
			at.bytes = b[used:n]
		default:
			return errProtobuf
		}
		b = b[n:]
		if err := f(at); err != nil {
			return err
		}
	}
	return nil
}

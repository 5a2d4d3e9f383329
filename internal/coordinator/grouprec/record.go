package grouprec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// RecordType is the number at the head of a key.
type RecordType int16

// Message is a key or a value, always a pointer to one of the generated types.
type Message interface {
	// Type is the record type, the same for a key and its value.
	Type() RecordType
	// Versions are the lowest and the highest version.
	Versions() (lowest, highest int16)
	// AppendTo appends the message, without what stands before it, to dst.
	AppendTo(dst []byte, version int16) ([]byte, error)
	// ReadFrom sets the message to what src says and returns the bytes behind it.
	ReadFrom(src []byte, version int16) (rest []byte, err error)
	// AppendJSON appends the fields as JSON to dst.
	AppendJSON(dst []byte, version int16) []byte
}

// Errors of DecodeKey and DecodeValue.
var (
	// ErrUnknownType is the error for a record type that Apache Kafka 4.4 does not
	// know. Who loads the topic skips such records.
	ErrUnknownType = errors.New("unknown group record type")
	// ErrFormat is the error for bytes that are no key or value.
	ErrFormat = errors.New("bad group record")
)

// AppendKey appends the record key with the message key.
func AppendKey(dst []byte, key Message) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, uint16(key.Type()))
	return key.AppendTo(dst, 0)
}

// AppendValue appends the record value with the message value.
func AppendValue(dst []byte, value Message, version int16) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, uint16(version))
	return value.AppendTo(dst, version)
}

// DecodeKey reads a record key.
func DecodeKey(src []byte) (Message, error) {
	t, body, err := head(src)
	if err != nil {
		return nil, err
	}
	m := newKey(RecordType(t))
	if m == nil {
		return nil, fmt.Errorf("%w %d", ErrUnknownType, t)
	}
	return m, all(m, body, 0)
}

// DecodeValue reads the record value that belongs to a key of that type.
func DecodeValue(t RecordType, src []byte) (value Message, version int16, err error) {
	m := newValue(t)
	if m == nil {
		return nil, 0, fmt.Errorf("%w %d", ErrUnknownType, t)
	}
	version, body, err := head(src)
	if err != nil {
		return nil, 0, err
	}
	return m, version, all(m, body, version)
}

// head takes the number off that stands before a key or value.
func head(src []byte) (int16, []byte, error) {
	if len(src) < 2 {
		return 0, nil, fmt.Errorf("%w: %d bytes", ErrFormat, len(src))
	}
	n := binary.BigEndian.Uint16(src)
	if n > math.MaxInt16 {
		return 0, nil, fmt.Errorf("%w: it begins with %d", ErrFormat, int16(n))
	}
	return int16(n), src[2:], nil
}

func all(m Message, body []byte, version int16) error {
	rest, err := m.ReadFrom(body, version)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes behind a message of type %d", ErrFormat, len(rest), m.Type())
	}
	return nil
}

// AppendKeyJSON appends the key as Apache Kafka's tools print it: type, a string with
// its number, and data.
func AppendKeyJSON(dst []byte, key Message) []byte {
	return appendJSON(dst, "type", int16(key.Type()), key, 0)
}

// AppendValueJSON appends the value as Apache Kafka's tools print it: version, a
// string, and data.
func AppendValueJSON(dst []byte, value Message, version int16) []byte {
	return appendJSON(dst, "version", version, value, version)
}

func appendJSON(dst []byte, name string, number int16, m Message, version int16) []byte {
	dst = append(dst, `{"`+name+`":"`...)
	dst = strconv.AppendInt(dst, int64(number), 10)
	dst = append(dst, `","data":`...)
	dst = m.AppendJSON(dst, version)
	return append(dst, '}')
}

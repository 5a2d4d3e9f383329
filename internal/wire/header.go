package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// LengthBytes is the size of the length before each frame.
const LengthBytes = 4

// RequestHeader is the header of a request, version 1 or 2.
type RequestHeader struct {
	Key           int16
	Version       int16
	CorrelationID int32
	// ClientID is empty when the client sent none.
	ClientID string
}

// ParseRequestHeader reads the header of a frame (without its length) and
// returns the body. A client id equal to lastClientID shares its memory, so that
// a connection allocates it once. Which header version the frame has follows
// from key and version; a key without a row is an error here.
func ParseRequestHeader(frame []byte, lastClientID string) (h RequestHeader, body []byte, err error) {
	if len(frame) < 10 {
		return h, nil, fmt.Errorf("%w: header of %d bytes", ErrMalformed, len(frame))
	}
	h.Key = int16(binary.BigEndian.Uint16(frame))
	h.Version = int16(binary.BigEndian.Uint16(frame[2:]))
	h.CorrelationID = int32(binary.BigEndian.Uint32(frame[4:]))
	r := row(h.Key)
	if r == nil {
		return h, nil, fmt.Errorf("%w: %d", ErrUnknownKey, h.Key)
	}
	n := int(int16(binary.BigEndian.Uint16(frame[8:])))
	rest := frame[10:]
	if n > len(rest) {
		return h, nil, fmt.Errorf("%w: client id of %d bytes in %s", ErrMalformed, n, r.Name)
	}
	if n > 0 {
		if h.ClientID = lastClientID; string(rest[:n]) != lastClientID {
			h.ClientID = string(rest[:n])
		}
		rest = rest[n:]
	}
	if !r.Flexible(h.Version) {
		return h, rest, nil
	}
	s := scanner{src: rest, version: h.Version, flexible: true}
	s.tags(nil)
	if s.err != nil {
		return h, nil, fmt.Errorf("header of %s %d: %w", r.Name, h.Version, s.err)
	}
	return h, s.src, nil
}

// ResponseHeaderSize is the number of bytes that AppendResponseHeader appends at
// most.
const ResponseHeaderSize = 5

// AppendResponseHeader appends the header of the answer to a request. ApiVersions
// has version 0 always: its client does not know yet what this node speaks.
func AppendResponseHeader(dst []byte, key, version int16, correlationID int32) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlationID))
	if r := row(key); r != nil && r.Flexible(version) && kmsg.Key(key) != kmsg.ApiVersions {
		dst = append(dst, 0)
	}
	return dst
}

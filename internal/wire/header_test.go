package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestRequestHeaderRoundTrip(t *testing.T) {
	for _, a := range All() {
		for v := a.Min; v <= a.Max; v++ {
			msg := kmsg.RequestForKey(int16(a.Key))
			msg.SetVersion(v)
			frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("ich")).AppendRequest(nil, msg, 77)[LengthBytes:]
			h, body, err := ParseRequestHeader(frame, "")
			if err != nil || h != (RequestHeader{int16(a.Key), v, 77, "ich"}) || !bytes.Equal(body, msg.AppendTo(nil)) {
				t.Errorf("%s %d: %+v, %v", a.Name, v, h, err)
			}
		}
	}
}

// header writes a request header; tags is what follows the client id.
func header(key, version int16, clientID *string, tags []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint32(b, 7)
	if clientID == nil {
		b = append(b, 0xff, 0xff)
	} else {
		b = binary.BigEndian.AppendUint16(b, uint16(len(*clientID)))
		b = append(b, *clientID...)
	}
	return append(b, tags...)
}

// emptyTags is a section of n tagged fields that are empty, from tag 5 on.
func emptyTags(n int) []byte {
	b := binary.AppendUvarint(nil, uint64(n))
	for i := range n {
		b = append(binary.AppendUvarint(b, uint64(5+i)), 0)
	}
	return b
}

func TestRequestHeaderEdges(t *testing.T) {
	id := "x"
	for _, c := range []struct {
		what  string
		frame []byte
		want  error
	}{
		{"no client id", header(3, 0, nil, nil), nil},
		{"client id of length -2", append(header(3, 0, nil, nil)[:8], 0xff, 0xfe), nil},
		{"empty frame", nil, ErrMalformed},
		{"cut in the middle", header(3, 0, nil, nil)[:9], ErrMalformed},
		{"client id longer than the frame", append(header(3, 0, nil, nil)[:8], 0, 9, 'x'), ErrMalformed},
		{"unknown key", header(500, 0, &id, nil), ErrUnknownKey},
		{"removed key", header(4, 0, &id, nil), ErrUnknownKey},
		{"flexible without tags", header(3, 12, &id, nil), ErrMalformed},
		{"10,000 tags", header(3, 12, &id, emptyTags(10_000)), nil},
		{"10,001 tags", header(3, 12, &id, emptyTags(10_001)), ErrTooMany},
		{"the same tag twice", header(3, 12, &id, []byte{2, 9, 0, 9, 0}), nil},
		{"tag longer than the frame", header(3, 12, &id, []byte{1, 9, 5, 0}), ErrMalformed},
		{"ApiVersions of the future is flexible", header(18, 99, &id, []byte{0}), nil},
		{"and needs its tags", header(18, 99, &id, nil), ErrMalformed},
	} {
		_, _, err := ParseRequestHeader(c.frame, "")
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
}

func TestClientIDSharesMemoryWithTheLast(t *testing.T) {
	id := "a-client-id"
	frame := header(3, 0, &id, nil)
	last := id
	if n := testing.AllocsPerRun(100, func() {
		h, _, err := ParseRequestHeader(frame, last)
		if err != nil || h.ClientID != id {
			t.Fatal(h, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestResponseHeader(t *testing.T) {
	for _, c := range []struct {
		key, version int16
		want         []byte
	}{
		{3, 8, []byte{0, 0, 1, 2}},
		{3, 9, []byte{0, 0, 1, 2, 0}},
		{18, 3, []byte{0, 0, 1, 2}},
		{18, 99, []byte{0, 0, 1, 2}},
		{17, 1, []byte{0, 0, 1, 2}},
	} {
		if got := AppendResponseHeader(nil, c.key, c.version, 0x102); !bytes.Equal(got, c.want) {
			t.Errorf("key %d version %d: %x", c.key, c.version, got)
		}
	}
}

func FuzzRequestHeader(f *testing.F) {
	id := "client"
	f.Add(header(3, 12, &id, []byte{0, 1, 2, 3}))
	f.Add(header(18, 3, nil, []byte{1, 5, 0}))
	f.Add(header(0, 12, &id, emptyTags(3)))
	f.Fuzz(func(t *testing.T, frame []byte) {
		h, body, err := ParseRequestHeader(frame, "client")
		if err == nil && (len(body) > len(frame) || len(h.ClientID) > len(frame)) {
			t.Errorf("%+v with a body of %d bytes from %d", h, len(body), len(frame))
		}
	})
}

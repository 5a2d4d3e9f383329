package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Decode reads a body that Measure has accepted. It never panics.
//
// Strings of a Produce request and []byte fields of all requests share memory
// with body; strings of other requests do not. An ApiVersions request of a
// version that is not served is not read: its answer depends on nothing in it.
func Decode(h *RequestHeader, body []byte) (msg kmsg.Request, err error) {
	defer func() {
		if p := recover(); p != nil {
			msg, err = nil, fmt.Errorf("%w: key %d version %d: decoder says %v", ErrMalformed, h.Key, h.Version, p)
		}
	}()
	r := row(h.Key)
	if r == nil {
		return nil, fmt.Errorf("%w: %d", ErrUnknownKey, h.Key)
	}
	msg = kmsg.RequestForKey(h.Key)
	if !r.Serves(h.Version) {
		if r.Key == kmsg.ApiVersions {
			return msg, nil
		}
		return nil, fmt.Errorf("%w: %s %d", ErrUnsupportedVersion, r.Name, h.Version)
	}
	msg.SetVersion(h.Version)
	if p, ok := msg.(*kmsg.ProduceRequest); ok {
		err = p.UnsafeReadFrom(body)
	} else {
		err = msg.ReadFrom(body)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s %d: %v", ErrMalformed, r.Name, h.Version, err)
	}
	return msg, nil
}

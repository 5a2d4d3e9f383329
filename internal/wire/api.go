package wire

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Errors of headers and bodies. Each closes the connection, as in Apache Kafka;
// they are wrapped with what was wrong.
var (
	ErrMalformed          = errors.New("malformed request")
	ErrTooMany            = errors.New("too many elements")
	ErrUnknownKey         = errors.New("unknown or unserved request key")
	ErrUnsupportedVersion = errors.New("unsupported request version")
)

// Scope is a set of kinds of listeners.
type Scope uint8

// The kinds of listeners.
const (
	Broker Scope = 1 << iota
	Controller
)

// ConfiguredLimit in API.BeforeAuth: the frame is limited by the configuration
// (sasl.server.max.receive.size).
const ConfiguredLimit = -1

// API is one row of the table: what is known of a request.
type API struct {
	Key  kmsg.Key
	Name string
	// Min and Max are the versions that are accepted. ApiVersions announces
	// AnnouncedMin to Max.
	Min, Max, AnnouncedMin int16
	// FlexibleFrom is the first version with tagged fields and compact lengths.
	FlexibleFrom int16
	// Scope says on which listeners the request may come.
	Scope Scope
	// NeedsController marks what only the active controller can do.
	NeedsController bool
	// Batch: neighbouring requests of this key are served in one run.
	Batch bool
	// BeforeAuth is the largest frame that is accepted before the connection is
	// authenticated: 0 for none, or ConfiguredLimit.
	BeforeAuth int32

	body string
}

// Flexible says whether a version has tagged fields.
func (a *API) Flexible(version int16) bool { return version >= a.FlexibleFrom }

// Serves says whether a version is accepted.
func (a *API) Serves(version int16) bool { return a.Min <= version && version <= a.Max }

// Lookup finds the row of a key, served or not.
func Lookup(key int16) (API, bool) {
	if r := row(key); r != nil {
		return *r, true
	}
	return API{}, false
}

// All returns the whole table, in order of keys.
func All() []API {
	t := table
	return t[:]
}

// row finds a key by bisection: four keys are missing in between.
func row(key int16) *API {
	lo, hi := 0, len(table)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if int16(table[mid].Key) < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(table) && int16(table[lo].Key) == key {
		return &table[lo]
	}
	return nil
}

// Served is the set of requests that a node serves. It never changes.
type Served struct {
	entries [kmsg.MaxKey + 1]*entry
	list    []API
}

type entry struct {
	API
	shape *shape
}

// NewServed returns the set of the given keys. A key that the table lacks is an
// error of ours.
func NewServed(keys ...kmsg.Key) *Served {
	s := &Served{}
	for _, k := range keys {
		r := row(int16(k))
		if r == nil {
			panic(fmt.Sprintf("BUG: wire: no row for request key %d", k))
		}
		s.entries[k] = &entry{API: *r, shape: mustCompile(r)}
	}
	for _, e := range s.entries {
		if e != nil {
			s.list = append(s.list, e.API)
		}
	}
	return s
}

// List is the set in order of keys. The caller must not change it.
func (s *Served) List() []API { return s.list }

// Admit decides about a request by its header: it returns the row, or why the
// connection must be closed. ApiVersions is admitted in every version, for its
// answer tells the client which ones there are.
func (s *Served) Admit(h *RequestHeader, scope Scope) (*API, error) {
	e := s.entry(h.Key)
	if e == nil || e.Scope&scope == 0 {
		return nil, fmt.Errorf("%w: %d", ErrUnknownKey, h.Key)
	}
	if !e.Serves(h.Version) && e.Key != kmsg.ApiVersions {
		return nil, fmt.Errorf("%w: %s %d, served are %d to %d", ErrUnsupportedVersion, e.Name, h.Version, e.Min, e.Max)
	}
	return &e.API, nil
}

func (s *Served) entry(key int16) *entry {
	if key < 0 || int(key) >= len(s.entries) {
		return nil
	}
	return s.entries[key]
}

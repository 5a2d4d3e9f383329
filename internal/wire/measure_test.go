package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// filler fills a message of kmsg by reflection.
type filler struct {
	r *rand.Rand
	// count is the number of elements of the array at a place, counted in the
	// order in which they are met.
	count func(place int) int
	place int
	// text is the largest length of a string, tags the number of unknown tags of
	// each struct.
	text, tags int
}

var tagsType = reflect.TypeFor[kmsg.Tags]()

func (f *filler) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if f.r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem())
		}
	case reflect.Struct:
		f.fillStruct(v)
	case reflect.Slice:
		f.fillSlice(v)
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).SetUint(f.r.Uint64() & 0xff)
		}
	case reflect.String:
		v.SetString(string(bytes.Repeat([]byte{'s'}, f.r.IntN(f.text+1))))
	case reflect.Bool:
		v.SetBool(f.r.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(int8(f.r.Uint64())))
	case reflect.Uint16, reflect.Uint32:
		v.SetUint(f.r.Uint64() & 0xff)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		panic("no filling for " + v.Type().String())
	}
}

func (f *filler) fillStruct(v reflect.Value) {
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Type() == tagsType {
			for n := range f.tags {
				field.Addr().Interface().(*kmsg.Tags).Set(uint32(100+n), nil)
			}
			continue
		}
		f.fill(field)
	}
}

func (f *filler) fillSlice(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(make([]byte, f.r.IntN(f.text+1)))
		return
	}
	n := f.count(f.place)
	f.place++
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	first := f.place
	for i := range n {
		f.place = first
		f.fill(v.Index(i))
	}
}

// message makes a request of a key and version.
func (f *filler) message(a API, version int16) kmsg.Request {
	f.place = 0
	msg := kmsg.RequestForKey(int16(a.Key))
	f.fillStruct(reflect.ValueOf(msg).Elem())
	msg.SetVersion(version)
	dropLaterTags(msg, version)
	return msg
}

// dropLaterTags empties tagged fields that came with a later version: the codec
// writes them in all, and Measure refuses them.
func dropLaterTags(msg kmsg.Request, version int16) {
	switch m := msg.(type) {
	case *kmsg.FetchRequest:
		if version < 15 {
			m.ReplicaState = kmsg.NewFetchRequestReplicaState()
		}
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				p := &m.Topics[i].Partitions[j]
				if version < 17 {
					p.ReplicaDirectoryID = [16]byte{}
				}
				if version < 18 {
					p.HighWatermark = kmsg.NewFetchRequestTopicPartition().HighWatermark
				}
			}
		}
	case *kmsg.FetchSnapshotRequest:
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				if version < 1 {
					m.Topics[i].Partitions[j].ReplicaDirectoryID = [16]byte{}
				}
			}
		}
	case *kmsg.BrokerHeartbeatRequest:
		if version < 1 {
			m.OfflineLogDirs = nil
		}
		if version < 2 {
			m.CordonedLogDirs = nil
		}
	}
}

func eachVersion(t *testing.T, visit func(t *testing.T, s *Served, a API, h *RequestHeader)) {
	s := allServed()
	for _, a := range s.List() {
		for v := a.Min; v <= a.Max; v++ {
			visit(t, s, a, &RequestHeader{Key: int16(a.Key), Version: v})
		}
	}
}

// TestShapesAreTheCodecs fills each request at random: the walk must end where
// the body ends, must refuse it when a byte is missing, and what it accepts must
// come back from the codec as the same bytes.
func TestShapesAreTheCodecs(t *testing.T) {
	f := filler{r: rand.New(rand.NewPCG(1, 2)), text: 12}
	f.count = func(int) int { return f.r.IntN(4) }
	eachVersion(t, func(t *testing.T, s *Served, a API, h *RequestHeader) {
		for range 30 {
			f.tags = f.r.IntN(3)
			body := f.message(a, h.Version).AppendTo(nil)
			sc := scanner{src: body, version: h.Version, flexible: a.Flexible(h.Version)}
			sc.structure(s.entry(h.Key).shape.fields)
			if sc.err != nil || len(sc.src) > 0 {
				t.Fatalf("%s %d: %d bytes are left of %x: %v", a.Name, h.Version, len(sc.src), body, sc.err)
			}
			if len(body) > 0 {
				if _, err := s.Measure(h, body[:len(body)-1]); !errors.Is(err, ErrMalformed) {
					t.Fatalf("%s %d: a short body: %v", a.Name, h.Version, err)
				}
			}
			if _, err := s.Measure(h, append(bytes.Clone(body), 1, 2, 3)); err != nil {
				t.Fatalf("%s %d: bytes behind the body: %v", a.Name, h.Version, err)
			}
			msg, err := Decode(h, body)
			if err != nil {
				t.Fatalf("%s %d: %v", a.Name, h.Version, err)
			}
			if again := msg.AppendTo(nil); !bytes.Equal(again, body) {
				t.Fatalf("%s %d: decoded and encoded again:\n%x, want\n%x", a.Name, h.Version, again, body)
			}
		}
	})
}

// arrays counts the arrays of a message, nested ones too.
func arrays(a API) int {
	n := 0
	f := filler{r: rand.New(rand.NewPCG(0, 0)), count: func(place int) int { n = max(n, place+1); return 1 }}
	f.message(a, a.Max)
	return n
}

// allocates is the number of bytes that f allocates.
func allocates(f func()) int64 {
	var before, after runtime.MemStats
	f()
	runtime.ReadMemStats(&before)
	const rounds = 2
	for range rounds {
		f()
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc-before.TotalAlloc) / rounds
}

// TestMeasureKnowsWhatDecodingAllocates decodes the frames that cost most for
// their size: many elements without content at each place, with unknown tags and
// without, and compares with what Measure said (invariant 1).
func TestMeasureKnowsWhatDecodingAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("allocations are counted without the race detector")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	worst, worstOf := 0.0, ""
	eachVersion(t, func(t *testing.T, s *Served, a API, h *RequestHeader) {
		if h.Version != a.Min && h.Version != a.Max && h.Version != a.FlexibleFrom {
			return
		}
		for place := range arrays(a) + 1 {
			for _, shape := range []struct{ n, tags, text int }{{1000, 0, 0}, {1000, 1, 0}, {20, 100, 0}, {3, 1000, 0}, {100, 0, 40}} {
				f := filler{r: rand.New(rand.NewPCG(1, 2)), text: shape.text, tags: shape.tags}
				f.count = func(p int) int {
					if p == place {
						return shape.n
					}
					return 1
				}
				body := f.message(a, h.Version).AppendTo(nil)
				m, err := s.Measure(h, body)
				if err != nil {
					t.Fatalf("%s %d: %v", a.Name, h.Version, err)
				}
				got := allocates(func() {
					if _, err := Decode(h, body); err != nil {
						t.Fatal(err)
					}
				})
				if got > m.Memory || m.Memory > 3*got+2048 && len(body) < 5*int(got) {
					t.Errorf("%s %d, array %d, %+v: decoding %d bytes allocates %d, measured %d", a.Name, h.Version, place, shape, len(body), got, m.Memory)
				}
				if factor := float64(got) / float64(len(body)); len(body) > 1000 && factor > worst {
					worst, worstOf = factor, fmt.Sprintf("%s %d array %d %+v", a.Name, h.Version, place, shape)
				}
			}
		}
	})
	t.Logf("worst amplification: %.0f times (%s)", worst, worstOf)
}

func TestMeasureAllocatesNothing(t *testing.T) {
	f := filler{r: rand.New(rand.NewPCG(1, 2)), text: 20, count: func(int) int { return 5 }}
	s := allServed()
	for _, key := range []kmsg.Key{kmsg.Produce, kmsg.Fetch, kmsg.Metadata} {
		a, _ := Lookup(int16(key))
		h := &RequestHeader{Key: int16(key), Version: a.Max}
		body := f.message(a, a.Max).AppendTo(nil)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := s.Measure(h, body); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", a.Name, n)
		}
	}
}

// uv appends compact lengths, which count from one.
func uv(b []byte, lengths ...int) []byte {
	for _, n := range lengths {
		b = binary.AppendUvarint(b, uint64(n+1))
	}
	return b
}

// TestMeasureRefusesWhatApacheRefuses has cases that were tried on a 4.4.0.
func TestMeasureRefusesWhatApacheRefuses(t *testing.T) {
	fetch := append(make([]byte, 13), 0, 0, 0, 0, 0, 0, 0, 0) // limits, session
	fetch = uv(fetch, 0, 0, 0)                                // topics, forgotten, rack
	replicaState := append([]byte{1, 1, 13}, make([]byte, 13)...)
	partitions := func(n int) []byte { // OffsetFetch 8: n partitions of a topic
		b := uv(nil, 1, 1)
		b = append(b, 'g')
		b = uv(b, 1, 1)
		b = append(b, 't')
		b = append(uv(b, n), make([]byte, 4*n)...)
		return append(b, 0, 0, 0, 0)
	}
	for _, c := range []struct {
		what         string
		key, version int16
		body         []byte
		want         error
	}{
		{"Metadata: all topics", 3, 1, []byte{0xff, 0xff, 0xff, 0xff}, nil},
		{"Metadata: a length of -2 is null too", 3, 1, []byte{0xff, 0xff, 0xff, 0xfe}, nil},
		{"Metadata 0 knows no null", 3, 0, []byte{0xff, 0xff, 0xff, 0xff}, ErrMalformed},
		{"Metadata: null name", 3, 9, append(uv(nil, 1, -1), 0, 0, 0, 0, 0), ErrMalformed},
		{"Metadata: null name where an id may stand", 3, 12, append(append(uv(nil, 1), make([]byte, 16)...), 0, 0, 0, 0, 0), nil},
		{"CreateTopics: null topics", 19, 7, append(uv(nil, -1), 0, 0, 0, 1, 0, 0), ErrMalformed},
		{"JoinGroup: null metadata", 11, 0, append(append([]byte{0, 1, 'g', 0, 0, 0, 9, 0, 0, 0, 8, 'c', 'o', 'n', 's', 'u', 'm', 'e', 'r', 0, 0, 0, 1, 0, 1, 'r'}, 0xff, 0xff, 0xff, 0xff), 0), ErrMalformed},
		{"Fetch: as it should be", 1, 17, append(fetch[:len(fetch):len(fetch)], 0), nil},
		{"Fetch: a known tag", 1, 17, append(fetch[:len(fetch):len(fetch)], 1, 0, 3, 3, 'a', 'b'), nil},
		{"Fetch: a known tag and a byte more", 1, 17, append(fetch[:len(fetch):len(fetch)], 1, 0, 4, 3, 'a', 'b', 'z'), nil},
		{"Fetch: a known tag beyond its size", 1, 17, append(fetch[:len(fetch):len(fetch)], 1, 0, 2, 3, 'a', 'b'), ErrMalformed},
		{"Fetch: the state of a replica", 1, 15, append(fetch[:len(fetch):len(fetch)], replicaState...), nil},
		{"Fetch: a tag that came with version 15", 1, 14, append(append(make([]byte, 4), fetch...), replicaState...), ErrMalformed},
		{"Fetch: the same unknown tag twice", 1, 17, append(fetch[:len(fetch):len(fetch)], 2, 32, 0, 32, 0), nil},
		{"10,000 unknown tags", 1, 17, append(fetch[:len(fetch):len(fetch)], emptyTags(10_000)...), nil},
		{"10,001 unknown tags", 1, 17, append(fetch[:len(fetch):len(fetch)], emptyTags(10_001)...), ErrTooMany},
		{"1,000,000 elements", 9, 8, partitions(1_000_000), nil},
		{"1,000,001 elements", 9, 8, partitions(1_000_001), ErrTooMany},
		{"more elements than bytes", 9, 8, partitions(9)[:20], ErrMalformed},
		{"a length of six bytes", 3, 12, []byte{0x81, 0x80, 0x80, 0x80, 0x80, 0, 0, 0}, ErrMalformed},
		{"a length of five bytes that says 0", 3, 12, []byte{0x81, 0x80, 0x80, 0x80, 0, 0, 0, 0}, nil},
		{"Produce: null records", 0, 9, append(append(uv(nil, -1), 0, 1, 0, 0, 0, 9), append(uv(nil, 1, 1), append([]byte("t"), append(uv(nil, 1), 0, 0, 0, 0, 0, 0, 0, 0)...)...)...), nil},
		{"Metadata: the longest name", 3, 9, append(append(append(uv(nil, 1), uv(nil, 32767)...), make([]byte, 32767)...), 0, 0, 0, 0, 0), nil},
		{"Metadata: a longer name", 3, 9, append(append(append(uv(nil, 1), uv(nil, 32768)...), make([]byte, 32768)...), 0, 0, 0, 0, 0), ErrMalformed},
		{"ApiVersions of the future", 18, 99, []byte{0xff, 0xff}, nil},
	} {
		h := &RequestHeader{Key: c.key, Version: c.version}
		_, err := allServed().Measure(h, c.body)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
		if err == nil {
			if _, err := Decode(h, c.body); err != nil {
				t.Errorf("%s: measured, but %v", c.what, err)
			}
		}
	}
}

func TestMeasureSaysWhatSharesMemory(t *testing.T) {
	s := allServed()
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version = 3
	check := func(what string, msg kmsg.Request, want bool) {
		t.Helper()
		m, err := s.Measure(&RequestHeader{Key: msg.Key(), Version: msg.GetVersion()}, msg.AppendTo(nil))
		if err != nil || m.Aliases != want {
			t.Errorf("%s: %v, %v", what, m.Aliases, err)
		}
	}
	check("SyncGroup without assignment", sync, false)
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: "m"}}
	check("SyncGroup with an empty one", sync, false)
	sync.GroupAssignment[0].MemberAssignment = []byte{1}
	check("SyncGroup with one", sync, true)
	meta := kmsg.NewPtrMetadataRequest()
	meta.Version = 12
	check("Metadata", meta, false)
	meta.UnknownTags.Set(77, []byte{1})
	check("Metadata with an unknown tag", meta, true)
}

// FuzzRequests takes key and version from the input: what Measure accepts, the
// codec decodes.
func FuzzRequests(f *testing.F) {
	s := allServed()
	fill := filler{r: rand.New(rand.NewPCG(1, 2)), text: 5, count: func(int) int { return 1 }}
	for _, a := range s.List() {
		for _, v := range []int16{a.Min, a.Max} {
			f.Add(int16(a.Key), v, fill.message(a, v).AppendTo(nil))
		}
	}
	f.Fuzz(func(t *testing.T, key, version int16, body []byte) {
		h := &RequestHeader{Key: key, Version: version}
		if _, err := s.Admit(h, Broker|Controller); err != nil {
			return
		}
		m, err := s.Measure(h, body)
		if err != nil {
			return
		}
		if limit := 200*int64(len(body)) + 4096; m.Memory > limit {
			t.Errorf("%d bytes cost %d", len(body), m.Memory)
		}
		if _, err := Decode(h, body); err != nil {
			t.Errorf("key %d version %d: measured, but %v", key, version, err)
		}
	})
}

func BenchmarkMeasureProduce(b *testing.B) {
	s := allServed()
	msg := kmsg.NewPtrProduceRequest()
	msg.Version = 12
	p := kmsg.ProduceRequestTopicPartition{Records: make([]byte, 16<<10)}
	msg.Topics = []kmsg.ProduceRequestTopic{{Topic: "a-topic-name", Partitions: []kmsg.ProduceRequestTopicPartition{p}}}
	body := msg.AppendTo(nil)
	h := &RequestHeader{Key: 0, Version: 12}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Measure(h, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeProduce(b *testing.B) {
	msg := kmsg.NewPtrProduceRequest()
	msg.Version = 12
	p := kmsg.ProduceRequestTopicPartition{Records: make([]byte, 16<<10)}
	msg.Topics = []kmsg.ProduceRequestTopic{{Topic: "a-topic-name", Partitions: []kmsg.ProduceRequestTopicPartition{p}}}
	body := msg.AppendTo(nil)
	h := &RequestHeader{Key: 0, Version: 12}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(h, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewServed(b *testing.B) {
	for b.Loop() {
		allServed()
	}
}

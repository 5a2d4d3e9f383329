package metarec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/kafka/msgfmt"
)

// vector is a message that Apache Kafka wrote.
type vector struct {
	name    string
	id      int // -1 for control records
	version int16
	variant string // "full", "null", "default"
	body    []byte
	json    string
}

func vectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/messages.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		f := strings.Split(s.Text(), "\t")
		v := vector{name: f[0], id: -1, variant: f[3], json: f[5]}
		if f[1] != "-" {
			v.id, err = strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
		}
		version, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		v.version = int16(version)
		if v.body, err = hex.DecodeString(f[4]); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if len(out) < 90 {
		t.Fatalf("only %d vectors", len(out))
	}
	return out
}

// codec is what data and control records share.
type codec interface {
	Versions() (lowest, highest int16)
	AppendTo(dst []byte, version int16) ([]byte, error)
	ReadFrom(src []byte, version int16) (rest []byte, err error)
	AppendJSON(dst []byte, version int16) []byte
}

func newCodec(t testing.TB, v vector) codec {
	t.Helper()
	if v.id >= 0 {
		m := newMessage(RecordType(v.id))
		if m == nil {
			t.Fatalf("%s: type %d is not known", v.name, v.id)
		}
		return m
	}
	for c := ControlLeaderChange; c <= ControlVoters; c++ {
		if m := newControl(c); reflect.TypeOf(m).Elem().Name() == v.name {
			return m
		}
	}
	t.Fatalf("%s: no such control record", v.name)
	return nil
}

func TestMessagesOfApacheKafkaAreReadAndWrittenByteForByte(t *testing.T) {
	for _, v := range vectors(t) {
		m := newCodec(t, v)
		rest, err := m.ReadFrom(v.body, v.version)
		if err != nil || len(rest) > 0 {
			t.Errorf("%s v%d %s: %v, %d bytes left", v.name, v.version, v.variant, err, len(rest))
			continue
		}
		if got, err := m.AppendTo(nil, v.version); err != nil || !bytes.Equal(got, v.body) {
			t.Errorf("%s v%d %s: written as\n%x, %v, want\n%x", v.name, v.version, v.variant, got, err, v.body)
		}
		if v.variant == "full" {
			if got := string(m.AppendJSON(nil, v.version)); got != v.json {
				t.Errorf("%s v%d: JSON\n%s, want\n%s", v.name, v.version, got, v.json)
			}
		}
	}
}

func TestNewGivesTheDefaultsOfApacheKafka(t *testing.T) {
	for _, v := range vectors(t) {
		if v.variant != "default" {
			continue
		}
		m := newCodec(t, v)
		// Kafka's classes begin a nullable string without a default as empty, we as null.
		if m, ok := m.(*RegisterBrokerRecord); ok {
			m.Rack = new(string)
		}
		if m, ok := m.(*ConfigRecord); ok {
			m.Value = new(string)
		}
		if got, err := m.AppendTo(nil, v.version); err != nil || !bytes.Equal(got, v.body) {
			t.Errorf("%s v%d: a new message is written as %x, %v, want %x", v.name, v.version, got, err, v.body)
		}
	}
}

func TestTypesHaveTheNamesOfApacheKafka(t *testing.T) {
	for _, v := range vectors(t) {
		if v.id < 0 {
			continue
		}
		if got := strings.ToLower(strings.ReplaceAll(RecordType(v.id).String(), "_", "")); got != strings.ToLower(v.name) {
			t.Errorf("type %d is %s, want %s", v.id, RecordType(v.id), v.name)
		}
	}
	if got := TypeNoOp.String(); got != "NO_OP_RECORD" {
		t.Errorf("type 20 is %s", got)
	}
}

func TestFrame(t *testing.T) {
	m := NewTopicRecord()
	m.Name, m.TopicID = "a", kafka.UUID{15: 9}
	frame, err := Encode([]byte("x"), m, 0)
	want := append([]byte{'x', 1, 2, 0, 2, 'a'}, append(m.TopicID[:], 0)...)
	if err != nil || !bytes.Equal(frame, want) {
		t.Fatalf("frame %x, %v, want %x", frame, err, want)
	}
	back, version, err := Decode(frame[1:])
	if err != nil || version != 0 || !reflect.DeepEqual(back, m) {
		t.Fatalf("read back %+v version %d, %v", back, version, err)
	}
	for name, c := range map[string]struct {
		frame []byte
		want  error
	}{
		"empty":           {nil, ErrFrame},
		"frame version 0": {[]byte{0, 2, 0}, ErrFrame},
		"frame version 2": {[]byte{2, 2, 0}, ErrFrame},
		"no version":      {[]byte{1, 20}, ErrFrame},
		"trailing byte":   {[]byte{1, 20, 0, 0, 0}, ErrFrame},
		"unknown type":    {[]byte{1, 30, 0, 0}, ErrUnknownType},
		"hole in types":   {[]byte{1, 6, 0, 0}, ErrUnknownType},
		"huge type":       {[]byte{1, 0xff, 0xff, 0x7f, 0, 0}, ErrFrame},
	} {
		if _, _, err := Decode(c.frame); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, _, err := Decode([]byte{1, 20, 1, 0}); err == nil {
		t.Error("an unknown version gave no error")
	}
}

func TestJSONOfARecord(t *testing.T) {
	m := NewBrokerRegistrationChangeRecord()
	m.BrokerID, m.BrokerEpoch, m.CordonedLogDirs = 1, 13, []kafka.UUID{}
	got := string(AppendJSON(nil, m, VersionAt(m, kafka.LatestMetadataVersion)))
	want := `{"type":"BROKER_REGISTRATION_CHANGE_RECORD","version":3,"data":{"brokerId":1,"brokerEpoch":13,"cordonedLogDirs":[]}}`
	if got != want {
		t.Errorf("JSON %s, want %s", got, want)
	}
}

func TestUnknownTaggedFieldsAreWrittenBackInOrder(t *testing.T) {
	// No known tags: an id, then three tagged fields.
	raw := append(make([]byte, 16), 3, 2, 2, 0xaa, 0xbb, 5, 1, 0xcc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0)
	topic := NewRemoveTopicRecord()
	if rest, err := topic.ReadFrom(raw, 0); err != nil || len(rest) > 0 {
		t.Fatalf("%v, %d left", err, len(rest))
	}
	if got, err := topic.AppendTo(nil, 0); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("written as %x, %v, want %x", got, err, raw)
	}
	// Behind a known tag: Leader (1), then tag 9 with 200 bytes.
	m := NewPartitionChangeRecord()
	m.Leader = 3
	body, err := m.AppendTo(nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	long := append(body[:20:20], 2, 1, 4, 0, 0, 0, 3, 9, 0xc8, 1)
	long = append(long, bytes.Repeat([]byte{7}, 200)...)
	if rest, err := m.ReadFrom(long, 2); err != nil || len(rest) > 0 {
		t.Fatalf("%v, %d left", err, len(rest))
	}
	if got, err := m.AppendTo(nil, 2); err != nil || !bytes.Equal(got, long) {
		t.Errorf("written as %x, %v, want %x", got, err, long)
	}
}

// TestEmptyListIsNotNull: an empty list in a change takes all members away.
func TestEmptyListIsNotNull(t *testing.T) {
	change := NewPartitionChangeRecord()
	change.Isr, change.Directories, change.EligibleLeaderReplicas = []kafka.BrokerID{}, []kafka.UUID{}, []kafka.BrokerID{}
	whole := NewPartitionRecord()
	whole.EligibleLeaderReplicas, whole.LastKnownElr = []kafka.BrokerID{}, []kafka.BrokerID{}
	broker := NewBrokerRegistrationChangeRecord()
	broker.CordonedLogDirs = []kafka.UUID{}
	for _, m := range []Message{change, whole, broker} {
		_, highest := m.Versions()
		frame, err := Encode(nil, m, highest)
		if err != nil {
			t.Fatal(err)
		}
		if back, _, err := Decode(frame); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v came back as %+v, %v", m, back, err)
		}
	}
}

func TestLongTaggedFieldsAndManyOfThem(t *testing.T) {
	m := NewPartitionChangeRecord()
	for i := range 5000 {
		m.Replicas = append(m.Replicas, kafka.BrokerID(i))
		m.UnknownTags = append(m.UnknownTags, tagOf(uint32(i+100)))
	}
	body, err := m.AppendTo(nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	back := NewPartitionChangeRecord()
	if rest, err := back.ReadFrom(body, 2); err != nil || len(rest) > 0 || !reflect.DeepEqual(back, m) {
		t.Errorf("%v, %d left, %d replicas, %d tags", err, len(rest), len(back.Replicas), len(back.UnknownTags))
	}
}

func TestEncodeRefusesWhatTheVersionCannotHold(t *testing.T) {
	change := NewPartitionChangeRecord()
	change.EligibleLeaderReplicas = []kafka.BrokerID{}
	broker := NewRegisterBrokerRecord()
	broker.InControlledShutdown = true
	dirs := NewPartitionRecord()
	dirs.Directories = []kafka.UUID{{}}
	topic := NewTopicRecord()
	topic.Name = strings.Repeat("x", 40000)
	for _, c := range []struct {
		m       Message
		version int16
	}{{change, 1}, {broker, 0}, {dirs, 0}, {topic, 0}, {change, 3}, {change, -1}} {
		if out, err := Encode(nil, c.m, c.version); err == nil {
			t.Errorf("%s v%d was written: %x", c.m.Type(), c.version, out)
		}
	}
}

func TestDecodeTakesNoMemoryForElementsThatAreNotThere(t *testing.T) {
	// A PartitionRecord that names 900,000 replicas in a few bytes.
	body := append(binary.AppendUvarint(make([]byte, 20), 900_001), make([]byte, 20)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := NewPartitionRecord().ReadFrom(body, 2); !errors.Is(err, msgfmt.ErrShort) {
			t.Fatalf("error %v", err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes for 100 messages", n)
	}
}

func TestVersionFollowsMetadataVersionAndContent(t *testing.T) {
	for _, c := range []struct {
		mv                        kafka.MetadataVersion
		register, partition, elrs int16
	}{{7, 1, 0, 0}, {8, 2, 0, 0}, {16, 2, 0, 0}, {17, 3, 1, 1}, {22, 3, 1, 1}, {23, 3, 2, 2}, {29, 3, 2, 2}, {30, 4, 2, 2}, {33, 4, 2, 2}} {
		if got := VersionAt(NewRegisterBrokerRecord(), c.mv); got != c.register {
			t.Errorf("RegisterBroker at %d: %d, want %d", c.mv, got, c.register)
		}
		if got := VersionAt(NewPartitionRecord(), c.mv); got != c.partition {
			t.Errorf("Partition at %d: %d, want %d", c.mv, got, c.partition)
		}
		if got := VersionAt(NewPartitionChangeRecord(), c.mv); got != c.elrs {
			t.Errorf("PartitionChange at %d: %d, want %d", c.mv, got, c.elrs)
		}
	}
	m := NewBrokerRegistrationChangeRecord()
	for version, set := range []func(){
		func() { m.Fenced = FencingFence },
		func() { m.InControlledShutdown = ControlledShutdownEnter },
		func() { m.LogDirs = []kafka.UUID{{1}} },
		func() { m.CordonedLogDirs = []kafka.UUID{} },
	} {
		set()
		if got := VersionAt(m, kafka.LatestMetadataVersion); got != int16(version) {
			t.Errorf("BrokerRegistrationChange: version %d, want %d", got, version)
		}
	}
}

func TestControlRecords(t *testing.T) {
	voters := &VotersRecord{Voters: []Voter{{VoterID: 1, VoterDirectoryID: kafka.UUID{1}, Endpoints: []VoterEndpoint{{Name: "CONTROLLER", Host: "h", Port: 9093}}, KRaftVersionFeature: KRaftVersionRange{MaxSupportedVersion: 1}}}}
	for _, m := range []ControlRecord{
		&LeaderChangeMessage{LeaderID: 1, Voters: []ElectionVoter{{VoterID: 1}}},
		&LeaderChangeMessage{Version: 1, LeaderID: 1, Voters: []ElectionVoter{{VoterID: 1, VoterDirectoryID: kafka.UUID{2}}}},
		&SnapshotHeaderRecord{LastContainedLogTimestamp: 5}, &SnapshotFooterRecord{}, &KRaftVersionRecord{KRaftVersion: 1}, voters,
	} {
		key, value, err := EncodeControl(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeControl(key, value)
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v came back as %+v, %v", m, back, err)
		}
		if _, err := DecodeControl(key, append(value, 0)); err == nil {
			t.Errorf("%T: a trailing byte gave no error", m)
		}
	}
	if m, err := DecodeControl([]byte{0, 0, 0, 1}, []byte{0, 0}); m != nil || err != nil {
		t.Errorf("a transaction marker: %v, %v", m, err)
	}
	if _, err := DecodeControl([]byte{0, 0}, nil); err == nil {
		t.Error("a short key gave no error")
	}
	if _, _, err := EncodeControl(&VotersRecord{Version: 1}); err == nil {
		t.Error("an unknown version was written")
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		if v.id >= 0 {
			f.Add(append([]byte{1, byte(v.id), byte(v.version)}, v.body...))
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, version, err := Decode(frame)
		if err != nil {
			return
		}
		AppendJSON(nil, m, version)
		again, err := Encode(nil, m, version)
		if err != nil {
			t.Fatalf("%+v v%d was read but cannot be written: %v", m, version, err)
		}
		back, _, err := Decode(again)
		if err != nil || !equal(back, m) {
			t.Fatalf("%+v came back as %+v, %v", m, back, err)
		}
	})
}

func FuzzDecodeControl(f *testing.F) {
	for _, v := range vectors(f) {
		if v.id < 0 {
			f.Add(byte(2), v.body)
			f.Add(byte(6), v.body)
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, value []byte) {
		m, err := DecodeControl([]byte{0, 0, 0, kind}, value)
		if err != nil || m == nil {
			return
		}
		if _, _, err := EncodeControl(m); err != nil {
			t.Fatalf("%+v was read but cannot be written: %v", m, err)
		}
	})
}

func tagOf(n uint32) msgfmt.Tag { return msgfmt.Tag{Tag: n, Data: []byte{1}} }

// equal compares by content; not-a-number equals itself.
func equal(a, b Message) bool {
	x, y := a, b
	if q, ok := a.(*ClientQuotaRecord); ok && math.IsNaN(q.Value) {
		c, ok := b.(*ClientQuotaRecord)
		if !ok || !math.IsNaN(c.Value) {
			return false
		}
		xq, yq := *q, *c
		xq.Value, yq.Value = 0, 0
		x, y = &xq, &yq
	}
	return reflect.DeepEqual(x, y)
}

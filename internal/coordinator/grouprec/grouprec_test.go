package grouprec

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// vector is a message that Apache Kafka wrote.
type vector struct {
	name    string
	id      RecordType
	version int16
	variant string // "full", "null", "default"
	body    []byte
	json    string
}

func (v vector) key() bool { return strings.HasSuffix(v.name, "Key") }

func (v vector) message(t testing.TB) Message {
	t.Helper()
	m := newValue(v.id)
	if v.key() {
		m = newKey(v.id)
	}
	if m == nil || reflect.TypeOf(m).Elem().Name() != v.name {
		t.Fatalf("%s: type %d gives %T", v.name, v.id, m)
	}
	return m
}

func vectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/messages.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		f := strings.Split(s.Text(), "\t")
		id, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		version, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		body, err := hex.DecodeString(f[4])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, vector{f[0], RecordType(id), int16(version), f[3], body, f[5]})
	}
	if len(out) != 115 {
		t.Fatalf("%d vectors", len(out))
	}
	return out
}

func TestMessagesOfApacheKafkaAreReadAndWrittenByteForByte(t *testing.T) {
	for _, v := range vectors(t) {
		m := v.message(t)
		rest, err := m.ReadFrom(v.body, v.version)
		if err != nil || len(rest) > 0 {
			t.Errorf("%s v%d %s: %v, %d bytes left", v.name, v.version, v.variant, err, len(rest))
			continue
		}
		if got, err := m.AppendTo(nil, v.version); err != nil || !bytes.Equal(got, v.body) {
			t.Errorf("%s v%d %s: written as\n%x, %v, want\n%x", v.name, v.version, v.variant, got, err, v.body)
		}
		if got := string(m.AppendJSON(nil, v.version)); v.variant != "default" && got != v.json {
			t.Errorf("%s v%d %s: JSON\n%s, want\n%s", v.name, v.version, v.variant, got, v.json)
		}
	}
}

// TestNewGivesTheDefaultsOfApacheKafka leaves out messages with strings that may be
// null: Kafka's classes begin them as empty, we as null.
func TestNewGivesTheDefaultsOfApacheKafka(t *testing.T) {
	stringPointer := reflect.TypeFor[*string]()
	for _, v := range vectors(t) {
		m := v.message(t)
		for i := range reflect.ValueOf(m).Elem().NumField() {
			if f := reflect.ValueOf(m).Elem().Field(i); f.Type() == stringPointer {
				f.Set(reflect.ValueOf(new(string)))
			}
		}
		if v.variant != "default" {
			continue
		}
		if got, err := m.AppendTo(nil, v.version); err != nil || !bytes.Equal(got, v.body) {
			t.Errorf("%s v%d: a new message is written as %x, %v, want %x", v.name, v.version, got, err, v.body)
		}
	}
}

func TestKeyAndValue(t *testing.T) {
	key := NewOffsetCommitKey()
	key.Group, key.Topic, key.Partition = "g", "t", 2
	raw, err := AppendKey(nil, key)
	if want := []byte{0, 1, 0, 1, 'g', 0, 1, 't', 0, 0, 0, 2}; err != nil || !bytes.Equal(raw, want) {
		t.Fatalf("key %x, %v, want %x", raw, err, want)
	}
	back, err := DecodeKey(raw)
	if err != nil || !reflect.DeepEqual(back, key) {
		t.Fatalf("key came back as %+v, %v", back, err)
	}
	if got := string(AppendKeyJSON(nil, back)); got != `{"type":"1","data":{"group":"g","topic":"t","partition":2}}` {
		t.Errorf("key JSON %s", got)
	}
	value := NewOffsetCommitValue()
	value.Offset, value.CommitTimestamp = 21, 1795961433390
	value.TopicID = [16]byte{1}
	raw, err = AppendValue(nil, value, 4)
	if err != nil {
		t.Fatal(err)
	}
	again, version, err := DecodeValue(TypeOffsetCommit, raw)
	if err != nil || version != 4 || !reflect.DeepEqual(again, value) {
		t.Fatalf("value came back as %+v v%d, %v", again, version, err)
	}
	want := `{"version":"4","data":{"offset":21,"leaderEpoch":-1,"metadata":"","commitTimestamp":1795961433390,"topicId":"AQAAAAAAAAAAAAAAAAAAAA"}}`
	if got := string(AppendValueJSON(nil, again, version)); got != want {
		t.Errorf("value JSON %s, want %s", got, want)
	}
	for name, fail := range map[string]func() error{
		"empty key":       func() error { _, err := DecodeKey(nil); return err },
		"negative type":   func() error { _, err := DecodeKey([]byte{0xff, 0xff}); return err },
		"trailing byte":   func() error { _, err := DecodeKey([]byte{0, 2, 0, 0, 0}); return err },
		"value's version": func() error { _, _, err := DecodeValue(TypeOffsetCommit, []byte{0, 9}); return err },
		"trailing value":  func() error { _, _, err := DecodeValue(TypeOffsetCommit, append(raw, 0)); return err },
	} {
		if fail() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, unknown := range []byte{9, 18, 24} {
		if _, err := DecodeKey([]byte{0, unknown}); !errors.Is(err, ErrUnknownType) {
			t.Errorf("type %d: %v", unknown, err)
		}
	}
}

func TestWhatAnOldVersionLacksIsDroppedOnlyWhereThatIsAllowed(t *testing.T) {
	value := NewOffsetCommitValue()
	value.LeaderEpoch, value.ExpireTimestamp, value.TopicID = 5, 9, [16]byte{1}
	for version := range int16(5) {
		if _, err := value.AppendTo(nil, version); err != nil {
			t.Errorf("offset v%d: %v", version, err)
		}
	}
	id := "i"
	group := NewGroupMetadataValue()
	group.Members = []MemberMetadata{{GroupInstanceID: &id}}
	if _, err := group.AppendTo(nil, 2); err != nil {
		t.Errorf("group v2: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		head := []byte{0, byte(v.id)}
		if v.key() {
			f.Add(append(head, v.body...), []byte{})
		} else {
			f.Add(head, append([]byte{0, byte(v.version)}, v.body...))
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if m, err := DecodeKey(key); err == nil {
			AppendKeyJSON(nil, m)
			if again, err := AppendKey(nil, m); err != nil || !bytes.Equal(again, key) {
				t.Fatalf("key %x was written as %x, %v", key, again, err)
			}
		}
		if len(key) < 2 {
			return
		}
		m, version, err := DecodeValue(RecordType(key[1]), value)
		if err != nil {
			return
		}
		AppendValueJSON(nil, m, version)
		again, err := AppendValue(nil, m, version)
		if err != nil {
			t.Fatalf("%+v v%d was read but cannot be written: %v", m, version, err)
		}
		if back, _, err := DecodeValue(m.Type(), again); err != nil || !reflect.DeepEqual(back, m) {
			t.Fatalf("%+v came back as %+v, %v", m, back, err)
		}
	})
}

package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"encoding/hex"

	"barnabas/internal/kafka"
)

// legacyLogs reads testdata/legacy.txt: name to message set.
func legacyLogs(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/legacy.txt")
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		name, digits, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || name == "#" || !strings.HasPrefix(name, "magic") {
			continue
		}
		if logs[name], err = hex.DecodeString(digits); err != nil {
			t.Fatal(err)
		}
	}
	if len(logs) != 12 {
		t.Fatalf("%d logs", len(logs))
	}
	return logs
}

// splitAny cuts a log into its entries of any magic, by their headers.
func splitAny(t testing.TB, log []byte) (entries [][]byte) {
	t.Helper()
	for len(log) > 0 {
		h, err := ParseHeader(log)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(log[:h.Size]); err != nil {
			t.Fatal(err)
		}
		entries, log = append(entries, log[:h.Size]), log[h.Size:]
	}
	return entries
}

func TestMessageSetsOfApacheAreRead(t *testing.T) {
	want := []content{
		{offset: 40, timestamp: 1500000000000, key: []byte("key-a"), value: []byte("value-a")},
		{offset: 41, timestamp: 1500000000005, value: []byte("value-b")},
		{offset: 42, timestamp: 1500000000003, key: []byte("key-c")},
	}
	for name, log := range legacyLogs(t) {
		var got []content
		for _, e := range splitAny(t, log) {
			records, err := readAll(t, e)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got = append(got, records...)
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d records", name, len(got))
			continue
		}
		for i, w := range want {
			if strings.HasPrefix(name, "magic0") {
				w.timestamp = kafka.NoTimestamp
			} else if strings.HasSuffix(name, "append") {
				w.timestamp = 1600000000000
			}
			if !got[i].equal(w) {
				t.Errorf("%s, record %d: %v, want %v", name, i, got[i], w)
			}
		}
	}
}

func TestHeadersOfMessageSets(t *testing.T) {
	logs := legacyLogs(t)
	h, err := ParseHeader(logs["magic1-gzip-append"])
	if err != nil {
		t.Fatal(err)
	}
	if h.LastOffset() != 42 || h.Magic != 1 || h.Attributes.Codec() != Gzip || h.Attributes.TimestampType() != LogAppendTime ||
		h.MaxTimestamp != 1600000000000 || h.HasProducer() || h.LastSequence() != NoSequence || h.Count != -1 || h.LeaderEpoch != kafka.NoLeaderEpoch {
		t.Errorf("%+v", h)
	}
	if h, err = ParseHeader(logs["magic0-lz4"]); err != nil || h.MaxTimestamp != kafka.NoTimestamp || h.Attributes.Codec() != LZ4 {
		t.Errorf("%+v, %v", h, err)
	}
	for n := range 26 {
		if _, err := ParseHeader(logs["magic1-none"][:n]); !errors.Is(err, ErrShort) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// legacyMessage builds an entry of magic 1.
func legacyMessage(offset int64, attributes byte, key, value []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(offset))
	b = append(b, make([]byte, 8)...)
	b = append(b, 1, attributes)
	b = binary.BigEndian.AppendUint64(b, 1234)
	for _, f := range [][]byte{key, value} {
		b = binary.BigEndian.AppendUint32(b, uint32(fieldSize(f)))
		b = append(b, f...)
	}
	binary.BigEndian.PutUint32(b[posLength:], uint32(len(b)-LogOverhead))
	binary.BigEndian.PutUint32(b[posLegacyCRC:], crc32.ChecksumIEEE(b[posMagic:]))
	return b
}

func TestWrapperThatWasNeverGivenAnOffset(t *testing.T) {
	inner := join(legacyMessage(0, 0, nil, []byte("a")), legacyMessage(1, 0, nil, []byte("b")))
	got, err := readAll(t, legacyMessage(0, byte(Gzip), nil, gzipOf(t, inner)))
	if err != nil || len(got) != 2 || got[0].offset != 0 || got[1].offset != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAppendTimeOfAWrapperIsThatOfItsMessages(t *testing.T) {
	inner := legacyMessage(0, 0, nil, []byte("a"))
	wrapper := legacyMessage(9, byte(Gzip)|byte(logAppendTimeFlag), nil, gzipOf(t, inner))
	binary.BigEndian.PutUint64(wrapper[posLegacyTimestamp:], 5678)
	if got, err := readAll(t, wrapper); err != nil || len(got) != 1 || got[0].timestamp != 5678 || got[0].offset != 9 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestMalformedMessageSets(t *testing.T) {
	plain := legacyMessage(5, 0, []byte("k"), []byte("v"))
	for name, entry := range map[string][]byte{
		"wrapper without a value":    legacyMessage(5, byte(Gzip), nil, nil),
		"empty wrapper":              legacyMessage(5, byte(Gzip), nil, gzipOf(t, nil)),
		"zstd":                       legacyMessage(5, byte(Zstd), nil, zstdOf(t, plain)),
		"garbage in the wrapper":     legacyMessage(5, byte(Snappy), nil, []byte("garbage")),
		"wrapper in a wrapper":       legacyMessage(5, byte(Gzip), nil, gzipOf(t, legacyMessage(0, byte(Gzip), nil, gzipOf(t, plain)))),
		"inner message cut":          legacyMessage(5, byte(Gzip), nil, gzipOf(t, plain[:len(plain)-1])),
		"offset below the inner one": legacyMessage(4, byte(Gzip), nil, gzipOf(t, plain)),
		"key beyond the message":     edit(plain, 29, 0x70),
		"value beyond the message":   edit(plain, 34, 0x70),
		"value before the end":       edit(plain, 34, 1),
		"batch in a wrapper":         legacyMessage(5, byte(Gzip), nil, gzipOf(t, threeRecords(t, BatchOptions{}))),
	} {
		if _, err := readAll(t, entry); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrBadMagic) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Verify(edit(plain, -1, 1)); !errors.Is(err, ErrBadCRC) {
		t.Error(err)
	}
}

func TestWrapperLargerThanTheLimit(t *testing.T) {
	inner := legacyMessage(0, 0, nil, bytes.Repeat([]byte("x"), 10_000))
	it := Iterator{MaxRecordSize: 5_000}
	it.Reset(legacyMessage(0, byte(Gzip), nil, gzipOf(t, inner)))
	if it.Next() || !errors.Is(it.Err(), ErrTooLarge) {
		t.Error(it.Err())
	}
}

package record

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"barnabas/internal/kafka"
)

// goldenLogs reads testdata/batches.txt: name to content of a log file.
func goldenLogs(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open("testdata/batches.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	logs := map[string][]byte{}
	for s := bufio.NewScanner(f); s.Scan(); {
		name, text, ok := strings.Cut(s.Text(), " ")
		if !ok || name == "#" {
			continue
		}
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		logs[name] = b
	}
	if len(logs) == 0 {
		t.Fatal("no golden logs")
	}
	return logs
}

// split cuts a log into its batches, all of which must be sound.
func split(t testing.TB, log []byte) []Batch {
	t.Helper()
	var batches []Batch
	for len(log) > 0 {
		b, rest, err := Next(log)
		if err != nil {
			t.Fatalf("batch %d: %v", len(batches), err)
		}
		if err := b.CheckCRC(); err != nil {
			t.Fatalf("batch %d: %v", len(batches), err)
		}
		batches, log = append(batches, b), rest
	}
	return batches
}

// describe lists the records of an entry, one a line.
func describe(t testing.TB, entry []byte) string {
	t.Helper()
	var it Iterator
	defer it.Close()
	var out strings.Builder
	for it.Reset(entry); it.Next(); {
		r := it.Record()
		fmt.Fprintf(&out, "%d %d %s %s", r.Offset, r.Timestamp, text(r.Key), text(r.Value))
		for k, v := range r.Headers.All() {
			fmt.Fprintf(&out, " %s=%s", k, text(v))
		}
		out.WriteString("\n")
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func text(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%q", b)
}

const goldenRecords = `0 1700000000000 "key-a" "value-a" h="\x01\x02" nil=null
1 1700000000005 null "value-b"
2 1700000000003 "key-c" null
`

func TestGoldenRecordsOfEveryCodecAreTheSame(t *testing.T) {
	logs := goldenLogs(t)
	for _, name := range []string{"none-0", "gzip-0", "snappy-0", "lz4-0", "zstd-0", "bigcodec-0"} {
		for _, b := range split(t, logs[name]) {
			if got := describe(t, b); got != goldenRecords {
				t.Errorf("%s:\n%s", name, got)
			}
		}
	}
}

func TestGoldenHeaderFields(t *testing.T) {
	b := split(t, goldenLogs(t)["idem-0"])[1]
	want := Header{
		BaseOffset: 3, Size: 116, Magic: 2, CRC: 0xe40762ca, LastOffsetDelta: 2,
		BaseTimestamp: 1700000000010, MaxTimestamp: 1700000000015,
		ProducerID: 1, BaseSequence: 3, Count: 3,
	}
	if got := b.Header(); got != want {
		t.Errorf("header %+v, want %+v", got, want)
	}
	if h, err := ParseHeader(b[:HeaderSize]); err != nil || h != want {
		t.Errorf("parsed header %+v, %v", h, err)
	}
	if b.LastOffset() != 5 || b.NextOffset() != 6 || b.LastSequence() != 5 || want.LastSequence() != 5 || want.LastOffset() != 5 {
		t.Errorf("last offset %d, last sequence %d", b.LastOffset(), b.LastSequence())
	}
}

func TestGoldenLogAppendTimeIsTheTimestampOfEachRecord(t *testing.T) {
	b := split(t, goldenLogs(t)["append-0"])[0]
	if b.TimestampType() != LogAppendTime {
		t.Fatal("not LogAppendTime")
	}
	want := strings.NewReplacer("1700000000000", "1795962105236", "1700000000005", "1795962105236", "1700000000003", "1795962105236").Replace(goldenRecords)
	if got := describe(t, b); got != want {
		t.Errorf("records:\n%s", got)
	}
}

// rebuilt builds a batch again from its records and its header.
func rebuilt(t testing.TB, b Batch) Batch {
	t.Helper()
	opts := BatchOptions{
		BaseOffset: b.BaseOffset(), LeaderEpoch: b.LeaderEpoch(), Compression: Compression{Codec: b.Codec()},
		Transactional: b.IsTransactional(), Control: b.IsControl(), TimestampType: b.TimestampType(), AppendTime: b.MaxTimestamp(),
		LastOffset: b.LastOffset(),
	}
	if b.ProducerID() != kafka.NoProducerID {
		opts.Producer = &Producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence()}
	}
	if h, ok := b.DeleteHorizon(); ok {
		opts.DeleteHorizon = &h
	}
	builder := NewBuilder(opts)
	var it Iterator
	defer it.Close()
	// What the records said before the append time hid it is in their deltas.
	plain := bytes.Clone(b)
	Batch(plain).SetMaxTimestamp(CreateTime, b.MaxTimestamp())
	for it.Reset(plain); it.Next(); {
		builder.AppendAt(*it.Record())
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	out, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkRebuilt rebuilds a batch. None and LZ4 must give the same bytes; the other
// codecs have other encoders than Apache's, but the same header and records.
func checkRebuilt(t *testing.T, name string, b Batch) {
	t.Helper()
	got := rebuilt(t, b)
	if c := b.Codec(); c == None || c == LZ4 {
		if !bytes.Equal(got, b) {
			t.Errorf("%s: rebuilt as\n%x\nnot\n%x", name, []byte(got), []byte(b))
		}
		return
	}
	h, want := got.Header(), b.Header()
	h.CRC, h.Size, want.CRC, want.Size = 0, 0, 0, 0
	if h != want {
		t.Errorf("%s: rebuilt with header\n%+v\nnot\n%+v", name, h, want)
	}
	if describe(t, got) != describe(t, b) {
		t.Errorf("%s: rebuilt with other records", name)
	}
}

func TestGoldenBatchesAreRebuilt(t *testing.T) {
	for name, log := range goldenLogs(t) {
		for i, b := range split(t, log) {
			checkRebuilt(t, fmt.Sprintf("%s, batch %d", name, i), b)
		}
	}
}

func TestCompactedLogsOfApacheAreRebuilt(t *testing.T) {
	horizons := 0
	for _, name := range []string{"compacted.log", "compacted-txn.log"} {
		log, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range split(t, log) {
			if _, ok := b.DeleteHorizon(); ok {
				horizons++
			}
			checkRebuilt(t, fmt.Sprintf("%s, batch %d", name, i), b)
		}
	}
	if horizons == 0 {
		t.Error("no batch with a delete horizon: the sample shows nothing")
	}
}

func TestGoldenTransactionMarkers(t *testing.T) {
	batches := split(t, goldenLogs(t)["txn-3"])
	for i, commit := range map[int]bool{0: true, 2: false} {
		b := batches[i]
		if !b.IsControl() || !b.IsTransactional() || b.BaseSequence() != NoSequence || b.LastSequence() != NoSequence {
			t.Errorf("batch %d is no marker: %+v", i, b.Header())
		}
		var it Iterator
		it.Reset(b)
		if !it.Next() {
			t.Fatal(it.Err())
		}
		r := it.Record()
		m, err := ParseEndTxnMarker(r.Key, r.Value)
		if err != nil || m != (EndTxnMarker{Commit: commit}) {
			t.Errorf("batch %d: marker %+v, %v", i, m, err)
		}
		again := m.Record(r.Timestamp)
		if !bytes.Equal(again.Key, r.Key) || !bytes.Equal(again.Value, r.Value) {
			t.Errorf("batch %d: marker encoded as %x %x", i, again.Key, again.Value)
		}
		it.Close()
	}
}

package image

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// readBatches decodes the data batches of a log or snapshot file; control batches come
// without records.
func readBatches(t *testing.T, path string) []Batch {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []Batch
	for len(file) > 0 {
		raw, rest, err := record.Next(file)
		if err != nil {
			t.Fatal(err)
		}
		file = rest
		b := Batch{BaseOffset: raw.BaseOffset(), LastOffset: raw.LastOffset(), Epoch: raw.LeaderEpoch(), Timestamp: raw.MaxTimestamp()}
		var it record.Iterator
		for it.Reset(raw); !raw.IsControl() && it.Next(); {
			m, version, err := metarec.Decode(it.Record().Value)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := metarec.Encode(nil, m, version); err != nil || !bytes.Equal(again, it.Record().Value) {
				t.Fatalf("%s at %d is written as %x, %v", m.Type(), it.Record().Offset, again, err)
			}
			if want := metarec.VersionAt(m, kafka.LatestMetadataVersion); version != want {
				t.Errorf("Apache wrote %s at version %d, we choose %d", m.Type(), version, want)
			}
			b.Records = append(b.Records, m)
		}
		if err := it.Err(); err != nil {
			t.Fatal(err)
		}
		it.Close()
		out = append(out, b)
	}
	return out
}

const (
	goldenLog      = "testdata/golden/00000000000000000000.log"
	goldenSnapshot = "testdata/golden/00000000000000000345-0000000001.checkpoint"
)

func TestLogOfApacheKafkaGivesTheImageOfItsSnapshot(t *testing.T) {
	s := NewStream(Empty())
	for _, b := range readBatches(t, goldenLog) {
		if b.LastOffset >= 345 {
			break
		}
		if _, err := s.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	fromLog := s.Shown()
	if fromLog.Position.Offset != 344 || fromLog.Topics.Len() < 20 || fromLog.SCRAM.Len() == 0 || fromLog.ACLs.Len() == 0 {
		t.Fatalf("the log was not read: offset %d, %d topics", fromLog.Position.Offset, fromLog.Topics.Len())
	}
	b := NewBuilder(Empty())
	var theirs []metarec.Message
	for _, batch := range readBatches(t, goldenSnapshot) {
		for _, m := range batch.Records {
			if err := b.Replay(m); err != nil {
				t.Fatal(err)
			}
			theirs = append(theirs, m)
		}
	}
	fromSnapshot, _ := b.Build(fromLog.Position)
	if d := Diff(fromSnapshot, fromLog); !d.Empty() {
		t.Errorf("they differ: %+v", d)
	}
	compareSnapshots(t, fromLog, theirs)
}

// compareSnapshots holds our snapshot records against Apache's: the same kinds in the
// same order, and the same records of each kind. Within a kind Apache's order is that
// of hash maps.
func compareSnapshots(t *testing.T, img *Image, theirs []metarec.Message) {
	t.Helper()
	var ours []metarec.Message
	err := img.Records(img.Features.MetadataVersion, func(group []metarec.Versioned) error {
		for _, r := range group {
			ours = append(ours, r.Message)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b := texts(ours), texts(theirs)
	if !slices.Equal(kinds(ours), kinds(theirs)) {
		t.Errorf("our kinds of records %v, theirs %v", kinds(ours), kinds(theirs))
	}
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Errorf("ours\n%s\ntheirs\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

// kinds are the types in order of first appearance.
func kinds(records []metarec.Message) []metarec.RecordType {
	var out []metarec.RecordType
	for _, m := range records {
		if !slices.Contains(out, m.Type()) {
			out = append(out, m.Type())
		}
	}
	return out
}

func texts(records []metarec.Message) []string {
	var out []string
	for _, m := range records {
		switch r := m.(type) {
		case *metarec.RegisterBrokerRecord:
			r.Features = sortedFeatures(r.Features)
		case *metarec.RegisterControllerRecord:
			r.Features = sortedFeatures(r.Features)
		case *metarec.ClientQuotaRecord:
			r.Entity = sortedEntity(r.Entity)
		}
		out = append(out, string(metarec.AppendJSON(nil, m, metarec.VersionAt(m, kafka.LatestMetadataVersion))))
	}
	return out
}

// TestSnapshotInTheMiddleChangesNothing replays the whole log at once, and from the
// image of the snapshot on.
func TestSnapshotInTheMiddleChangesNothing(t *testing.T) {
	whole := NewStream(Empty())
	if _, err := whole.Apply(readBatches(t, goldenLog)...); err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(Empty())
	for _, batch := range readBatches(t, goldenSnapshot) {
		for _, m := range batch.Records {
			if err := b.Replay(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	img, _ := b.Build(Position{Offset: 344, Epoch: 1, Aligned: true})
	rest := NewStream(img)
	for _, batch := range readBatches(t, goldenLog) {
		if batch.BaseOffset >= 345 {
			if _, err := rest.Apply(batch); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d := Diff(whole.Shown(), rest.Shown()); !d.Empty() || whole.Shown().Position != rest.Shown().Position {
		t.Errorf("they differ: %+v", d)
	}
}

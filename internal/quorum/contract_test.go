package quorum

import (
	"errors"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/loader"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// imageFollower feeds a loader, as the node does.
type imageFollower struct {
	loader  *loader.Loader
	changes chan LeaderChange
}

func (f imageFollower) LoadSnapshot(r *SnapshotReader) error {
	return f.loader.LoadSnapshot(r.ID().EndOffset, r.ID().Epoch, r)
}
func (f imageFollower) Committed(b []record.Batch) error { return f.loader.Apply(b) }
func (f imageFollower) LeaderChanged(c LeaderChange)     { f.changes <- c }
func (f imageFollower) CutBack(LeaderChange)             {}

// A folder of Apache Kafka becomes an image; the image becomes a snapshot; a restart
// from that snapshot, without the log below it, gives the image again.
func TestImageSurvivesASnapshot(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	copyFolder(t, fsys, "killed")
	id, err := kafka.ParseUUID("IkYWTjb8Q6aUPRUi9rIm4w")
	if err != nil {
		t.Fatal(err)
	}
	start := func() (*Quorum, *image.Image) {
		t.Helper()
		q, err := Open(options(t, fsys, id, c))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = q.Close() })
		f := imageFollower{
			loader.New(loader.Options{CaughtUp: func(kafka.Offset) bool { return true }, Now: c.Now, Logger: quiet()}),
			make(chan LeaderChange, 4),
		}
		q.Start(f)
		<-f.changes
		return q, f.loader.Loaded()
	}
	q, before := start()
	if n := before.Topics.Len(); n < 40 {
		t.Errorf("%d topics", n)
	}
	var w loader.SnapshotWriter
	w, err = q.CreateSnapshot(SnapshotID{before.Position.Offset + 1, before.Position.Epoch}, before.Position.Timestamp)
	if err != nil {
		t.Fatal(err)
	}
	err = before.Records(before.Features.MetadataVersion, func(records []metarec.Versioned) error {
		var frames [][]byte
		for _, r := range records {
			frame, err := metarec.Encode(nil, r.Message, r.Version)
			if err != nil {
				return err
			}
			frames = append(frames, frame)
		}
		return w.Append(frames)
	})
	if err := errors.Join(err, w.Finish()); err != nil {
		t.Fatal(err)
	}
	stopQuorum(t, q)
	q, after := start()
	if after.Topics.Len() != before.Topics.Len() || after.Features.MetadataVersion != before.Features.MetadataVersion {
		t.Errorf("%d topics after, %d before", after.Topics.Len(), before.Topics.Len())
	}
	if s := q.Status(); s.Epoch != 5 {
		t.Errorf("status %+v", s)
	}
	stopQuorum(t, q)
}

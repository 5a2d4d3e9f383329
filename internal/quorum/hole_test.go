package quorum

import (
	"path/filepath"
	"strings"
	"testing"

	"barnabas/internal/base/vfs"
)

// shorten cuts bytes off the end of a file, durably.
func shorten(t *testing.T, fsys vfs.FS, name string, by int64) {
	t.Helper()
	f, err := fsys.Open(filepath.Join(testDir, folderName, name), vfs.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	if by < 0 {
		by = size
	}
	if err := f.Truncate(size - by); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A hole before a new segment: at the end of the log it is cut off, in the middle,
// where an older recovery has left it, it is passed over.
func TestHolesBetweenSegments(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, fsys, c)
	o := options(t, fsys, id, c)
	o.SegmentBytes = 600
	q, f := startQuorum(t, o)
	f.awaitLeader(t)
	appendEach(t, q, f, 1, 2, 3, 4, 5, 6, 7, 8)
	stopQuorum(t, q)
	entries, err := fsys.ReadDir(filepath.Join(testDir, folderName))
	if err != nil {
		t.Fatal(err)
	}
	var segments []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name, ".log") {
			segments = append(segments, e.Name)
		}
	}
	if len(segments) != 2 || segments[1] != "00000000000000000007.log" {
		t.Fatalf("segments %v", segments)
	}

	// Record 4, at offset 6, is lost; those behind it are there.
	shorten(t, fsys, segments[0], 94)
	q, f = startQuorum(t, o)
	if change := f.awaitLeader(t); change.NextOffset != 12 {
		t.Errorf("leader %+v", change)
	}
	if got := f.values(t); len(got) != 7 || got[2] != string(configFrame(t, 3)) || got[3] != string(configFrame(t, 5)) {
		t.Errorf("%d values", len(got))
	}
	stopQuorum(t, q)

	// The new segment is empty: the log ends before the hole.
	shorten(t, fsys, segments[1], -1)
	q, f = startQuorum(t, o)
	if change := f.awaitLeader(t); change.NextOffset != 7 {
		t.Errorf("leader %+v", change)
	}
	appendEach(t, q, f, 9)
	if got := f.values(t); len(got) != 4 || got[3] != string(configFrame(t, 9)) {
		t.Errorf("%d values", len(got))
	}
	stopQuorum(t, q)
}

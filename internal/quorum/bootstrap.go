package quorum

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// legacyBootstrapName is the file in metadata.log.dir to which releases before 4.4
// format.
const legacyBootstrapName = "bootstrap.checkpoint"

// Bootstrap is what the first leader of an empty log writes into it.
type Bootstrap struct {
	Frames [][]byte // framed metadata records; never empty
	Source string   // where they come from, for people
}

// Bootstrap reads what formatting left for the first leader: the records of the
// snapshot 0-0, else those of bootstrap.checkpoint, else the newest metadata.version
// that is in production.
func (q *Quorum) Bootstrap() (Bootstrap, error) {
	for _, path := range []string{
		filepath.Join(q.dir, bootstrapID().fileName()),
		filepath.Join(q.opts.Dir, legacyBootstrapName),
	} {
		frames, err := readFrames(q.opts.FS, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Bootstrap{}, err
		}
		// A snapshot 0-0 of before 4.4 holds control records only.
		if len(frames) > 0 {
			return Bootstrap{Frames: frames, Source: path}, nil
		}
	}
	frames, err := Levels{MetadataVersion: kafka.LatestMetadataVersion}.frames()
	return Bootstrap{Frames: frames, Source: "the default of this release"}, err
}

// readFrames returns the data records of a snapshot file.
func readFrames(fsys vfs.FS, path string) (frames [][]byte, err error) {
	r, err := openSnapshot(fsys, path, bootstrapID())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b, err := r.Next()
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if b.IsControl() {
			continue
		}
		err = eachRecord(b, func(rec *record.Record) error {
			if _, _, err := metarec.Decode(rec.Value); err != nil {
				return err
			}
			frames = append(frames, append([]byte(nil), rec.Value...))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
}

package loader

import (
	"errors"

	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
)

// SnapshotWriter takes the content of one snapshot.
type SnapshotWriter interface {
	// Append writes framed metadata records.
	Append(frames [][]byte) error
	// Finish makes the snapshot whole and durable.
	Finish() error
	// Discard removes what was written.
	Discard() error
}

func (l *Loader) countBytes(n int64) {
	l.mu.Lock()
	l.bytes += n
	l.mu.Unlock()
}

func (l *Loader) resetCounters() {
	l.mu.Lock()
	l.bytes, l.since = 0, l.opts.Now()
	l.mu.Unlock()
}

// judge asks for a snapshot of img if one is due.
func (l *Loader) judge(img *image.Image) {
	if l.opts.CreateSnapshot == nil || !img.Position.Aligned {
		return
	}
	now := l.opts.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch age := now.Sub(l.since); {
	case l.writing || l.due != nil:
		return
	case l.bytes >= l.opts.SnapshotBytes:
		l.dueReason = "enough bytes of log"
	case l.opts.SnapshotAge > 0 && age >= l.opts.SnapshotAge && l.bytes > 0:
		l.dueReason = "enough time"
	default:
		return
	}
	l.due, l.bytes, l.since = img, 0, now
	signal(l.wakeSnapshot)
}

// WriteSnapshot writes the snapshot that is due and says whether one was. A failure is
// logged, once until a snapshot succeeds; the next one is due when enough has come
// again. Calls come one at a time.
func (l *Loader) WriteSnapshot() bool {
	l.mu.Lock()
	img, reason := l.due, l.dueReason
	l.due, l.writing = nil, img != nil
	l.mu.Unlock()
	if img == nil {
		return false
	}
	log := l.opts.Logger.With("offset", int64(img.Position.Offset), "reason", reason)
	switch made, err := l.write(img); {
	case err != nil && l.failing:
		log.Debug("metadata snapshot failed again", "error", err)
	case err != nil:
		l.failing = true
		log.Error("metadata snapshot failed; it is tried again when the next one is due", "error", err)
	case made && l.failing:
		l.failing = false
		log.Info("metadata snapshot made, after some had failed")
	case made:
		log.Debug("metadata snapshot made")
	default:
		log.Debug("there is such a metadata snapshot already")
	}
	l.mu.Lock()
	l.writing = false
	l.mu.Unlock()
	return true
}

// write writes a snapshot of img; made is false when there is one already.
func (l *Loader) write(img *image.Image) (made bool, err error) {
	w, err := l.opts.CreateSnapshot(img.Position)
	if err != nil || w == nil {
		return false, err
	}
	if err := Content(img, w.Append); err != nil {
		return false, errors.Join(err, w.Discard())
	}
	if err := w.Finish(); err != nil {
		return false, errors.Join(err, w.Discard())
	}
	return true, nil
}

// Content gives the framed records of a snapshot of img to write, in groups of at most
// image.GroupSize.
func Content(img *image.Image, write func(frames [][]byte) error) error {
	return img.Records(img.Features.MetadataVersion, func(group []metarec.Versioned) error {
		frames := make([][]byte, len(group))
		for i, r := range group {
			frame, err := metarec.Encode(nil, r.Message, r.Version)
			if err != nil {
				return err
			}
			frames[i] = frame
		}
		return write(frames)
	})
}

package commitlog

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// replacementBuffer is how much of a new segment is gathered before it is written.
const replacementBuffer = 256 << 10

// Replacement is what takes the place of some neighbouring sealed segments: what a
// cleaning has left of them. It is written beside the log, without its lock, as
// files with the suffix ".cleaned", and then put in place in three steps, as a flush
// is: BeginSwap, Sync, EndSwap (swap.go).
//
// It becomes one segment with the base offset of the first one it replaces. Should
// it not fit into one, because batches have grown or their offsets are further
// apart than an index can say, more are begun.
type Replacement struct {
	log     *Log // for env, which is safe to read
	dir     string
	config  *Config
	old     []*segment
	end     kafka.Offset // where the last of them ends
	outputs []*output
}

// output is one of the new segments.
type output struct {
	segment  *segment
	act      active // its size and indexes
	file     vfs.File
	buffered []byte
	written  int64
	aborted  []byte // the transaction index
}

// Replace begins a replacement of the segments [first, first+n), which are sealed.
func (s *Snapshot) Replace(first, n int) (*Replacement, error) {
	if first < 0 || n < 1 || first+n > s.SealedSegments() {
		panic(fmt.Sprintf("BUG: commitlog: replace %d segments from %d of %d", n, first, len(s.segments)))
	}
	r := &Replacement{
		log: s.log, dir: s.dir, config: s.log.config.Load(),
		old: s.segments[first : first+n], end: s.segments[first+n].base,
	}
	if err := r.begin(r.old[0].base); err != nil {
		return nil, errors.Join(err, r.Discard())
	}
	return r, nil
}

// begin begins another new segment.
func (r *Replacement) begin(base kafka.Offset) error {
	f, err := r.log.env.FS.Open(filePath(r.dir, base, logSuffix+cleanedSuffix), vfs.CreateEmpty)
	if err != nil {
		return err
	}
	r.outputs = append(r.outputs, &output{segment: newSegment(base), act: newActive(base, 0, 0), file: f})
	return nil
}

func (r *Replacement) last() *output { return r.outputs[len(r.outputs)-1] }

// Append adds a batch, or an entry of an older format. Entries come in the order of
// their offsets.
func (r *Replacement) Append(entry []byte) error {
	h, err := record.ParseHeader(entry)
	if err != nil {
		return err
	}
	o := r.last()
	if o.act.size > 0 && (o.act.size+int64(len(entry)) > maxSegmentBytes || h.LastOffset()-o.segment.base > maxRelativeOffset) {
		if err := r.begin(h.BaseOffset); err != nil {
			return err
		}
		o = r.last()
	}
	if h.LastOffset()-o.segment.base > maxRelativeOffset {
		return fmt.Errorf("offset %d does not fit into segment %d", h.LastOffset(), o.segment.base)
	}
	if len(o.buffered) > 0 && len(o.buffered)+len(entry) > replacementBuffer {
		if err := o.write(); err != nil {
			return err
		}
	}
	o.act.grow(r.config, o.segment.base, factsOfHeader(&h))
	if len(entry) < replacementBuffer {
		o.buffered = append(o.buffered, entry...)
		return nil
	}
	_, err = o.file.WriteAt(entry, o.written)
	o.written += int64(len(entry))
	return err
}

func (o *output) write() error {
	_, err := o.file.WriteAt(o.buffered, o.written)
	o.written += int64(len(o.buffered))
	o.buffered = o.buffered[:0]
	return err
}

// AddAborted adds an aborted transaction whose marker has just been appended to the
// transaction index.
func (r *Replacement) AddAborted(t AbortedTxn) {
	o := r.last()
	o.aborted = t.appendTo(o.aborted)
}

// Size is the number of bytes appended.
func (r *Replacement) Size() (sum int64) {
	for _, o := range r.outputs {
		sum += o.act.size
	}
	return sum
}

// Finish writes what is left and makes all files durable, under their names of
// ".cleaned". Nothing is appended any more.
func (r *Replacement) Finish() error {
	last := r.old[len(r.old)-1]
	v := sealedView(r.log.env, r.dir, last, r.end)
	modified, err := v.modified()
	if err != nil {
		return err
	}
	for _, o := range r.outputs {
		if err := r.finish(o, modified); err != nil {
			return err
		}
	}
	return r.log.env.FS.SyncDir(r.dir)
}

func (r *Replacement) finish(o *output, modified kafka.TimestampMs) error {
	if err := o.write(); err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	file := o.file
	o.file = nil
	if err := file.Close(); err != nil {
		return err
	}
	o.act.addTime(o.segment.base)
	var index, times []byte
	for _, e := range o.act.index {
		index = e.appendTo(index)
	}
	for _, e := range o.act.time {
		times = e.appendTo(times)
	}
	files := []struct {
		suffix string
		data   []byte
	}{{indexSuffix, index}, {timeIndexSuffix, times}, {txnIndexSuffix, o.aborted}}
	for _, f := range files {
		if f.suffix == txnIndexSuffix && len(f.data) == 0 {
			continue
		}
		if err := vfs.WriteFile(r.log.env.FS, filePath(r.dir, o.segment.base, f.suffix+cleanedSuffix), f.data); err != nil {
			return err
		}
	}
	o.act.indexFile, o.act.timeFile = int32(len(o.act.index)), int32(len(o.act.time))
	o.segment.seal(&o.act)
	o.segment.modified = modified
	o.segment.hasTxnIndex.Store(len(o.aborted) > 0)
	o.segment.swapping.Store(true)
	// Where records have no timestamps their age is the file's.
	return r.log.env.FS.SetModTime(filePath(r.dir, o.segment.base, logSuffix+cleanedSuffix), time.UnixMilli(modified))
}

// Discard removes the files of a replacement that is not going to be put in place.
// It does nothing to one that was.
func (r *Replacement) Discard() error {
	var err error
	for _, o := range r.outputs {
		if o.file != nil {
			err = errors.Join(err, o.file.Close())
			o.file = nil
		}
	}
	return errors.Join(err, r.removeFiles(cleanedSuffix))
}

func (r *Replacement) removeFiles(stage string) error {
	for _, o := range r.outputs {
		for _, suffix := range segmentSuffixes {
			err := r.log.env.FS.Remove(filePath(r.dir, o.segment.base, suffix+stage))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// eachFile calls do for each file of the new segments, the last segment first: as
// long as one of them is ".cleaned", an opening takes the others for unfinished.
func (r *Replacement) eachFile(do func(o *output, suffix string) error) error {
	for _, o := range slices.Backward(r.outputs) {
		for _, suffix := range segmentSuffixes {
			if suffix == txnIndexSuffix && !o.segment.hasTxnIndex.Load() {
				continue
			}
			if err := do(o, suffix); err != nil {
				return err
			}
		}
	}
	return nil
}

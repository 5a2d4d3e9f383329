package commitlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// errBadEpochs says that the checkpoint file is there and cannot be read.
var errBadEpochs = errors.New("bad epoch checkpoint")

// epochEntry says that a leader epoch begins at an offset.
type epochEntry struct {
	epoch kafka.LeaderEpoch
	start kafka.Offset
}

// epochs is the history of leader epochs, both fields strictly growing. It is
// never changed in place: snapshots share it.
type epochs []epochEntry

func (e epochs) latest() kafka.LeaderEpoch {
	if len(e) == 0 {
		return kafka.NoLeaderEpoch
	}
	return e[len(e)-1].epoch
}

// assign notes that epoch begins at start. Entries that contradict it go. ok is
// false if nothing changes: an epoch that is known to have begun keeps its start.
func (e epochs) assign(epoch kafka.LeaderEpoch, start kafka.Offset) (next epochs, ok bool) {
	n := len(e)
	if n > 0 && e[n-1].epoch == epoch && start >= e[n-1].start {
		return e, false
	}
	for n > 0 && (e[n-1].epoch >= epoch || e[n-1].start >= start) {
		n--
	}
	return append(e[:n:n], epochEntry{epoch, start}), true
}

// truncateEnd drops the epochs that begin at or above end.
func (e epochs) truncateEnd(end kafka.Offset) (next epochs, ok bool) {
	n := len(e)
	for n > 0 && e[n-1].start >= end {
		n--
	}
	return e[:n:n], n < len(e)
}

// truncateStart drops the epochs that end at or below start; the one that is in
// force there begins at start now.
func (e epochs) truncateStart(start kafka.Offset) (next epochs, ok bool) {
	n := 0
	for n < len(e) && e[n].start <= start {
		n++
	}
	if n == 0 || n == 1 && e[0].start == start {
		return e, false
	}
	next = append(epochs{{e[n-1].epoch, start}}, e[n:]...)
	return next, true
}

// endOffset answers where the largest epoch not above the one asked for ends.
func (e epochs) endOffset(epoch kafka.LeaderEpoch, logEnd kafka.Offset) (kafka.LeaderEpoch, kafka.Offset) {
	if epoch == kafka.NoLeaderEpoch {
		return kafka.NoLeaderEpoch, kafka.NoOffset
	}
	if epoch == e.latest() {
		return epoch, logEnd
	}
	higher := 0
	for higher < len(e) && e[higher].epoch <= epoch {
		higher++
	}
	switch {
	case higher == len(e):
		return kafka.NoLeaderEpoch, kafka.NoOffset
	case higher == 0:
		return epoch, e[0].start
	}
	return e[higher-1].epoch, e[higher].start
}

// at is the epoch in force at an offset.
func (e epochs) at(o kafka.Offset) kafka.LeaderEpoch {
	epoch := kafka.NoLeaderEpoch
	for _, entry := range e {
		if entry.start > o {
			break
		}
		epoch = entry.epoch
	}
	return epoch
}

// encode is the text of the checkpoint file: version 0, number of entries, one
// entry a line.
func (e epochs) encode() []byte {
	b := append([]byte("0\n"), strconv.Itoa(len(e))...)
	b = append(b, '\n')
	for _, entry := range e {
		b = strconv.AppendInt(b, int64(entry.epoch), 10)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(entry.start), 10)
		b = append(b, '\n')
	}
	return b
}

// parseEpochs reads the checkpoint file. An empty file has no entries.
func parseEpochs(text []byte) (epochs, error) {
	if len(text) == 0 {
		return nil, nil
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	if !lines.Scan() || lines.Text() != "0" {
		return nil, fmt.Errorf("version %q is not 0", firstLine(text))
	}
	if !lines.Scan() {
		return nil, errors.New("number of entries is missing")
	}
	count, err := strconv.Atoi(lines.Text())
	if err != nil {
		return nil, fmt.Errorf("number of entries: %w", err)
	}
	var e epochs
	for lines.Scan() {
		entry, err := parseEpochEntry(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(e)+3, err)
		}
		e, _ = e.assign(entry.epoch, entry.start)
		count--
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if count != 0 {
		return nil, fmt.Errorf("%d entries are missing", count)
	}
	return e, nil
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return line[:min(len(line), 40)]
}

func parseEpochEntry(line string) (epochEntry, error) {
	epochText, startText, ok := strings.Cut(line, " ")
	epoch, err1 := strconv.ParseInt(epochText, 10, 32)
	start, err2 := strconv.ParseInt(startText, 10, 64)
	if !ok || err1 != nil || err2 != nil || epoch < 0 || start < 0 {
		return epochEntry{}, fmt.Errorf("%q is no epoch and offset", line)
	}
	return epochEntry{kafka.LeaderEpoch(epoch), kafka.Offset(start)}, nil
}

// readEpochs reads the checkpoint file of a folder; a missing one has no entries.
func readEpochs(fsys vfs.FS, dir string) (epochs, error) {
	path := joinPath(dir, epochFileName)
	text, err := vfs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, err := parseEpochs(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadEpochs, err)
	}
	return e, nil
}

// setEpochs takes over a new history and writes it at once.
func (l *Log) setEpochs(e epochs) error {
	l.epochs = e
	l.epochsDirty = true
	return l.writeEpochs()
}

func (l *Log) writeEpochs() error {
	if !l.epochsDirty && !l.newEpochs {
		return nil
	}
	if err := vfs.WriteFileAtomic(l.env.FS, joinPath(l.dir, epochFileName), l.epochs.encode()); err != nil {
		return err
	}
	l.epochsDirty, l.newEpochs = false, false
	return nil
}

// closeEpochs writes the file at a clean stop. It is not synced if all it has is an
// epoch in which nothing was appended: such are the partitions that nobody has used,
// and there may be thousands of them.
func (l *Log) closeEpochs() error {
	if l.epochsDirty || len(l.epochs) > 0 && l.epochs[0].start < l.end {
		return l.writeEpochs()
	}
	if !l.newEpochs {
		return nil
	}
	path := joinPath(l.dir, epochFileName)
	if err := writeFile(l.env.FS, path+".tmp", l.epochs.encode(), unsynced); err != nil {
		return err
	}
	return l.env.FS.Rename(path+".tmp", path)
}

// assignEpoch notes the epoch of an append, if it is a new one.
func (l *Log) assignEpoch(epoch kafka.LeaderEpoch, start kafka.Offset) error {
	next, changed := l.epochs.assign(epoch, start)
	if !changed {
		return nil
	}
	return l.setEpochs(next)
}

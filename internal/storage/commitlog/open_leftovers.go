package commitlog

import (
	"errors"
	"math"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// cleanUp finishes or undoes what an earlier process had begun: files that wait
// for removal go; output of a cleaning that did not finish goes; finished output
// (".swap") takes the place of the segments that it was made of.
//
// A ".swap" file at or above the first ".cleaned" one belongs to a split that did
// not finish, and goes as well.
func (ld *loader) cleanUp() error {
	firstCleaned := kafka.Offset(math.MaxInt64)
	var cleaned, swaps []string
	for _, name := range ld.sortedNames() {
		switch {
		case strings.HasSuffix(name, deletedSuffix) && !strings.HasSuffix(name, raftDeletedSuffix):
			if err := ld.remove(name); err != nil {
				return err
			}
		case strings.HasSuffix(name, cleanedSuffix):
			cleaned = append(cleaned, name)
			if base, _, ok := parseName(name); ok {
				firstCleaned = min(firstCleaned, base)
			}
		case strings.HasSuffix(name, swapSuffix):
			swaps = append(swaps, name)
		}
	}
	var valid []string
	for _, name := range swaps {
		if base, _, ok := parseName(name); !ok || base < firstCleaned {
			valid = append(valid, name)
			continue
		}
		if err := ld.remove(name); err != nil {
			return err
		}
	}
	for _, name := range cleaned {
		if err := ld.remove(name); err != nil {
			return err
		}
	}
	return ld.finishSwaps(valid)
}

// finishSwaps removes the segments between the first and the end of the last
// ".swap" log, then gives the ".swap" files their names.
func (ld *loader) finishSwaps(swaps []string) error {
	if len(swaps) == 0 {
		return nil
	}
	from, upTo := kafka.Offset(math.MaxInt64), kafka.Offset(math.MinInt64)
	for _, name := range swaps {
		base, suffix, ok := parseName(name)
		if !ok || suffix != logSuffix+swapSuffix {
			continue
		}
		end, err := ld.endOfFile(name, base)
		if err != nil {
			return err
		}
		from, upTo = min(from, base), max(upTo, end)
	}
	for _, name := range ld.sortedNames() {
		base, _, ok := parseName(name)
		if ok && !strings.HasSuffix(name, swapSuffix) && !strings.HasSuffix(name, CutSuffix) && base >= from && base < upTo {
			if err := ld.remove(name); err != nil {
				return err
			}
		}
	}
	for _, name := range swaps {
		to := strings.TrimSuffix(name, swapSuffix)
		if err := ld.env.FS.Rename(joinPath(ld.dir, name), joinPath(ld.dir, to)); err != nil {
			return err
		}
		delete(ld.names, name)
		ld.names[to] = true
		ld.report.SwapsFinished = append(ld.report.SwapsFinished, to)
	}
	return ld.env.FS.SyncDir(ld.dir)
}

// endOfFile is the offset behind the last batch of a log file.
func (ld *loader) endOfFile(name string, base kafka.Offset) (end kafka.Offset, err error) {
	f, err := ld.env.FS.Open(joinPath(ld.dir, name), vfs.Read)
	if err != nil {
		return base, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return base, err
	}
	sc := scanner{f: f, size: size, env: ld.env}
	defer sc.close()
	for end = base; sc.next(); {
		end = sc.header.NextOffset()
	}
	return end, sc.err
}

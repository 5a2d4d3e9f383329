package logdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// CleanShutdownFile is the name of the mark that the last node closed all logs of
// a directory.
const CleanShutdownFile = ".kafka_cleanshutdown"

// CleanShutdown is what the mark said.
type CleanShutdown struct {
	Clean bool // the mark was there
	// BrokerEpoch is the epoch of the node that wrote it, or kafka.NoBrokerEpoch:
	// the mark of older releases is empty, and is a mark all the same.
	BrokerEpoch kafka.BrokerEpoch
}

// ReadCleanShutdown reads the mark and leaves it.
func ReadCleanShutdown(fsys vfs.FS, dir string) (CleanShutdown, error) {
	text, err := vfs.ReadFile(fsys, filepath.Join(dir, CleanShutdownFile))
	if errors.Is(err, fs.ErrNotExist) {
		return CleanShutdown{BrokerEpoch: kafka.NoBrokerEpoch}, nil
	}
	if err != nil {
		return CleanShutdown{BrokerEpoch: kafka.NoBrokerEpoch}, err
	}
	var mark struct {
		BrokerEpoch *int64 `json:"brokerEpoch"`
	}
	out := CleanShutdown{Clean: true, BrokerEpoch: kafka.NoBrokerEpoch}
	// Apache takes the file for a mark whatever is in it.
	if json.Unmarshal(text, &mark) == nil && mark.BrokerEpoch != nil {
		out.BrokerEpoch = kafka.BrokerEpoch(*mark.BrokerEpoch)
	}
	return out, nil
}

// TakeCleanShutdown reads the mark and removes it, durably: from now on a crash
// must not look like a clean shutdown. It comes before the first log is opened.
func TakeCleanShutdown(fsys vfs.FS, dir string) (CleanShutdown, error) {
	mark, err := ReadCleanShutdown(fsys, dir)
	if err != nil || !mark.Clean {
		return mark, err
	}
	if err := fsys.Remove(filepath.Join(dir, CleanShutdownFile)); err != nil {
		return mark, err
	}
	return mark, fsys.SyncDir(dir)
}

// WriteCleanShutdown sets the mark. All logs of the directory are closed and
// synced, and its checkpoints written.
func WriteCleanShutdown(fsys vfs.FS, dir string, epoch kafka.BrokerEpoch) error {
	return vfs.WriteFileAtomic(fsys, filepath.Join(dir, CleanShutdownFile), fmt.Appendf(nil, `{"version":0,"brokerEpoch":%d}`, epoch))
}

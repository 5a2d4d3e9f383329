package logdir

import (
	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// remoteIndexCache is the folder of tiered storage's index cache.
const remoteIndexCache = "remote-log-index-cache"

// Folder is a replica's folder in a log directory.
type Folder struct {
	Name           string
	Kind           Kind
	TopicPartition kafka.TopicPartition
}

// Scan lists the folders of a log directory in order of names. Files are passed
// over. A folder that is none of Kafka's gives a *NameError.
func Scan(fsys vfs.FS, dir string) ([]Folder, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Folder
	for _, e := range entries {
		if !e.Dir || e.Name == remoteIndexCache {
			continue
		}
		tp, kind, ok := ParseName(e.Name)
		if !ok {
			return nil, &NameError{Dir: dir, Name: e.Name}
		}
		out = append(out, Folder{e.Name, kind, tp})
	}
	return out, nil
}

package quorum

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/raft"
	"barnabas/internal/storage/logdir"
)

// FormatOptions say what a new node is.
type FormatOptions struct {
	FS        vfs.FS
	ClusterID string
	NodeID    kafka.BrokerID
	// LogDirs is log.dirs. MetadataDir is metadata.log.dir, which may be one of
	// them.
	LogDirs     []string
	MetadataDir string
	// Controller says that the node has the controller role: it gets the snapshot
	// 0-0, with what the first leader is to write.
	Controller bool

	Levels Levels
	// Records follow the feature levels in the snapshot.
	Records []metarec.Versioned
	// KRaftVersion is 1 if the voters are, or will be, in the log. Voters are the
	// first voters, nil if they are not known or not in the log. If this node is
	// among them, MetadataDir gets the directory id that they name.
	KRaftVersion int16
	Voters       raft.VoterSet

	// IgnoreFormatted passes over directories that are formatted; otherwise one
	// such directory is an error.
	IgnoreFormatted bool

	Now    func() time.Time
	Random io.Reader
	// Progress, which may be nil, is told of each directory before it is written,
	// and of those that cannot be read.
	Progress func(FormatStep)
}

// DirKind is what a directory is to its node.
type DirKind int8

// The kinds of directories.
const (
	DataDir          DirKind = iota
	MetadataDir              // holds the metadata log; the voters are not in it
	MetadataVoterDir         // holds the metadata log of a voter
	MetadataOtherDir         // holds the metadata log of a node that is no voter
)

// String is what Apache Kafka's storage tool calls it.
func (k DirKind) String() string {
	switch k {
	case MetadataDir:
		return "metadata directory"
	case MetadataVoterDir:
		return "dynamic metadata voter directory"
	case MetadataOtherDir:
		return "dynamic metadata directory"
	}
	return "data directory"
}

// FormatStep is a directory that is about to be formatted, or one that cannot be
// used.
type FormatStep struct {
	Dir  string
	Kind DirKind
	Err  error // not nil: the directory cannot be read, and is left out
}

// Format makes the directories of a new node and says how many it made. Each is
// complete when its meta.properties is there, which is written last.
func Format(o FormatOptions) (formatted int, err error) {
	dirs, err := o.emptyDirs()
	if err != nil {
		return 0, err
	}
	for _, dir := range dirs {
		o.tell(FormatStep{Dir: dir, Kind: o.kind(dir)})
		if err := o.formatDir(dir); err != nil {
			return formatted, fmt.Errorf("Error while writing meta.properties file %s: %w", dir, err)
		}
		formatted++
	}
	return formatted, nil
}

func (o *FormatOptions) tell(s FormatStep) {
	if o.Progress != nil {
		o.Progress(s)
	}
}

// dirs are all directories, sorted, each once.
func (o *FormatOptions) dirs() []string {
	dirs := append([]string{o.MetadataDir}, o.LogDirs...)
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// emptyDirs are the directories that are to be formatted, after the others were
// found to belong to this node.
func (o *FormatOptions) emptyDirs() ([]string, error) {
	var empty []string
	made := map[string]logdir.Meta{}
	for _, dir := range o.dirs() {
		meta, err := logdir.ReadMeta(o.FS, dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			empty = append(empty, dir)
		case err != nil:
			o.tell(FormatStep{Dir: dir, Err: err})
		default:
			made[dir] = meta
		}
	}
	if len(made) == 0 {
		if len(empty) == 0 {
			return nil, errors.New("No available log directories to format.")
		}
		return empty, nil
	}
	if err := logdir.VerifyMeta(made, o.ClusterID, o.NodeID); err != nil {
		return nil, err
	}
	if !o.IgnoreFormatted {
		first := slices.Min(slices.Collect(maps.Keys(made)))
		return nil, fmt.Errorf("Log directory %s is already formatted. Use --ignore-formatted to ignore this directory and format the others.", first)
	}
	return empty, nil
}

func (o *FormatOptions) kind(dir string) DirKind {
	_, voter := o.Voters.ByID(o.NodeID)
	switch {
	case dir != o.MetadataDir:
		return DataDir
	case o.Voters == nil:
		return MetadataDir
	case voter:
		return MetadataVoterDir
	}
	return MetadataOtherDir
}

func (o *FormatOptions) formatDir(dir string) error {
	meta := logdir.Meta{Version: 1, ClusterID: o.ClusterID, NodeID: o.NodeID}
	var err error
	if o.kind(dir) == MetadataVoterDir {
		self, _ := o.Voters.ByID(o.NodeID)
		meta.DirectoryID = self.Directory
	} else if meta.DirectoryID, err = kafka.RandomUUID(o.Random); err != nil {
		return err
	}
	if err := makeDir(o.FS, dir); err != nil {
		return err
	}
	if dir == o.MetadataDir && o.Controller {
		if err := o.writeBootstrap(dir); err != nil {
			return err
		}
	}
	return logdir.WriteMeta(o.FS, dir, meta, o.Now())
}

// writeBootstrap writes the snapshot 0-0. Its folder's name becomes durable with
// meta.properties beside it.
func (o *FormatOptions) writeBootstrap(dir string) error {
	folder := filepath.Join(dir, folderName)
	if err := o.FS.MkdirAll(folder); err != nil {
		return err
	}
	frames, err := o.Levels.frames()
	if err != nil {
		return err
	}
	for _, r := range o.Records {
		frame, err := metarec.Encode(nil, r.Message, r.Version)
		if err != nil {
			return err
		}
		frames = append(frames, frame)
	}
	head := snapshotHead{o.Now().UnixMilli(), o.KRaftVersion, o.Voters}
	w, err := createSnapshot(o.FS, folder, bootstrapID(), head, o.Now)
	if err != nil {
		return err
	}
	if err := w.append(frames); err != nil {
		return err
	}
	return w.finish()
}

// makeDir creates a directory and those above it, durably.
func makeDir(fsys vfs.FS, dir string) error {
	var changed []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		there, err := vfs.Exists(fsys, d)
		if err != nil {
			return err
		}
		if there || filepath.Dir(d) == d {
			break
		}
		changed = append(changed, filepath.Dir(d))
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return err
	}
	for _, d := range slices.Backward(changed) {
		if err := fsys.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

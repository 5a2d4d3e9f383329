package node

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/quorum"
	"barnabas/internal/raft"
	"barnabas/internal/storage/logdir"
)

// gateSlots is how many blocking calls one log directory may have in flight: a
// disk that hangs must not take a thread for each request.
const gateSlots = 64

// directory is a log directory of this node, locked.
type directory struct {
	path string
	fs   vfs.FS
	lock *logdir.Lock // nil where it could not be taken
	meta logdir.Meta
	// failed says that the directory cannot be used. It is offline: the node goes on
	// with the others.
	failed bool
}

// directories are all of them, those of log.dirs first, in their order.
type directories struct {
	all       []*directory
	clusterID string
	newFS     func() vfs.FS
	log       *slog.Logger
	failure   error // of the last one that has failed
}

// ownFS is the file system of one log directory, with a gate of its own.
func ownFS() vfs.FS { return vfs.NewOS(vfs.NewGate(gateSlots)) }

// openDirectories locks the node's directories and reads whose they are. With
// format set, a node that was never formatted is. A directory that cannot be read is
// offline until the next start; the node needs that of the metadata log and one of
// log.dirs (class MetaPropertiesEnsemble, verify; class LogManager,
// createAndValidateLogDirs).
func openDirectories(c *config.Broker, format bool, newFS func() vfs.FS, log *slog.Logger) (_ *directories, err error) {
	d := &directories{newFS: newFS, log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.release(false))
		}
	}()
	for _, path := range dirPaths(c) {
		if err := d.lock(path, format, c); err != nil {
			return nil, err
		}
	}
	if err := d.readMeta(c); err != nil {
		return nil, err
	}
	if format && d.unformatted() > 0 {
		if err := d.format(c, log); err != nil {
			return nil, err
		}
		if err := d.readMeta(c); err != nil {
			return nil, err
		}
	}
	return d, d.verify(c)
}

// fail takes a directory out of service. The error says why the node cannot start
// without it.
func (d *directories) fail(dir *directory, c *config.Broker, doing string, err error) error {
	if dir.path == c.Node.MetadataLogDir {
		return fmt.Errorf("log directory %s, in which the metadata log lies, cannot be used: %w", dir.path, err)
	}
	if vfs.IsFull(err) {
		return fmt.Errorf("log directory %s: %w", dir.path, err) // it works, and a start needs some space
	}
	d.log.Error("a log directory has failed and is offline until the next start", "dir", dir.path, "while", doing, "error", err)
	dir.failed, d.failure = true, fmt.Errorf("none of the log directories (%s) can be used, the last one (%s) because of: %w", strings.Join(c.Node.LogDirs, ", "), dir.path, err)
	return nil
}

// dirPaths are log.dirs and metadata.log.dir, each once, as absolute paths.
func dirPaths(c *config.Broker) []string {
	var paths []string
	for _, p := range append(slices.Clone(c.Node.LogDirs), c.Node.MetadataLogDir) {
		if !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

func (d *directories) lock(path string, create bool, c *config.Broker) error {
	dir := &directory{path: path, fs: d.newFS()}
	d.all = append(d.all, dir)
	if _, err := dir.fs.Stat(path); errors.Is(err, fs.ErrNotExist) && create {
		if err := dir.fs.MkdirAll(path); err != nil {
			return d.fail(dir, c, "make it", err)
		}
	}
	lock, err := logdir.Acquire(dir.fs, path)
	var inUse *logdir.InUseError
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		return notFormatted(path)
	case errors.As(err, &inUse):
		return err
	default:
		return d.fail(dir, c, "lock it", err)
	}
	dir.lock = lock
	return nil
}

// notFormatted tells what to do about a directory that belongs to no node.
func notFormatted(path string) error {
	return fmt.Errorf("log directory %s is not formatted: run 'barnabas storage format' once, or start the server with --auto-format", path)
}

func (d *directories) readMeta(c *config.Broker) error {
	for _, dir := range d.all {
		if dir.failed {
			continue
		}
		meta, err := logdir.ReadMeta(dir.fs, dir.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			if err := d.fail(dir, c, "read meta.properties", err); err != nil {
				return err
			}
			continue
		}
		if err == nil && meta.ClusterID == "" {
			return fmt.Errorf("%s names no cluster.id; it is damaged, or was not written by a format", filepath.Join(dir.path, logdir.MetaFile))
		}
		dir.meta = meta
	}
	return nil
}

func (d *directories) unformatted() int {
	n := 0
	for _, dir := range d.all {
		if dir.meta.ClusterID == "" && !dir.failed {
			n++
		}
	}
	return n
}

func (d *directories) verify(c *config.Broker) error {
	metas := map[string]logdir.Meta{}
	for _, dir := range d.all {
		if dir.failed {
			continue
		}
		if dir.meta.ClusterID == "" {
			return notFormatted(dir.path)
		}
		if dir.meta.DirectoryID.IsZero() {
			if err := dir.name(); err != nil {
				if err := d.fail(dir, c, "give it an id", err); err != nil {
					return err
				}
				continue
			}
		}
		metas[dir.path] = dir.meta
		d.clusterID = dir.meta.ClusterID
	}
	if !slices.ContainsFunc(c.Node.LogDirs, func(path string) bool { return !d.find(path).failed }) {
		return d.failure
	}
	return logdir.VerifyMeta(metas, d.clusterID, c.Node.ID)
}

// name gives a directory that was formatted before there were directory ids one
// of its own (KIP-858).
func (dir *directory) name() error {
	id, err := kafka.RandomUUID(rand.Reader)
	if err != nil {
		return err
	}
	dir.meta.DirectoryID, dir.meta.Version = id, 1
	return logdir.WriteMeta(dir.fs, dir.path, dir.meta, time.Now())
}

// find returns the directory with that path.
func (d *directories) find(path string) *directory {
	i := slices.IndexFunc(d.all, func(dir *directory) bool { return dir.path == path })
	return d.all[i]
}

// release gives the locks back. After a clean stop the files go, too, but in
// directories that have failed.
func (d *directories) release(clean bool) error {
	var errs []error
	for _, dir := range d.all {
		switch {
		case dir.lock == nil:
		case clean && !dir.failed:
			errs = append(errs, dir.lock.Release())
		default:
			errs = append(errs, dir.lock.Abandon())
		}
	}
	return errors.Join(errs...)
}

// format makes the directories of a new cluster of this one node. A format that
// was interrupted is finished; a folder with data of an unknown node is not: a
// metadata log is there already, or none of the directories is new.
func (d *directories) format(c *config.Broker, log *slog.Logger) error {
	if d.find(c.Node.MetadataLogDir).meta.ClusterID != "" {
		return nil // verify names the directory that is not formatted
	}
	cluster, err := d.newClusterID()
	if err != nil {
		return err
	}
	directory, err := kafka.RandomUUID(rand.Reader)
	if err != nil {
		return err
	}
	o := quorum.FormatOptions{
		FS: d.newFS(), ClusterID: cluster, IgnoreFormatted: true, NodeID: c.Node.ID,
		LogDirs: c.Node.LogDirs, MetadataDir: c.Node.MetadataLogDir, Controller: true,
		Levels: quorum.ServedLevels(kafka.LatestMetadataVersion), Now: time.Now, Random: rand.Reader,
	}
	if len(c.Quorum.Voters) == 0 {
		o.KRaftVersion = raft.KRaftVersion1
		o.Voters = raft.VoterSet{{
			ReplicaKey:      raft.ReplicaKey{ID: c.Node.ID, Directory: directory},
			Endpoints:       quorum.ControllerEndpoints(c.Network, hostName()),
			MaxKRaftVersion: raft.KRaftVersion1,
		}}
	}
	n, err := quorum.Format(o)
	if err == nil {
		log.Info("formatted", "directories", n, "cluster", o.ClusterID, "metadata", filepath.Join(c.Node.MetadataLogDir, "__cluster_metadata-0"))
	}
	return err
}

// newClusterID is that of a directory which is formatted already, else a new one.
func (d *directories) newClusterID() (string, error) {
	for _, dir := range d.all {
		if dir.meta.ClusterID != "" {
			return dir.meta.ClusterID, nil
		}
	}
	id, err := kafka.RandomUUID(rand.Reader)
	return id.String(), err
}

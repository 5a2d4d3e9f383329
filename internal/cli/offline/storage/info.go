package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"barnabas/internal/base/vfs"
	"barnabas/internal/cli/argparse"
	"barnabas/internal/kafka"
	"barnabas/internal/storage/logdir"
)

// info says what the node's directories are. A problem makes the exit code 1.
func (r *run) info(args *argparse.Args) error {
	c, err := r.load(args)
	if err != nil {
		return err
	}
	dirs := append([]string{c.Node.MetadataLogDir}, c.Node.LogDirs...)
	slices.Sort(dirs)
	v := survey{fsys: r.fsys}
	for _, dir := range slices.Compact(dirs) {
		v.look(dir)
	}
	r.list("Found log director", "y:", "ies:", v.found)
	if v.meta != nil {
		r.printf("Found metadata: %s\n\n", metaText(*v.meta))
	}
	if v.meta != nil && v.meta.Version == 0 {
		v.problem("The kafka configuration file appears to be for a cluster in KRaft mode, but the directories are formatted for legacy mode.")
	}
	r.list("Found problem", ":", "s:", v.problems)
	if len(v.problems) > 0 {
		return errReported
	}
	return nil
}

// list prints a headline and an indented line for each item, if there are any.
func (r *run) list(headline, one, many string, items []string) {
	if len(items) == 0 {
		return
	}
	end := many
	if len(items) == 1 {
		end = one
	}
	r.printf("%s%s\n", headline, end)
	for _, item := range items {
		r.printf("  %s\n", item)
	}
	r.printf("\n")
}

// survey collects what info prints.
type survey struct {
	fsys     vfs.FS
	found    []string
	problems []string
	meta     *logdir.Meta // of the first directory that has one
}

func (v *survey) problem(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

func (v *survey) look(dir string) {
	info, err := v.fsys.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.problem("%s does not exist", dir)
		return
	case err != nil:
		v.problem("%s: %v", dir, err)
		return
	case !info.Mode.IsDir():
		v.problem("%s is not a directory", dir)
		return
	}
	v.found = append(v.found, dir)
	meta, err := logdir.ReadMeta(v.fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.problem("%s is not formatted.", dir)
	case err != nil:
		v.problem("Error loading %v", err)
	case v.meta == nil:
		v.meta = &meta
	case meta.ClusterID != v.meta.ClusterID:
		v.problem("Mismatched cluster IDs between storage directories.")
	case meta.NodeID != v.meta.NodeID:
		v.problem("Mismatched node IDs between storage directories.")
	}
}

// metaText is the sorted map that Apache Kafka prints.
func metaText(m logdir.Meta) string {
	text := "{"
	if m.Version == 0 && m.NodeID != kafka.NoBroker {
		text += fmt.Sprintf("broker.id=%d, ", m.NodeID)
	}
	if m.ClusterID != "" {
		text += fmt.Sprintf("cluster.id=%s, ", m.ClusterID)
	}
	if !m.DirectoryID.IsZero() {
		text += fmt.Sprintf("directory.id=%s, ", m.DirectoryID)
	}
	if m.Version > 0 {
		text += fmt.Sprintf("node.id=%d, ", m.NodeID)
	}
	return text + fmt.Sprintf("version=%d}", m.Version)
}

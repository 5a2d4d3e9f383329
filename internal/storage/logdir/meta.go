package logdir

import (
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/config/properties"
	"barnabas/internal/kafka"
)

// MetaFile is the name of the file that says whose a log directory is.
const MetaFile = "meta.properties"

// Meta is the content of meta.properties.
type Meta struct {
	Version     int            // 1; 0 is of the time of ZooKeeper
	ClusterID   string         // "" is none, in version 0 only; any text is taken
	NodeID      kafka.BrokerID // kafka.NoBroker is none, in version 0 only
	DirectoryID kafka.UUID     // zero is none
}

// ReadMeta reads meta.properties of a log directory. The error is fs.ErrNotExist
// where the directory is not formatted.
func ReadMeta(fsys vfs.FS, dir string) (Meta, error) {
	path := filepath.Join(dir, MetaFile)
	text, err := vfs.ReadFile(fsys, path)
	if err != nil {
		return Meta{}, err
	}
	m, err := parseMeta(text)
	if err != nil {
		return Meta{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// nodeKey is the key of the node's id in a version.
func nodeKey(version int) string {
	if version == 0 {
		return "broker.id"
	}
	return "node.id"
}

// parseMeta takes keys in any order and passes over unknown ones; errors have
// Apache's texts (class MetaProperties).
func parseMeta(text []byte) (Meta, error) {
	list, err := properties.Parse(text)
	if err != nil {
		return Meta{}, err
	}
	props := properties.Map(list)
	m := Meta{NodeID: kafka.NoBroker}
	if s, ok := props["version"]; ok {
		if m.Version, err = strconv.Atoi(s); err != nil {
			return Meta{}, fmt.Errorf("Invalid meta.properties version string '%s'", s)
		}
	}
	if m.Version != 0 && m.Version != 1 {
		return Meta{}, fmt.Errorf("Unknown meta.properties version number %d", m.Version)
	}
	m.ClusterID = props["cluster.id"]
	if _, ok := props["cluster.id"]; !ok && m.Version > 0 {
		return Meta{}, fmt.Errorf("cluster.id was not found.")
	}
	key := nodeKey(m.Version)
	if s, ok := props[key]; ok {
		id, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return Meta{}, fmt.Errorf("Unable to read %s as a base-10 number.", key)
		}
		m.NodeID = kafka.BrokerID(id)
	} else if m.Version > 0 {
		return Meta{}, fmt.Errorf("Failed to find %s", key)
	}
	if s, ok := props["directory.id"]; ok {
		if m.DirectoryID, err = kafka.ParseUUID(s); err != nil {
			return Meta{}, fmt.Errorf("Unable to read directory.id as a Uuid: %w", err)
		}
	}
	return m, nil
}

// WriteMeta replaces meta.properties by the bytes that Apache Kafka 4.4 writes;
// now is the date in its second line.
func WriteMeta(fsys vfs.FS, dir string, m Meta, now time.Time) error {
	props := map[string]string{"version": strconv.Itoa(m.Version)}
	if m.ClusterID != "" || m.Version > 0 {
		props["cluster.id"] = m.ClusterID
	}
	if m.NodeID != kafka.NoBroker || m.Version > 0 {
		props[nodeKey(m.Version)] = strconv.Itoa(int(m.NodeID))
	}
	if !m.DirectoryID.IsZero() {
		props["directory.id"] = m.DirectoryID.String()
	}
	return vfs.WriteFileAtomic(fsys, filepath.Join(dir, MetaFile), properties.Store(props, now))
}

// VerifyMeta says whether formatted directories belong to one node with this id
// (class MetaPropertiesEnsemble, verify). clusterID "" is any, but one.
func VerifyMeta(metas map[string]Meta, clusterID string, node kafka.BrokerID) error {
	if len(metas) == 0 {
		return fmt.Errorf("No readable meta.properties files found.")
	}
	dirs := make([]string, 0, len(metas))
	for dir := range metas {
		dirs = append(dirs, dir)
	}
	sort.Strings(dirs)
	seen := map[kafka.UUID]string{}
	for _, dir := range dirs {
		m := metas[dir]
		path := filepath.Join(dir, MetaFile)
		if clusterID == "" {
			clusterID = m.ClusterID
		}
		switch {
		case m.ClusterID != clusterID:
			return fmt.Errorf("Invalid cluster.id in: %s. Expected %s, but read %s", path, clusterID, m.ClusterID)
		case m.NodeID != node && m.NodeID != kafka.NoBroker:
			return fmt.Errorf("Stored node id %d doesn't match previous node id %d in %s. If you moved your data, make sure your configured node id matches. If you intend to create a new node, you should remove all data in your data directories.", m.NodeID, node, path)
		case m.DirectoryID.IsZero():
			continue
		case m.DirectoryID.Reserved():
			return fmt.Errorf("Invalid reserved directory ID %s found in %s", m.DirectoryID, dir)
		case seen[m.DirectoryID] != "":
			return fmt.Errorf("Duplicate directory ID %s found. It was the ID of %s, but also of %s", m.DirectoryID, seen[m.DirectoryID], dir)
		}
		seen[m.DirectoryID] = dir
	}
	return nil
}

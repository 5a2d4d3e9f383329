package node

import (
	"os"
	"path/filepath"
	"testing"

	"barnabas/internal/kafka"
)

// TestTheMetadataLearnsWhereReplicasLie runs a node with two log directories: the
// metadata has the id of the right one for each replica, also after one was moved
// while the node was down.
func TestTheMetadataLearnsWhereReplicasLie(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	n := start(t, a, "log.dirs="+a+","+b)
	n.create("t", 6, nil)
	n.await("t", 6, a, b)
	n.stop()

	if err := os.Rename(filepath.Join(a, folderIn(t, a)), filepath.Join(b, folderIn(t, a))); err != nil {
		t.Fatal(err)
	}
	n = start(t, a, "log.dirs="+a+","+b)
	n.await("t", 6, a, b)
	if in, _ := filepath.Glob(filepath.Join(b, "t-*")); len(in) != 4 {
		t.Errorf("in the second directory: %v", in)
	}
}

// folderIn is one of the topic's folders in a log directory.
func folderIn(t *testing.T, dir string) string {
	t.Helper()
	in, err := filepath.Glob(filepath.Join(dir, "t-*"))
	if err != nil || len(in) == 0 {
		t.Fatal(in, err)
	}
	return filepath.Base(in[0])
}

// await waits until the metadata has each partition of a topic in the directory in
// which its folder lies.
func (f *fixture) await(topic string, partitions int32, dirs ...string) {
	f.t.Helper()
	eventually(f.t, "the metadata has the directories", func() bool {
		img := f.Image()
		for number := range partitions {
			p := img.Topics.ByName(topic).Partition(number)
			id, _ := p.Directory(1)
			if id != f.holder(kafka.TopicPartition{Topic: topic, Partition: number}, dirs) {
				return false
			}
		}
		return true
	})
}

// holder is the id of the directory in which a partition's folder lies.
func (f *fixture) holder(tp kafka.TopicPartition, dirs []string) kafka.UUID {
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, tp.String())); err == nil {
			return f.dirs.find(dir).meta.DirectoryID
		}
	}
	f.t.Fatalf("%s has no folder", tp)
	return kafka.UUID{}
}

package logdir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newDir returns a file system with an empty log directory "d".
func newDir(t *testing.T) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem(nil)
	must(t, m.MkdirAll("d"))
	must(t, m.SyncDir("."))
	return m
}

func errText(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// The names and what becomes of them are those of Apache Kafka 4.4.0.
func TestFolderNames(t *testing.T) {
	for name, want := range map[string]string{
		"t-0": "t-0 0", "a-b-3": "a-b-3 0", "t--1": "t--1 0", "t.x-0": "t.x-0 0", "__cluster_metadata-0": "__cluster_metadata-0 4",
		"t-0.0123456789abcdef0123456789abcdef-delete": "t-0 1", "t-0.x-delete": "t-0 1", "t-0.x-future": "t-0 2", "t-0.x-stray": "t-0 3",
		"t": "no", "t-": "no", "-0": "no", "t-x": "no", "t-0-delete": "no", "t-0.-delete": "no", "t-x.abc-stray": "no", "lost+found": "no",
		"t-99999999999": "no", "t-0.a.b-delete": "no", "-delete": "no", "a.b-delete": "no", "a-b.c-delete": "no", "": "no",
	} {
		got := "no"
		if tp, kind, ok := ParseName(name); ok {
			got = fmt.Sprint(tp, " ", kind)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestMarkedNamesAreCutToWhatFileSystemsTake(t *testing.T) {
	long := kafka.TopicPartition{Topic: strings.Repeat("x", kafka.MaxTopicNameLength), Partition: 12345}
	for kind, want := range map[Kind]int{Deleted: 255, Future: 295, Stray: 255} { // what Apache gives
		name := Mark(long, kind, kafka.UUID{15: 1})
		if len(name) != want {
			t.Errorf("kind %d: %d bytes, want %d", kind, len(name), want)
		}
		if tp, k, ok := ParseName(name); !ok || k != kind || tp.Partition != 12345 {
			t.Errorf("%s is read as %v, %d, %v", name, tp, k, ok)
		}
	}
	if got := Mark(kafka.TopicPartition{Topic: "t"}, Deleted, kafka.UUID{0: 0xab, 15: 1}); got != "t-0.ab000000000000000000000000000001-delete" {
		t.Errorf("got %s", got)
	}
}

func TestScanRefusesFoldersThatAreNotKafkas(t *testing.T) {
	m := vfs.NewMem(nil)
	for _, name := range []string{"t-0", "__cluster_metadata-0", "remote-log-index-cache", "t-1.0123456789abcdef0123456789abcdef-stray"} {
		must(t, m.MkdirAll("d/"+name))
	}
	must(t, vfs.WriteFile(m, "d/meta.properties", nil))
	folders, err := Scan(m, "d")
	if got := fmt.Sprint(folders, err); got != "[{__cluster_metadata-0 4 __cluster_metadata-0} {t-0 0 t-0} {t-1.0123456789abcdef0123456789abcdef-stray 3 t-1}] <nil>" {
		t.Errorf("got %s", got)
	}
	must(t, m.MkdirAll("d/lost+found"))
	_, err = Scan(m, "d")
	if got := errText(err); got != "Found directory d/lost+found, 'lost+found' is not in the form of topic-partition or topic-partition.uniqueId-delete (if marked for deletion).\nKafka's log directories (and children) should only contain Kafka topic data." {
		t.Errorf("got %s", got)
	}
}

// The texts and what becomes of them are those of Apache Kafka 4.4.0.
func TestCheckpoints(t *testing.T) {
	for text, want := range map[string]string{
		"": "map[] ok", "0": "map[] ok", "0\n": "map[] ok", "0\n0\n": "map[] ok", "0\n1\nt 0 5\n": "map[t-0:5] ok", "0\n1\nt 0 5": "map[t-0:5] ok",
		"0\n1\nt  0\t5\n": "map[t-0:5] ok", "0\n1\nt 0 5 \n": "map[t-0:5] ok", "0\n2\nt 0 5\nt 0 6\n": "map[t-0:6] ok", "0\n1\nt 0 -5\n": "map[t-0:-5] ok",
		"0\r\n1\r\nt 0 5\r\n": "map[t-0:5] ok",
		"0\n2\nt 0 5\n":       "map[] Expected [2] entries in checkpoint file [cp], but found only [1]",
		"0\n0\nt 0 5\n":       "map[] Expected [0] entries in checkpoint file [cp], but found only [1]",
		"1\n0\n":              "map[] Unrecognised version:1, expected version: 0 in checkpoint file at: cp",
		"x\n0\n":              "map[] Malformed line in checkpoint file [cp]: x",
		" 0\n0\n":             "map[] Malformed line in checkpoint file [cp]:  0",
		"0\nx\n":              "map[] Malformed line in checkpoint file [cp]: x",
		"0\n1\nt 0\n":         "map[] Malformed line in checkpoint file [cp]: t 0",
		"0\n1\nt 0 5 6\n":     "map[] Malformed line in checkpoint file [cp]: t 0 5 6",
		"0\n1\n\n":            "map[] Malformed line in checkpoint file [cp]: ",
		"0\n1\n t 0 5\n":      "map[] Malformed line in checkpoint file [cp]:  t 0 5",
		"0\n1\nt x 5\n":       "map[] Malformed line in checkpoint file [cp]: t x 5",
		"0\n1\nt 0 x\n":       "map[] Malformed line in checkpoint file [cp]: t 0 x",
	} {
		offsets, err := parseCheckpoint("cp", text)
		if got := fmt.Sprint(offsets, " ", errText(err)); got != want {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

func TestCheckpointsReadBackWhatWasWritten(t *testing.T) {
	m := newDir(t)
	if got, err := ReadCheckpoint(m, "d", HighWatermarks); err != nil || len(got) != 0 {
		t.Errorf("without a file: %v, %v", got, err)
	}
	must(t, CreateCheckpoints(m, "d"))
	must(t, CreateCheckpoints(m, "d"))
	for _, c := range Checkpoints() {
		if info, err := m.Stat(filepath.Join("d", string(c))); err != nil || info.Size != 0 {
			t.Errorf("%s: %v, %v", c, info, err)
		}
	}
	want := map[kafka.TopicPartition]kafka.Offset{{Topic: "b", Partition: 10}: 7, {Topic: "b", Partition: 2}: 1 << 40, {Topic: "a-b", Partition: 0}: 0}
	must(t, WriteCheckpoint(m, "d", HighWatermarks, want))
	crashed := m.Crash() // all of it is durable
	text, err := vfs.ReadFile(crashed, "d/replication-offset-checkpoint")
	must(t, err)
	if string(text) != "0\n3\na-b 0 0\nb 2 1099511627776\nb 10 7\n" {
		t.Errorf("wrote %q", text)
	}
	got, err := ReadCheckpoint(crashed, "d", HighWatermarks)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
	must(t, WriteCheckpoint(m, "d", HighWatermarks, nil))
	if text, err = vfs.ReadFile(m, "d/replication-offset-checkpoint"); err != nil || string(text) != "0\n0\n" {
		t.Errorf("no entries: %q, %v", text, err)
	}
}

func TestACrashLeavesTheOldCheckpointOrTheNewOne(t *testing.T) {
	old := map[kafka.TopicPartition]kafka.Offset{{Topic: "t"}: 1}
	for _, kind := range []vfs.OpKind{vfs.OpWrite, vfs.OpSync, vfs.OpRename, vfs.OpSyncDir} {
		m := newDir(t)
		must(t, WriteCheckpoint(m, "d", RecoveryPoints, old))
		m.Inject(func(op vfs.Op) vfs.Fault {
			if op.Kind == kind {
				return vfs.Fault{Err: errors.New("no disk")}
			}
			return vfs.Fault{}
		})
		if err := WriteCheckpoint(m, "d", RecoveryPoints, map[kafka.TopicPartition]kafka.Offset{{Topic: "t"}: 2}); err == nil {
			t.Errorf("kind %v: no error", kind)
		}
		m.Inject(nil)
		if got, err := ReadCheckpoint(m.Crash(), "d", RecoveryPoints); err != nil || !maps.Equal(got, old) {
			t.Errorf("kind %v: %v, %v", kind, got, err)
		}
	}
}

func FuzzParseCheckpoint(f *testing.F) {
	f.Add("0\n1\nt 0 5\n")
	f.Fuzz(func(t *testing.T, text string) {
		offsets, err := parseCheckpoint("cp", text)
		if err != nil {
			return
		}
		again, err := parseCheckpoint("cp", string(formatCheckpoint(offsets)))
		if err != nil || !maps.Equal(again, offsets) {
			t.Fatalf("%v became %v, %v", offsets, again, err)
		}
	})
}

// The texts and what becomes of them are those of Apache Kafka 4.4.0.
func TestCleanShutdownMark(t *testing.T) {
	for text, want := range map[string]kafka.BrokerEpoch{
		"": -1, "{}": -1, "x": -1, `{"version":0}`: -1, `{"version":0,"brokerEpoch":"x"}`: -1,
		`{"version":0,"brokerEpoch":13}`: 13, `{"version":1,"brokerEpoch":13}`: 13, `{"brokerEpoch":7}`: 7, " {\"version\":0, \"brokerEpoch\":13}\n": 13,
	} {
		m := newDir(t)
		must(t, vfs.WriteFile(m, "d/.kafka_cleanshutdown", []byte(text)))
		must(t, m.SyncDir("d"))
		if got, err := TakeCleanShutdown(m, "d"); err != nil || got != (CleanShutdown{true, want}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if got, err := TakeCleanShutdown(m.Crash(), "d"); err != nil || got != (CleanShutdown{false, -1}) {
			t.Errorf("%q: after it was taken and a crash: %+v, %v", text, got, err)
		}
	}
	m := newDir(t)
	must(t, WriteCleanShutdown(m, "d", 353))
	text, err := vfs.ReadFile(m.Crash(), "d/.kafka_cleanshutdown")
	if err != nil || string(text) != `{"version":0,"brokerEpoch":353}` {
		t.Errorf("wrote %q, %v", text, err)
	}
}

const directory = "o7uGq1A1QtGVMaSu4T4AgA"

// The texts and what becomes of them are those of Apache Kafka 4.4.0.
func TestMetaProperties(t *testing.T) {
	for text, want := range map[string]string{
		"version=1\ncluster.id=c\nnode.id=1\ndirectory.id=" + directory:                                            "{1 c 1 " + directory + "} ok",
		"# any order\n directory.id : " + directory + "\nnode.id=1\nextra=y\nbroker.id=9\ncluster.id=c\nversion=1": "{1 c 1 " + directory + "} ok",
		"version=1\ncluster.id=c\nnode.id=1":                                                                       "{1 c 1 AAAAAAAAAAAAAAAAAAAAAA} ok",
		"version=1\ncluster.id=\nnode.id=-1":                                                                       "{1  -1 AAAAAAAAAAAAAAAAAAAAAA} ok",
		"version=0\nbroker.id=3\ncluster.id=c":                                                                     "{0 c 3 AAAAAAAAAAAAAAAAAAAAAA} ok",
		"version=0":                                                                                                "{0  -1 AAAAAAAAAAAAAAAAAAAAAA} ok",
		"":                                                                                                         "{0  -1 AAAAAAAAAAAAAAAAAAAAAA} ok",
		"version=1\nnode.id=1":                                                                                     "{0  0 AAAAAAAAAAAAAAAAAAAAAA} cluster.id was not found.",
		"version=1\ncluster.id=c":                                                                                  "{0  0 AAAAAAAAAAAAAAAAAAAAAA} Failed to find node.id",
		"version=2\nnode.id=1":                                                                                     "{0  0 AAAAAAAAAAAAAAAAAAAAAA} Unknown meta.properties version number 2",
		"version=x":                                                                                                "{0  0 AAAAAAAAAAAAAAAAAAAAAA} Invalid meta.properties version string 'x'",
		"version=0\nbroker.id=x":                                                                                   "{0  0 AAAAAAAAAAAAAAAAAAAAAA} Unable to read broker.id as a base-10 number.",
		"version=1\ncluster.id=c\nnode.id=x":                                                                       "{0  0 AAAAAAAAAAAAAAAAAAAAAA} Unable to read node.id as a base-10 number.",
		"version=1\ncluster.id=c\nnode.id=1\ndirectory.id=zz":                                                      `{0  0 AAAAAAAAAAAAAAAAAAAAAA} Unable to read directory.id as a Uuid: uuid "zz": 1 bytes, want 16`,
	} {
		m, err := parseMeta([]byte(text))
		if got := fmt.Sprint(m, " ", errText(err)); got != want {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

func TestMetaPropertiesAreWrittenAsApacheWritesThem(t *testing.T) {
	id, err := kafka.ParseUUID(directory)
	must(t, err)
	m := newDir(t)
	if _, err := ReadMeta(m, "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	now := time.Date(2026, 11, 29, 14, 10, 30, 0, time.UTC)
	for want, meta := range map[string]Meta{
		"node.id=1\ndirectory.id=" + directory + "\nversion=1\ncluster.id=y50IjLHk7grxWcnPZLw_Cg\n": {1, "y50IjLHk7grxWcnPZLw_Cg", 1, id},
		"broker.id=3\ndirectory.id=" + directory + "\nversion=0\ncluster.id=c\n":                    {0, "c", 3, id},
		"version=0\n": {Version: 0, NodeID: kafka.NoBroker},
	} {
		must(t, WriteMeta(m, "d", meta, now))
		text, err := vfs.ReadFile(m.Crash(), "d/meta.properties")
		must(t, err)
		if string(text) != "#\n#Sun Nov 29 14:10:30 UTC 2026\n"+want {
			t.Errorf("wrote %s", text)
		}
		if back, err := ReadMeta(m, "d"); err != nil || back != meta {
			t.Errorf("read back %+v, %v", back, err)
		}
	}
}

func TestDirectoriesOfOneNodeFitTogether(t *testing.T) {
	id := func(n byte) kafka.UUID { return kafka.UUID{0: 1, 15: n} }
	a := Meta{1, "c", 1, id(1)}
	for _, c := range []struct {
		b       Meta
		cluster string
		node    kafka.BrokerID
		want    string
	}{
		{Meta{1, "c", 1, id(2)}, "", 1, "ok"},
		{Meta{1, "d", 1, id(2)}, "", 1, "Invalid cluster.id in: /b/meta.properties. Expected c, but read d"},
		{Meta{1, "c", 1, id(2)}, "x", 1, "Invalid cluster.id in: /a/meta.properties. Expected x, but read c"},
		{Meta{1, "c", 2, id(2)}, "", 1, "Stored node id 2 doesn't match previous node id 1 in /b/meta.properties. If you moved your data, make sure your configured node id matches. If you intend to create a new node, you should remove all data in your data directories."},
		{Meta{1, "c", 1, id(1)}, "", 1, "Duplicate directory ID " + id(1).String() + " found. It was the ID of /a, but also of /b"},
		{Meta{1, "c", 1, kafka.UUID{}}, "", 1, "ok"},
		{Meta{1, "c", 1, kafka.DirectoryLost}, "", 1, "Invalid reserved directory ID AAAAAAAAAAAAAAAAAAAAAg found in /b"},
	} {
		if got := errText(VerifyMeta(map[string]Meta{"/a": a, "/b": c.b}, c.cluster, c.node)); got != c.want {
			t.Errorf("%+v: %s\nwant %s", c.b, got, c.want)
		}
	}
	if got := errText(VerifyMeta(nil, "", 1)); got != "No readable meta.properties files found." {
		t.Errorf("got %s", got)
	}
}

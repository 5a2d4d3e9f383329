package node

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// twoDirectories is a node in memory with the log directories /one, in which the
// metadata log lies, and /two.
func twoDirectories(t *testing.T) (*fixture, *vfs.Mem) {
	t.Helper()
	o, log := options(t, "/one,/two")
	disk := vfs.NewMem(nil)
	o.NewFS = func() vfs.FS { return disk }
	f := launch(t, o, log)
	f.awaitServing()
	return f, disk
}

// partitionIn makes a topic and gives a partition of it that lies in a directory.
func (f *fixture) partitionIn(dir, topic string, configs map[string]*string) int32 {
	f.t.Helper()
	f.create(topic, 4, configs)
	for _, d := range f.replicas.Dirs() {
		if d.Path() != dir {
			continue
		}
		for p := range int32(4) {
			if there, err := vfs.Exists(f.dirs.find(dir).fs, fmt.Sprintf("%s/%s-%d", dir, topic, p)); err != nil || there {
				return p
			}
		}
	}
	f.t.Fatalf("no partition of %s lies in %s", topic, dir)
	return 0
}

// produceOnce sends one record to a partition and gives the code of the answer.
func (f *fixture) produceOnce(topic string, partition int32) kafka.ErrorCode {
	f.t.Helper()
	b := record.NewBuilder(record.BatchOptions{})
	b.Append(record.Record{Timestamp: time.Now().UnixMilli(), Value: []byte("value")})
	built, err := b.Build()
	if err != nil {
		f.t.Fatal(err)
	}
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 10_000
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, built
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: topic, Partitions: []kmsg.ProduceRequestTopicPartition{p}}}
	resp, err := req.RequestWith(f.context(), f.byName())
	if err != nil {
		f.t.Fatal(err)
	}
	if resp.Topics[0].Topic != topic {
		f.t.Errorf("the answer names topic %q, the request was for %q", resp.Topics[0].Topic, topic)
	}
	return kafka.ErrorCode(resp.Topics[0].Partitions[0].ErrorCode)
}

// fetchOnce reads a partition from its start and gives the code of the answer.
func (f *fixture) fetchOnce(topic string, partition int32) kafka.ErrorCode {
	f.t.Helper()
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.SessionEpoch = 1<<20, -1
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.PartitionMaxBytes, p.CurrentLeaderEpoch = partition, 1<<20, -1
	req.Topics = []kmsg.FetchRequestTopic{{Topic: topic, Partitions: []kmsg.FetchRequestTopicPartition{p}}}
	resp, err := req.RequestWith(f.context(), f.byName())
	if err != nil {
		f.t.Fatal(err)
	}
	return kafka.ErrorCode(resp.Topics[0].Partitions[0].ErrorCode)
}

// byName is a client whose requests name topics, not their ids.
func (f *fixture) byName() *kgo.Client {
	f.t.Helper()
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(kmsg.Produce), 12)
	v.SetMaxKeyVersion(int16(kmsg.Fetch), 12)
	c, _ := f.client(kgo.MaxVersions(v))
	return c
}

func failing(kind vfs.OpKind, prefix string) func(vfs.Op) vfs.Fault {
	return func(op vfs.Op) vfs.Fault {
		if op.Kind == kind && strings.HasPrefix(op.Path, prefix) && strings.HasSuffix(op.Path, ".log") {
			return vfs.Fault{Err: syscall.EIO}
		}
		return vfs.Fault{}
	}
}

// TestALogDirectoryThatFails: an I/O error of a read, a write or a sync takes the
// directory offline. Its partitions say KAFKA_STORAGE_ERROR, those of the other one go
// on, and it is told once in the log, and in metrics and DescribeLogDirs.
func TestALogDirectoryThatFails(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpRead, vfs.OpWrite, vfs.OpSync} {
		t.Run(string(kind), func(t *testing.T) {
			f, disk := twoDirectories(t)
			every := "1"
			bad := f.partitionIn("/two", "t", map[string]*string{"flush.messages": &every})
			good := f.partitionIn("/one", "u", nil)
			for topic, p := range map[string]int32{"t": bad, "u": good} {
				if code := f.produceOnce(topic, p); code != kafka.ErrNone {
					t.Fatalf("before: %s-%d: %v", topic, p, code)
				}
			}
			disk.Inject(failing(kind, "/two/"))
			if kind == vfs.OpRead {
				if code := f.fetchOnce("t", bad); code != kafka.ErrKafkaStorageError {
					t.Errorf("the fetch that meets the error is told %v", code)
				}
			}
			for range 2 {
				if code := f.produceOnce("t", bad); code != kafka.ErrKafkaStorageError {
					t.Errorf("a producer is told %v", code)
				}
				if code := f.fetchOnce("t", bad); code != kafka.ErrKafkaStorageError {
					t.Errorf("a consumer is told %v", code)
				}
				if code := f.produceOnce("u", good); code != kafka.ErrNone {
					t.Errorf("a producer to the other directory is told %v", code)
				}
				if code := f.fetchOnce("u", good); code != kafka.ErrNone {
					t.Errorf("a consumer from the other directory is told %v", code)
				}
			}
			f.saysOffline("/two")
			eventually(t, "the controller has taken the leaders of the directory", func() bool {
				return f.Image().Topics.ByName("t").Partition(bad).Leader == kafka.NoBroker
			})
			f.create("later", 2, nil) // in the directory that works
			for p := range int32(2) {
				if code := f.produceOnce("later", p); code != kafka.ErrNone {
					t.Errorf("a producer to a new topic is told %v", code)
				}
			}
			select {
			case <-f.Failed():
				t.Errorf("the node cannot go on: %v", f.Failure())
			default:
			}
			disk.Inject(nil)
		})
	}
}

// saysOffline checks what the log, the metrics and DescribeLogDirs say of a directory
// that has failed.
func (f *fixture) saysOffline(dir string) {
	f.t.Helper()
	if n := strings.Count(f.log.String(), "level=ERROR"); n != 1 || strings.Count(f.log.String(), "a log directory has failed and is offline") != 1 {
		f.t.Errorf("%d errors are logged:\n%s", n, f.log)
	}
	_, page := f.get("/metrics")
	for _, want := range []string{
		"kafka_log_logmanager_offlinelogdirectorycount 1\n",
		fmt.Sprintf("kafka_log_logmanager_logdirectoryoffline{logDirectory=%q} 1\n", dir),
		fmt.Sprintf("kafka_log_logmanager_logdirectoryoffline{logDirectory=%q} 0\n", "/one"),
	} {
		if !strings.Contains(page, want) {
			f.t.Errorf("the metrics lack %q", want)
		}
	}
	c, done := f.client()
	defer done()
	// The client would merge what its shards say, and drop the codes.
	shard := c.RequestSharded(f.context(), kmsg.NewPtrDescribeLogDirsRequest())[0]
	if shard.Err != nil {
		f.t.Fatal(shard.Err)
	}
	for _, d := range shard.Resp.(*kmsg.DescribeLogDirsResponse).Dirs {
		want := kafka.ErrNone
		if d.Dir == dir {
			want = kafka.ErrKafkaStorageError
		}
		if code := kafka.ErrorCode(d.ErrorCode); code != want {
			f.t.Errorf("DescribeLogDirs says %v of %s", code, d.Dir)
		}
	}
}

// TestTheDirectoryOfTheMetadataLogThatFails: the node ends, be it the metadata log or a
// partition beside it that meets the error, and says which directory it was.
func TestTheDirectoryOfTheMetadataLogThatFails(t *testing.T) {
	for _, x := range []struct {
		kind vfs.OpKind
		of   string
	}{
		{vfs.OpWrite, "/one/__cluster_metadata-0/"}, {vfs.OpSync, "/one/__cluster_metadata-0/"},
		{vfs.OpRead, "/one/t-"}, {vfs.OpWrite, "/one/t-"}, {vfs.OpSync, "/one/t-"},
	} {
		t.Run(string(x.kind)+strings.ReplaceAll(x.of, "/", "+"), func(t *testing.T) {
			f, disk := twoDirectories(t)
			f.mayFail = true
			every := "1"
			p := f.partitionIn("/one", "t", map[string]*string{"flush.messages": &every})
			if code := f.produceOnce("t", p); code != kafka.ErrNone {
				t.Fatal(code)
			}
			disk.Inject(failing(x.kind, x.of))
			if strings.HasSuffix(x.of, "t-") {
				f.fetchOnce("t", p)
				f.produceOnce("t", p)
			}
			select {
			case <-f.Failed():
			case <-time.After(patience): // an idle record meets the error of the metadata log
				t.Fatalf("the node goes on\n%s", f.log)
			}
			if why := f.Failure().Error(); !strings.Contains(why, "/one") || !strings.Contains(why, "input/output error") {
				t.Errorf("it says %s", why)
			}
			f.stop()
			disk.Inject(nil)
		})
	}
}

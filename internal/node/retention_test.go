package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestRetentionInANode lets a topic of tiny retention lose its records, tells why
// another keeps its own, and deletes those by request.
func TestRetentionInANode(t *testing.T) {
	dir := t.TempDir()
	f := start(t, dir, "log.retention.check.interval.ms=50", "log.initial.task.delay.ms=0")
	tiny, none, week := "1", "0", "604800000"
	f.create("tiny", 1, map[string]*string{"retention.ms": &tiny, "file.delete.delay.ms": &none})
	f.create("kept", 1, map[string]*string{"retention.ms": &week})
	f.produce("tiny", 0, 10)
	f.produce("kept", 0, 10)
	c, _ := f.client()
	admin := kadm.NewClient(c)
	startOf := func(topic string) int64 {
		offsets, err := admin.ListStartOffsets(f.context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		o, _ := offsets.Lookup(topic, 0)
		return o.Offset
	}
	eventually(t, "the records are gone", func() bool { return startOf("tiny") == 10 })
	eventually(t, "their file is", func() bool {
		_, err := os.Stat(filepath.Join(dir, "tiny-0", "00000000000000000000.log.deleted"))
		return os.IsNotExist(err)
	})
	f.produce("tiny", 10, 1) // it goes on

	if status, body := f.get("/topics/why?topic=kept"); status != 200 || !strings.Contains(body, "retention.ms=604800000 (7 days)") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := f.get("/topics/why?topic=nosuch"); status != 404 || body != "no partition of topic \"nosuch\" lies on this node\n" {
		t.Errorf("%d %s", status, body)
	}
	if _, body := f.get("/metrics"); !strings.Contains(body, `barnabas_log_deleted_segments_total{logDirectory="`+dir+`"}`) {
		t.Error("no metric of deleted segments")
	}
	deleted, err := admin.DeleteRecords(f.context(), kadm.Offsets{"kept": {0: {Topic: "kept", Partition: 0, At: 4}}})
	if err != nil || deleted["kept"][0].LowWatermark != 4 || startOf("kept") != 4 {
		t.Errorf("%+v, %v, start %d", deleted, err, startOf("kept"))
	}
	if text, err := os.ReadFile(filepath.Join(dir, "log-start-offset-checkpoint")); err != nil || !strings.Contains(string(text), "kept 0 4\n") {
		t.Errorf("%q, %v", text, err)
	}
	answer, err := c.Broker(int(f.config.Node.ID)).Request(f.context(), kmsg.NewPtrDescribeLogDirsRequest())
	if err != nil {
		t.Fatal(err)
	}
	resp := answer.(*kmsg.DescribeLogDirsResponse)
	if len(resp.Dirs) != 1 || kafka.ErrorCode(resp.Dirs[0].ErrorCode) != kafka.ErrNone || resp.Dirs[0].TotalBytes <= 0 {
		t.Errorf("%+v", resp)
	}
}

package oracle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/kit"
)

// TestApacheOpensOurFolder writes with clients into a folder of ours, lets retention
// and DeleteRecords take some of it, then lets Apache Kafka open it: after a clean stop,
// and after a kill that leaves files to be deleted.
func TestApacheOpensOurFolder(t *testing.T) {
	verify, binary, apache := buildVerify(t), buildBarnabas(t), installApache(t)
	for _, end := range []string{"stopped", "killed"} {
		t.Run(end, func(t *testing.T) {
			n, err := kit.NewNode(binary, filepath.Join(t.TempDir(), "node"), deletesOnRequest...)
			if err != nil {
				t.Fatal(err)
			}
			start(t, n)
			writeLoad(t, n.Address())
			deleteLoad(t, n.Address())
			captured := captureFolder(t, verify, n)
			if end == "killed" {
				err = n.Kill()
			} else {
				err = n.Stop()
			}
			if err != nil {
				t.Fatal(err)
			}
			dumpAll(t, apache, n.DataDir(), end == "stopped")
			a := n.As(apache)
			start(t, a)
			verifyFolder(t, verify, a, captured, "captured", "cluster,topics,offsets,records,committed,seeks,times")
			stop(t, a)
			back := a.As(binary)
			start(t, back)
			verifyFolder(t, verify, back, captured, "captured", "cluster,topics,offsets,records,committed,seeks,times")
			stop(t, back)
		})
	}
}

// loadTopics are topics with what makes a difference on disk.
var loadTopics = map[string]map[string]*string{
	"load-plain":       {},
	"load-small":       {"segment.bytes": ptr("1048576"), "index.interval.bytes": ptr("512")},
	"load-append-time": {"message.timestamp.type": ptr("LogAppendTime")},
	"load-zstd":        {"compression.type": ptr("zstd")},
	"load-index":       {"segment.index.bytes": ptr("1024"), "index.interval.bytes": ptr("64")},
}

func ptr(s string) *string { return &s }

// createEach creates topics with their configurations.
func createEach(ctx context.Context, t *testing.T, bootstrap string, partitions int32, topics map[string]map[string]*string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for topic, configs := range topics {
		resp, err := kadm.NewClient(cl).CreateTopic(ctx, partitions, 1, configs, topic)
		if err != nil || resp.Err != nil {
			t.Fatalf("create %s: %v %v", topic, err, resp.Err)
		}
	}
}

// writeLoad fills the load topics with every codec, idempotent and not.
func writeLoad(t *testing.T, bootstrap string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	createEach(ctx, t, bootstrap, 3, loadTopics)
	for i, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		options := []kgo.Opt{kgo.SeedBrokers(bootstrap), kgo.ProducerBatchCompression(codec)}
		if i%2 == 1 {
			options = append(options, kgo.DisableIdempotentWrite())
		}
		if err := writeRecords(ctx, options, 4000); err != nil {
			t.Fatal(err)
		}
	}
}

// writeRecords writes n records to each load topic, with timestamps of long ago
// that now and then go back.
func writeRecords(ctx context.Context, options []kgo.Opt, n int) error {
	cl, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	defer cl.Close()
	base := time.UnixMilli(1_700_000_000_000)
	failed := make(chan error, 1)
	for topic := range loadTopics {
		for i := range n {
			r := &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", i%97), Value: []byte(strings.Repeat("v", i%700)),
				Timestamp: base.Add(time.Duration(i-i%7*50) * time.Millisecond)}
			cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
				if err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			})
		}
	}
	if err := cl.Flush(ctx); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// dumpAll lets Apache's dump-log read every file of ours. The active indexes of
// the metadata log fail on Apache's own folders too, and after a kill the active
// indexes of partitions are behind.
func dumpAll(t *testing.T, apache *kit.Apache, data string, clean bool) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		metadata := strings.Contains(path, "__cluster_metadata-0")
		switch filepath.Ext(path) {
		case ".log", ".snapshot", ".checkpoint", ".txnindex":
			files = append(files, path)
		case ".index", ".timeindex":
			if clean && !metadata {
				files = append(files, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--print-data-log"}, {"--cluster-metadata-decoder"}} {
		var chosen []string
		for _, f := range files {
			if strings.Contains(f, "__cluster_metadata-0") == (args[0] == "--cluster-metadata-decoder") {
				chosen = append(chosen, f)
			}
		}
		out, err := apache.Tool("dump-log", append(args, "--files", strings.Join(chosen, ","))...)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.Stdout + out.Stderr) {
			if dumpComplaint(line) {
				t.Errorf("dump-log: %s", strings.TrimSpace(line))
			}
		}
		if out.Exit != 0 {
			t.Errorf("dump-log: exit %d\n%s", out.Exit, out.Stderr)
		}
		t.Logf("dump-log read %d files", len(chosen))
	}
}

func dumpComplaint(line string) bool {
	for _, sign := range []string{"isvalid: false", "Exception", "Index mismatch", "Mismatches in", "out of order", "Found timestamp mismatch", "ERROR", "corrupt", "bytes at the end"} {
		if strings.Contains(line, sign) {
			return true
		}
	}
	return false
}

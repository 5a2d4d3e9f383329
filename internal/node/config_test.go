package node

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// alter sets configurations, "key=value" each, or deletes them, "-key", and gives
// the error with its text.
func (f *fixture) alter(kind kmsg.ConfigResourceType, name string, changes ...string) error {
	f.t.Helper()
	r := kmsg.NewPtrIncrementalAlterConfigsRequest()
	rr := kmsg.NewIncrementalAlterConfigsRequestResource()
	rr.ResourceType, rr.ResourceName = kind, name
	for _, change := range changes {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		if key, gone := strings.CutPrefix(change, "-"); gone {
			c.Name, c.Op = key, kmsg.IncrementalAlterConfigOpDelete
		} else {
			key, value, _ := strings.Cut(change, "=")
			c.Name, c.Value = key, &value
		}
		rr.Configs = append(rr.Configs, c)
	}
	r.Resources = append(r.Resources, rr)
	cl, done := f.client()
	defer done()
	resp, err := r.RequestWith(f.context(), cl)
	if err != nil {
		f.t.Fatal(err)
	}
	row := resp.Resources[0]
	if row.ErrorCode == 0 {
		return nil
	}
	return errors.New(kafka.ErrorCode(row.ErrorCode).String() + ": " + *row.ErrorMessage)
}

// set is alter where no error is expected.
func (f *fixture) set(kind kmsg.ConfigResourceType, name string, changes ...string) {
	f.t.Helper()
	if err := f.alter(kind, name, changes...); err != nil {
		f.t.Fatal(err)
	}
}

const (
	onTopic  = kmsg.ConfigResourceTypeTopic
	onBroker = kmsg.ConfigResourceTypeBroker
	onLogger = kmsg.ConfigResourceTypeBrokerLogger
)

// write produces one record and gives the error of the answer.
func (f *fixture) write(r *kgo.Record) error {
	f.t.Helper()
	cl, done := f.client(kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordRetries(0), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerBatchMaxBytes(64<<20), kgo.DisableIdempotentWrite())
	defer done()
	return cl.ProduceSync(f.context(), r).FirstErr()
}

// first is the header of the first batch of the topic's only partition.
func (f *fixture) first(topic, dir string) []byte {
	f.t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, topic+"-0", "00000000000000000000.log"))
	if err != nil || len(b) < 61 {
		f.t.Fatalf("no batch: %d bytes, %v", len(b), err)
	}
	return b[:61]
}

// TestConfigurationsTakeEffectOnTheRunningNode: each of the topic, of this broker
// and of all brokers, and no more when they are gone.
func TestConfigurationsTakeEffectOnTheRunningNode(t *testing.T) {
	n := start(t, t.TempDir())
	small := []byte("v")
	for _, c := range []struct {
		topic, broker string
		record        kgo.Record
		want          error
	}{
		{"max.message.bytes=1000", "message.max.bytes=1000", kgo.Record{Topic: "t", Value: make([]byte, 5000)}, kerr.MessageTooLarge},
		{"cleanup.policy=compact", "log.cleanup.policy=compact", kgo.Record{Topic: "t", Value: small}, kerr.InvalidRecord},
		{"message.timestamp.before.max.ms=1", "log.message.timestamp.before.max.ms=1", kgo.Record{Topic: "t", Value: small, Timestamp: time.Unix(1, 0)}, kerr.InvalidTimestamp},
		{"message.timestamp.after.max.ms=1", "log.message.timestamp.after.max.ms=1", kgo.Record{Topic: "t", Value: small, Timestamp: time.Now().Add(30 * time.Minute)}, kerr.InvalidTimestamp},
	} {
		for _, level := range []struct {
			kind         kmsg.ConfigResourceType
			name, change string
		}{{onTopic, "t", c.topic}, {onBroker, "1", c.broker}, {onBroker, "", c.broker}} {
			recreate(n, "t")
			write := func() error {
				r := c.record // a produced record is changed
				return n.write(&r)
			}
			if err := write(); err != nil {
				t.Fatalf("%s: before it is set: %v", level.change, err)
			}
			n.set(level.kind, level.name, level.change)
			if err := write(); !errors.Is(err, c.want) {
				t.Errorf("%s of %d %q: %v, want %v", level.change, level.kind, level.name, err, c.want)
			}
			key, _, _ := strings.Cut(level.change, "=")
			n.set(level.kind, level.name, "-"+key)
			if err := write(); err != nil {
				t.Errorf("%s: after it is gone: %v", level.change, err)
			}
		}
	}
}

func recreate(n *fixture, topic string) {
	n.t.Helper()
	cl, done := n.client()
	defer done()
	if n.Image().Topics.ByName(topic) != nil {
		if _, err := kadm.NewClient(cl).DeleteTopic(n.context(), topic); err != nil {
			n.t.Fatal(err)
		}
	}
	n.create(topic, 1, nil)
}

// TestMinInsyncReplicasCountsUpToTheReplicas: with one replica it is one, whatever
// is asked for (as in Apache Kafka).
func TestMinInsyncReplicasCountsUpToTheReplicas(t *testing.T) {
	n := start(t, t.TempDir())
	n.create("t", 1, nil)
	n.set(onTopic, "t", "min.insync.replicas=2")
	if err := n.write(&kgo.Record{Topic: "t", Value: []byte("v")}); err != nil {
		t.Error(err)
	}
}

func TestCompressionAndTimestampTypeChangeOnTheRunningNode(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir)
	for _, c := range []struct {
		topic, kind string
		set         func()
		attributes  uint16
	}{
		{"plain", "nothing", func() {}, 0},
		{"zstd", "the topic", func() { n.set(onTopic, "zstd", "compression.type=zstd") }, 4},
		{"gzip", "the broker", func() { n.set(onBroker, "1", "compression.type=gzip") }, 1},
		{"time", "all brokers", func() {
			n.set(onBroker, "1", "-compression.type")
			n.set(onBroker, "", "log.message.timestamp.type=LogAppendTime")
		}, 8},
	} {
		n.create(c.topic, 1, nil)
		c.set()
		if err := n.write(&kgo.Record{Topic: c.topic, Value: make([]byte, 1000)}); err != nil {
			t.Fatal(err)
		}
		if got := binary.BigEndian.Uint16(n.first(c.topic, dir)[21:]); got != c.attributes {
			t.Errorf("set on %s: attributes %d, want %d", c.kind, got, c.attributes)
		}
	}
}

func TestSegmentSizeChangesOnTheRunningNode(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir)
	n.create("t", 1, nil)
	n.set(onBroker, "1", "log.segment.bytes=1048576")
	for range 3 {
		if err := n.write(&kgo.Record{Topic: "t", Value: make([]byte, 600_000)}); err != nil {
			t.Fatal(err)
		}
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "t-0", "*.log")); len(logs) != 3 {
		t.Errorf("segments: %v", logs)
	}
}

func TestLimitsOfConnectionsChangeOnTheRunningNode(t *testing.T) {
	n := start(t, t.TempDir())
	served := func() bool {
		cl, done := n.client(kgo.RequestRetries(0))
		defer done()
		return cl.Ping(n.context()) == nil
	}
	// The change itself needs a connection, and so does taking it back: the limit
	// of zero is lifted for another address only.
	held, _ := n.client()
	if err := held.Ping(n.context()); err != nil {
		t.Fatal(err)
	}
	change := func(changes ...string) {
		r := kmsg.NewPtrIncrementalAlterConfigsRequest()
		rr := kmsg.NewIncrementalAlterConfigsRequestResource()
		rr.ResourceType, rr.ResourceName = onBroker, "1"
		for _, c := range changes {
			k := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			key, value, set := strings.Cut(c, "=")
			k.Name = key
			if k.Value = &value; !set {
				k.Op = kmsg.IncrementalAlterConfigOpDelete
			}
			rr.Configs = append(rr.Configs, k)
		}
		r.Resources = append(r.Resources, rr)
		resp, err := r.RequestWith(n.context(), held)
		if err != nil || resp.Resources[0].ErrorCode != 0 {
			t.Fatalf("%v, %+v", err, resp)
		}
	}
	change("max.connections.per.ip=1")
	if served() {
		t.Error("more than one connection of an address")
	}
	change("max.connections.per.ip.overrides=127.0.0.1:100")
	if !served() {
		t.Error("an override does not count")
	}
	change("max.connections.per.ip", "max.connections.per.ip.overrides")
	if !served() {
		t.Error("the limit has not gone")
	}
	change("max.connections=1")
	late, err := net.Dial("tcp", n.address())
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if _, err := late.Write(kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrApiVersionsRequest(), 1)); err != nil {
		t.Fatal(err)
	}
	answered := func(limit time.Duration) error {
		if err := late.SetReadDeadline(time.Now().Add(limit)); err != nil {
			t.Fatal(err)
		}
		_, err := late.Read(make([]byte, 1))
		return err
	}
	// That nothing comes can only be seen by waiting; where it takes longer than this to
	// answer, the test sees less and does not fail.
	if err := answered(200 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection beyond max.connections: %v", err)
	}
	change("max.connections")
	if err := answered(patience); err != nil {
		t.Errorf("a connection that waited: %v", err)
	}
}

// TestCordonedDirectoriesGetNoNewPartitions also while the node runs (KIP-1066).
func TestCordonedDirectoriesGetNoNewPartitions(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	n := start(t, a, "log.dirs="+a+","+b)
	cordoned := func(dirs int) func() bool {
		return func() bool { return len(n.Image().Cluster.Broker(1).Cordoned) == dirs }
	}
	n.set(onBroker, "1", "cordoned.log.dirs="+a)
	eventually(t, "the controller knows", cordoned(1))
	n.create("t", 4, nil)
	if in, _ := filepath.Glob(filepath.Join(a, "t-*")); len(in) > 0 {
		t.Errorf("in the cordoned directory: %v", in)
	}
	if in, _ := filepath.Glob(filepath.Join(b, "t-*")); len(in) != 4 {
		t.Errorf("in the other directory: %v", in)
	}
	n.set(onBroker, "1", "cordoned.log.dirs=*")
	eventually(t, "the controller knows of both", cordoned(2))
	cl, done := n.client()
	defer done()
	if _, err := kadm.NewClient(cl).CreateTopic(n.context(), 1, 1, nil, "u"); !errors.Is(err, kerr.InvalidReplicationFactor) {
		t.Errorf("a topic without a place: %v", err)
	}
	n.set(onBroker, "1", "-cordoned.log.dirs")
	eventually(t, "no directory is cordoned", cordoned(0))
	n.create("u", 1, nil)
}

func TestLoggersChangeOnTheRunningNode(t *testing.T) {
	n := start(t, t.TempDir())
	describe := func() map[string]string {
		cl, done := n.client()
		defer done()
		r := kmsg.NewPtrDescribeConfigsRequest()
		r.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: onLogger, ResourceName: "1"}}
		resp, err := r.RequestWith(n.context(), cl)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, c := range resp.Resources[0].Configs {
			out[c.Name] = *c.Value
		}
		return out
	}
	before := describe()
	if before["root"] != "INFO" || before["barnabas.server"] != "INFO" || before["barnabas.controller"] != "INFO" {
		t.Errorf("loggers %v", before)
	}
	n.set(onLogger, "1", "barnabas.controller=WARN")
	n.create("quiet", 1, nil)
	n.set(onLogger, "1", "-barnabas.controller")
	n.create("loud", 1, nil)
	if log := n.log.String(); strings.Contains(log, "quiet") || !strings.Contains(log, "loud") {
		t.Error("the level of the controller's logger does not count")
	}
	n.set(onLogger, "1", "root=ERROR")
	if got := describe(); got["barnabas.server"] != "ERROR" {
		t.Errorf("loggers do not follow the root: %v", got)
	}
	if err := n.alter(onLogger, "1", "nosuch=INFO"); err == nil || err.Error() != "INVALID_CONFIG: Logger nosuch does not exist!" {
		t.Error(err)
	}
}

// TestConfigurationsOutliveTheNode: what is set is in the metadata log.
func TestConfigurationsOutliveTheNode(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir)
	n.set(onBroker, "1", "message.max.bytes=1000")
	n.set(onBroker, "", "num.io.threads=9")
	n.create("t", 1, nil)
	n.stop()
	n = start(t, dir)
	if err := n.write(&kgo.Record{Topic: "t", Value: make([]byte, 5000)}); !errors.Is(err, kerr.MessageTooLarge) {
		t.Error(err)
	}
	if got := strings.Count(n.log.String(), "key=num.io.threads"); got != 1 {
		t.Errorf("%d warnings about a key without effect", got)
	}
}

func TestReadOnlyKeysAreRefused(t *testing.T) {
	n := start(t, t.TempDir())
	for _, key := range []string{"node.id", "log.dirs", "num.partitions", "auto.create.topics.enable", "log.retention.hours", "barnabas.admin.listener"} {
		for _, name := range []string{"1", ""} {
			err := n.alter(onBroker, name, key+"=1")
			if err == nil || err.Error() != "INVALID_REQUEST: Cannot update these configs dynamically: ["+key+"]" {
				t.Errorf("%s of %q: %v", key, name, err)
			}
		}
	}
	if n.Image().Configs.Of(image.ConfigResource{Type: image.BrokerResource, Name: "1"}).Len() > 0 {
		t.Error("something was set")
	}
}

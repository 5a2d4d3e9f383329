package node

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"barnabas/internal/admin"
	"barnabas/internal/base/vfs"
	"barnabas/internal/coordinator/lag"
	"barnabas/internal/kafka"
	"barnabas/internal/metrics"
	"barnabas/internal/storage/logdir"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// markedClean says whether a directory has the mark of a clean shutdown.
func markedClean(t *testing.T, dir string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(dir, logdir.CleanShutdownFile))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}

func TestRecordsSurviveACleanStop(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir)
	cluster := n.ClusterID()
	n.create("a", 3, nil)
	n.produce("a", 0, 500)
	n.consume("a", 500)
	n.stop()
	if !markedClean(t, dir) {
		t.Error("no mark of a clean shutdown")
	}
	n = start(t, dir)
	if markedClean(t, dir) {
		t.Error("the mark is there while the node runs")
	}
	if n.ClusterID() != cluster {
		t.Errorf("cluster %s, was %s", n.ClusterID(), cluster)
	}
	n.produce("a", 500, 100)
	n.consume("a", 600)
	eventually(t, "ready", func() bool { _, r := n.ready(); return r.Ready })
	if _, r := n.ready(); r.Recovery.Logs != (admin.Progress{Done: 3, Total: 3}) || r.Recovery.Bytes.Total != 0 {
		t.Errorf("after a clean stop: %+v", r)
	}
}

func TestAcknowledgedRecordsSurviveAKill(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir)
	n.create("a", 3, nil)
	n.produce("a", 0, 500)
	crashed := n.crashed(dir)
	n.stop()
	n = start(t, crashed)
	n.produce("a", 500, 10)
	n.consume("a", 510)
	eventually(t, "ready", func() bool { _, r := n.ready(); return r.Ready })
	if _, r := n.ready(); r.Recovery.Bytes.Done == 0 || r.Recovery.Bytes.Done != r.Recovery.Bytes.Total {
		t.Errorf("after a kill: %+v", r)
	}
}

// TestReadinessTellsARecovery holds one log back: the node serves the others, says
// that it is recovering and how far, and is ready when that log is open.
func TestReadinessTellsARecovery(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir)
	n.create("a", 2, nil)
	n.create("held", 1, nil)
	n.produce("a", 0, 100)
	n.produce("held", 0, 50)
	crashed := n.crashed(dir)
	n.stop()

	held := &heldFS{word: "held-0" + string(filepath.Separator) + "0", release: make(chan struct{})}
	released := false
	release := func() {
		if !released {
			released = true
			close(held.release)
		}
	}
	o, log := options(t, crashed, "num.recovery.threads.per.data.dir=3")
	o.NewFS = func() vfs.FS { return &heldFS{ownFS(), held.word, held.release} }
	n = launch(t, o, log)
	t.Cleanup(release) // before the node is stopped
	n.awaitServing()
	n.consume("a", 100)
	eventually(t, "two of three logs are open", func() bool { _, r := n.ready(); return r.Recovery.Logs.Done == 2 })
	status, r := n.ready()
	if status != 503 || r.Ready || r.State != "recovering" || r.Recovery.Logs.Total != 3 || r.Recovery.Bytes.Done == 0 {
		t.Errorf("while a log is held back: %d %+v", status, r)
	}
	if status, _ := n.get("/livez"); status != 200 {
		t.Errorf("not alive: %d", status)
	}
	families := n.scrape()
	wantValue(t, families, metrics.RecoveryLogsLeft, 1)
	wantValue(t, families, metrics.Ready, 0)
	release()
	eventually(t, "ready", func() bool { status, r := n.ready(); return status == 200 && r.Ready && r.State == "serving" })
	n.consume("held", 50)
	wantValue(t, n.scrape(), metrics.RecoveryLogsLeft, 0)
}

// scrape reads and parses the metrics page.
func (f *fixture) scrape() map[string]*dto.MetricFamily {
	f.t.Helper()
	status, body := f.get("/metrics")
	if status != 200 {
		f.t.Fatalf("metrics: %d %s", status, body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	return families
}

// sum adds up the values of a metric over all its labels, or the counts of a
// histogram.
func sum(m *dto.MetricFamily, labels ...string) (total float64) {
	for _, x := range m.GetMetric() {
		if len(labels) == 2 && !hasLabel(x, labels[0], labels[1]) {
			continue
		}
		total += x.GetGauge().GetValue() + x.GetCounter().GetValue() + float64(x.GetHistogram().GetSampleCount())
	}
	return total
}

func hasLabel(m *dto.Metric, name, value string) bool {
	for _, l := range m.Label {
		if l.GetName() == name && l.GetValue() == value {
			return true
		}
	}
	return false
}

func wantValue(t *testing.T, families map[string]*dto.MetricFamily, id metrics.ID, want float64, labels ...string) {
	t.Helper()
	name := metrics.Table()[id].Name
	if got := sum(families[name], labels...); got != want {
		t.Errorf("%s%v is %v, want %v", name, labels, got, want)
	}
}

// TestEveryMetricIsTold: a node that has done a little of everything tells every
// metric of the table, and what it has done.
func TestEveryMetricIsTold(t *testing.T) {
	n := start(t, t.TempDir())
	every := "1"
	n.create("a", 3, map[string]*string{"flush.messages": &every})
	n.produce("a", 0, 30)
	n.consume("a", 30)
	n.pushTelemetry([16]byte{1, 2, 3})
	n.watch.watch.Observe(time.Now(), []lag.Sample{{Key: lag.Key{Group: "g", TopicPartition: kafka.TopicPartition{Topic: "a"}}}}, 0)
	c, done := n.client()
	if _, err := kadm.NewClient(c).CreateTopic(n.context(), 1, 1, nil, "a"); err == nil {
		t.Error("the topic was made twice")
	}
	done()
	eventually(t, "all answers are counted", func() bool {
		return sum(n.scrape()["kafka_network_requestmetrics_totaltime_seconds"], "request", "CreateTopics") == 2
	})
	families := n.scrape()
	for _, m := range metrics.Table() {
		family := families[m.Name]
		switch {
		case family == nil:
			t.Errorf("%s is not told", m.Name)
		case strings.ToLower(family.GetType().String()) != string(m.Kind):
			t.Errorf("%s is a %s, want a %s", m.Name, family.GetType(), m.Kind)
		}
	}
	for _, w := range []struct {
		id     metrics.ID
		want   float64
		labels []string
	}{
		{metrics.MessagesIn, 30, nil},
		{metrics.PartitionCount, 3, nil},
		{metrics.LeaderCount, 3, nil},
		{metrics.TopicsGlobal, 1, nil},
		{metrics.PartitionsGlobal, 3, nil},
		{metrics.PartitionsOffline, 0, nil},
		{metrics.PreferredImbalance, 0, nil},
		{metrics.BrokersActive, 1, nil},
		{metrics.ControllerActive, 1, nil},
		{metrics.BrokerState, 3, nil},
		{metrics.Ready, 1, nil},
		{metrics.RequestCount, 2, []string{"request", "CreateTopics"}},
		{metrics.RequestErrors, 1, []string{"error", "TOPIC_ALREADY_EXISTS"}},
		{metrics.PurgatorySize, 0, []string{"delayedOperation", "Produce"}},
		{metrics.MetadataLag, 0, nil},
		{metrics.DirectoryReplicas, 3, nil},
	} {
		wantValue(t, families, w.id, w.want, w.labels...)
	}
	if n := sum(families["kafka_log_logflushstats_logflush_seconds"]); n < 1 {
		t.Error("no sync was timed")
	}
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total"} {
		if families[name] == nil {
			t.Errorf("%s is not told", name)
		}
	}
}

func TestATakenAdminPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o, log := options(t, t.TempDir(), "barnabas.admin.listener="+taken.Addr().String())
	if n, err := Start(o); err == nil {
		n.Stop(t.Context())
		t.Fatal("a configured port that is taken is no error")
	} else if !strings.Contains(err.Error(), "barnabas.admin.listener: listen tcp") {
		t.Error(err)
	}
	o.Config.Admin.Configured = false // as if it were the default
	n := launch(t, o, log)
	n.awaitServing()
	if n.AdminAddress().IsValid() || strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "set barnabas.admin.listener to another address") {
		t.Errorf("address %v, log\n%s", n.AdminAddress(), log)
	}
	n.stop()
	n = start(t, t.TempDir(), "barnabas.admin.listener=none")
	if n.AdminAddress().IsValid() {
		t.Error("the admin listener is not off")
	}
}

// TestAFailureIsTold: a node that cannot go on says so, and stops.
func TestAFailureIsTold(t *testing.T) {
	n := start(t, t.TempDir())
	n.fatal(context.DeadlineExceeded)
	select {
	case <-n.Failed():
	case <-time.After(patience):
		t.Fatal("not failed")
	}
	if status, body := n.get("/livez"); status != 500 || !strings.Contains(body, "deadline exceeded") {
		t.Errorf("livez: %d %s", status, body)
	}
	if status, r := n.ready(); status != 503 || r.State != "failed" {
		t.Errorf("readyz: %d %+v", status, r)
	}
}

// TestStopWhileClientsAreBusy: a stop answers what was read and leaves nothing
// behind, whatever clients do meanwhile.
func TestStopWhileClientsAreBusy(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir)
	n.create("a", 3, nil)
	producer, closeProducer := n.client(kgo.DefaultProduceTopic("a"))
	consumer, _ := n.client(kgo.ConsumeTopics("a"), kgo.FetchMaxWait(time.Hour))
	polled := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer close(polled)
		consumer.PollFetches(ctx)
	}()
	acked := make(chan int, 1)
	go func() {
		count := 0
		for ctx.Err() == nil {
			if producer.ProduceSync(ctx, kgo.StringRecord("x")).FirstErr() != nil {
				break
			}
			if count++; count == 200 {
				acked <- count
			}
		}
		close(acked)
	}()
	select {
	case <-acked:
	case <-time.After(patience):
		t.Fatal("no records")
	}
	n.stop()
	cancel()
	closeProducer() // it would try again for ever
	<-polled
	for range acked {
	}
	if !markedClean(t, dir) {
		t.Error("no mark of a clean shutdown")
	}
}

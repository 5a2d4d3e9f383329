package compat

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/kit"
)

var (
	records = flag.Int("records", 2000, "records that each client writes and reads")
	server  = flag.String("server", "barnabas", "barnabas or apache")
)

// TestMain lets several libraries play at the same time: they mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic("BUG: " + err.Error())
	}
	os.Exit(m.Run())
}

// patience bounds one round trip of one client.
const patience = 10 * time.Minute

// client writes n records and reads them back.
type client interface {
	produce(bootstrap, topic string, n int) error
	consume(bootstrap, topic string, n int) error
}

func startServer(t *testing.T, apache *kit.Apache, properties ...string) *kit.Node {
	t.Helper()
	var s kit.Server = apache
	if *server != "apache" {
		b, err := kit.BuildBarnabas(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s = b
	}
	n, err := kit.NewNode(s, filepath.Join(t.TempDir(), "node"), properties...)
	if err != nil {
		t.Fatal(err)
	}
	if *server != "apache" {
		ports, err := kit.FreePorts(1)
		if err != nil {
			t.Fatal(err)
		}
		n.Admin = fmt.Sprint("127.0.0.1:", ports[0])
	}
	n.EndWith(t)
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	return n
}

// installClients installs what the clients of other languages need: Apache Kafka for
// Java, a Python with its libraries, kafkajs.
func installClients(t *testing.T) (apache *kit.Apache, python string) {
	t.Helper()
	apache, err := kit.InstallApache()
	if err != nil {
		t.Fatal(err)
	}
	if python, err = pythonEnvironment(); err != nil {
		t.Fatal(err)
	}
	nodeModules, err := kafkajsFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_PATH", nodeModules)
	return apache, python
}

func TestClientsReadWhatTheyWrote(t *testing.T) {
	apache, python := installClients(t)
	node := startServer(t, apache)
	for _, c := range []struct {
		name   string
		client client
	}{
		{"franz-go", franzGo{}},
		{"franz-go-zstd", franzGo{[]kgo.Opt{kgo.ProducerBatchCompression(kgo.ZstdCompression())}}},
		{"sarama", saramaClient{}},
		{"kafka-go", kafkaGo{}},
		{"java", javaClient(apache)},
		{"kcat", kcat{}},
		{"confluent-kafka", program{[]string{python, "python/confluent.py"}}},
		{"kafka-python", program{[]string{python, "python/kafka_python.py"}}},
	} {
		t.Run(c.name, func(t *testing.T) { roundTrip(t, node, c.name, c.client, c.client) })
	}
	t.Run("kafkajs", func(t *testing.T) {
		roundTrip(t, node, "kafkajs", program{[]string{"node", "node/kafkajs.js"}}, nil)
	})
	t.Run("apache-tools", func(t *testing.T) {
		if err := (apacheTools{apache}).roundTrip(node.Address(), "apache-tools", *records); err != nil {
			t.Error(err)
		}
	})
}

// roundTrip lets writer write, then reader (if any) and franz-go read.
func roundTrip(t *testing.T, node *kit.Node, topic string, writer, reader client) {
	if err := createTopic(node.Address(), topic); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if err := writer.produce(node.Address(), topic, *records); err != nil {
		t.Fatalf("produce: %v", err)
	}
	written := time.Now()
	if reader != nil {
		if err := reader.consume(node.Address(), topic, *records); err != nil {
			t.Fatalf("consume: %v", err)
		}
	}
	t.Logf("%d records written in %v, read in %v", *records, written.Sub(started).Round(time.Millisecond), time.Since(written).Round(time.Millisecond))
	if err := (franzGo{}).consume(node.Address(), topic, *records); err != nil {
		t.Errorf("read by franz-go: %v", err)
	}
}

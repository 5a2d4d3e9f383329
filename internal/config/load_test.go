package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"barnabas/internal/kafka"
)

// shipped are the settings of the file that Apache Kafka 4.4 is shipped with.
const shipped = `# The role of this server.
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=2
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
`

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustLoad(t *testing.T, o Options) (*Broker, []Warning) {
	t.Helper()
	b, warnings, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return b, warnings
}

// loadError returns the text of the error, with the folder of o.File taken out.
func loadError(t *testing.T, o Options) string {
	t.Helper()
	_, _, err := Load(o)
	if err == nil {
		t.Fatal("no error")
	}
	return strings.ReplaceAll(err.Error(), filepath.Dir(o.File)+"/", "")
}

func TestTheShippedFileLoads(t *testing.T) {
	b, warnings := mustLoad(t, Options{File: writeFile(t, "server.properties", shipped)})
	want := []Listener{
		{"PLAINTEXT", "", 9092, kafka.Plaintext, false, maxInt32, maxInt32},
		{"CONTROLLER", "", 9093, kafka.Plaintext, true, maxInt32, maxInt32},
	}
	if !reflect.DeepEqual(b.Network.Listeners, want) {
		t.Errorf("listeners %v", b.Network.Listeners)
	}
	if got := fmt.Sprint(b.Network.Advertised); got != "[PLAINTEXT://localhost:9092 CONTROLLER://localhost:9093]" || !b.Network.AdvertisedSet {
		t.Errorf("advertised %s", got)
	}
	if b.Node.ID != 1 || !b.Node.IsBroker || !b.Node.IsController || b.Node.MetadataLogDir != "/tmp/kraft-combined-logs" || b.Node.FromDefaults {
		t.Errorf("node %+v", b.Node)
	}
	if b.Network.InterBrokerListenerName != "PLAINTEXT" || fmt.Sprint(b.Quorum.BootstrapServers) != "[localhost:9093]" {
		t.Errorf("%s %v", b.Network.InterBrokerListenerName, b.Quorum.BootstrapServers)
	}
	if b.Lifecycle.SessionTimeout != 9*time.Second || b.Logs.FlushSchedulerInterval != Forever || b.Network.QueuedMaxRequestBytes != -1 {
		t.Errorf("%+v %+v", b.Lifecycle, b.Logs)
	}
	var keys []string
	for _, w := range warnings {
		keys = append(keys, w.Key)
	}
	if got := strings.Join(keys, " "); got != "num.io.threads num.network.threads" {
		t.Errorf("warnings about %s", got)
	}
}

func TestWithoutAFileTheProductsDefaultsHold(t *testing.T) {
	b, warnings := mustLoad(t, Options{Environ: []string{"HOME=/home/me", "PATH=/bin"}})
	if len(warnings) > 0 {
		t.Errorf("warnings %v", warnings)
	}
	if got := fmt.Sprint(b.Network.Listeners); got != "[PLAINTEXT://:9092 CONTROLLER://127.0.0.1:9093]" {
		t.Errorf("listeners %s", got)
	}
	if !b.Node.FromDefaults || b.Node.ID != 1 || fmt.Sprint(b.Node.LogDirs) != "[/home/me/.local/share/barnabas]" {
		t.Errorf("node %+v", b.Node)
	}
	if b.Admin != (Admin{Address: "127.0.0.1:9095"}) {
		t.Errorf("admin %+v", b.Admin)
	}
	if b.InternalTopics.OffsetsReplicationFactor != 1 || b.InternalTopics.TransactionMinISR != 1 || b.InternalTopics.ShareStateReplicationFactor != 1 {
		t.Errorf("internal topics %+v", b.InternalTopics)
	}
	if got := fmt.Sprint(b.Quorum.BootstrapServers); got != "[127.0.0.1:9093]" {
		t.Errorf("bootstrap servers %s", got)
	}
	b, _ = mustLoad(t, Options{Environ: []string{"HOME=/home/me"}, Overrides: []string{"listeners=PLAINTEXT://:19092", "barnabas.admin.listener=none"}})
	if got := fmt.Sprint(b.Network.Listeners); got != "[PLAINTEXT://:19092 CONTROLLER://127.0.0.1:9093]" {
		t.Errorf("listeners %s", got)
	}
	if b.Admin != (Admin{Configured: true}) {
		t.Errorf("admin %+v", b.Admin)
	}
	if got := loadError(t, Options{}); !strings.Contains(got, "name a folder by log.dirs") {
		t.Errorf("without HOME: %s", got)
	}
}

func TestLaterSourcesGoBeforeEarlierOnes(t *testing.T) {
	file := writeFile(t, "server.properties", shipped+"log.roll.ms=1\nbroker.rack=file\nfetch.max.bytes=2000\n")
	b, _ := mustLoad(t, Options{
		File: file,
		Environ: []string{
			"KAFKA_LOG_ROLL_MS=2", "KAFKA_BROKER_RACK=kafka", "KAFKA_FETCH_MAX_BYTES=3000", "KAFKA_OPTS=-Xmx1g",
			"BARNABAS_BROKER_RACK=barnabas", "BARNABAS_FETCH_MAX_BYTES=4000", "BARNABAS_ADMIN_LISTENER=127.0.0.1:7",
		},
		Overrides: []string{"fetch.max.bytes=5000"},
	})
	topic, err := b.Topic(nil)
	if err != nil {
		t.Fatal(err)
	}
	if topic.SegmentMs != 2 || b.Node.Rack != "barnabas" || b.Fetch.MaxBytes != 5000 || b.Admin != (Admin{"127.0.0.1:7", true}) {
		t.Errorf("roll %d, rack %s, fetch %d, admin %+v", topic.SegmentMs, b.Node.Rack, b.Fetch.MaxBytes, b.Admin)
	}
}

func TestEnvironmentNamesAreThoseOfApachesImage(t *testing.T) {
	for name, want := range map[string]string{
		"LOG_DIRS": "log.dirs", "LISTENER_NAME_A___B_SSL_KEY": "listener.name.a-b.ssl.key", "A__B_C": "a_b.c",
	} {
		if got := environmentKey(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestErrorsNameTheLineAndAllOfThem(t *testing.T) {
	file := writeFile(t, "server.properties", shipped+"num.partitions=many\nlog.roll.ms=0\n\nadvertised.listeners=PLAINTEXT://0.0.0.0:9092\n")
	got := loadError(t, Options{File: file, Environ: []string{"KAFKA_FETCH_MAX_BYTES=1"}, Overrides: []string{"log.dirs="}})
	want := `--override log.dirs: Configuration 'log.dirs' must not be empty. Valid values include: any non-empty value
server.properties:26: Invalid value many for configuration num.partitions: Not a number of type INT
environment variable KAFKA_FETCH_MAX_BYTES: Invalid value 1 for configuration fetch.max.bytes: Value must be at least 1024`
	sorted := func(s string) string { l := strings.Split(s, "\n"); slices.Sort(l); return fmt.Sprint(l) }
	if sorted(got) != sorted(want) {
		t.Errorf("got\n%s", got)
	}
	file = writeFile(t, "server.properties", shipped+"log.roll.ms=0\n\nadvertised.listeners=PLAINTEXT://0.0.0.0:9092\n")
	got = loadError(t, Options{File: file})
	want = `server.properties:28: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.
server.properties:26: log.roll.ms must be greater than or equal to 1`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if got := loadError(t, Options{File: file, Overrides: []string{"nothing"}}); got != "--override nothing: must be of the form key=value" {
		t.Errorf("got %s", got)
	}
}

func TestEveryKeyWithoutEffectIsNamedOnce(t *testing.T) {
	file := writeFile(t, "server.properties", shipped+"no.such.key=1\ngroup.share.max.size=5\nconfig.providers.x.class=y\nlistener.name.plaintext.num.io.threads=4\nlog.cleanup.policy=delete,compact\n")
	_, warnings := mustLoad(t, Options{File: file})
	var got []string
	for _, w := range warnings {
		got = append(got, strings.ReplaceAll(w.String(), filepath.Dir(file)+"/", ""))
	}
	want := []string{
		"server.properties:27: group.share.max.size: has no effect: share groups are not part of this release",
		"server.properties:29: listener.name.plaintext.num.io.threads: has no effect: there is no thread pool, queue, delay or JVM here that it could set",
		"server.properties:26: no.such.key: is not a known key and has no effect",
		"server.properties:11: num.io.threads: has no effect: there is no thread pool, queue, delay or JVM here that it could set",
		"server.properties:10: num.network.threads: has no effect: there is no thread pool, queue, delay or JVM here that it could set",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestWhatWouldOpenADoorIsRefused(t *testing.T) {
	for setting, wantKey := range map[string]string{
		"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer": "authorizer.class.name",
		"super.users=User:admin":                                           "super.users",
		"ssl.client.auth=required":                                         "ssl.client.auth",
		"listener.name.plaintext.ssl.keystore.location=/k":                 "listener.name.plaintext.ssl.keystore.location",
		"listener.name.plaintext.scram-sha-256.sasl.jaas.config=x":         "listener.name.plaintext.scram-sha-256.sasl.jaas.config",
		"create.topic.policy.class.name=com.example.Policy":                "create.topic.policy.class.name",
		"remote.log.storage.system.enable=true":                            "remote.log.storage.system.enable",
		"listener.security.protocol.map=CONTROLLER:SSL,PLAINTEXT:SASL_SSL": "listeners",
		"process.roles=controller\nlisteners=CONTROLLER://:9093":           "process.roles",
		"controller.quorum.voters=1@a:9093,2@b:9093":                       "controller.quorum.voters",
	} {
		text := shipped
		if strings.HasPrefix(setting, "process.roles") {
			text = strings.ReplaceAll(text, "advertised", "#")
		}
		file := writeFile(t, "server.properties", text+setting+"\n")
		got := loadError(t, Options{File: file})
		if !strings.Contains(got, wantKey) || !strings.Contains(got, "not supported by this release") || !strings.Contains(got, "server.properties:") {
			t.Errorf("%s: %s", setting, got)
		}
		if _, _, err := Load(Options{File: file, Tool: true}); err != nil {
			t.Errorf("a tool cannot read %s: %v", setting, err)
		}
	}
	// The same keys at their defaults promise nothing.
	mustLoad(t, Options{File: writeFile(t, "server.properties", shipped+"authorizer.class.name=\nssl.client.auth=none\nsasl.enabled.mechanisms=GSSAPI\nremote.log.storage.system.enable=FALSE\n")})
}

func TestConfigProviders(t *testing.T) {
	secrets := writeFile(t, "secrets.properties", "rack=blue\n")
	dir := filepath.Dir(writeFile(t, "bytes", "4096"))
	text := shipped + `config.providers=env,file,d
config.providers.d.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider
config.providers.d.param.allowed.paths=` + dir + `
broker.rack=${file:` + secrets + `:rack}-${env:COLOUR}-${env:NONE}-${other:x}-${plain}-${file:` + secrets + `:none}
fetch.max.bytes=${d:` + dir + `:bytes}
`
	b, warnings := mustLoad(t, Options{File: writeFile(t, "server.properties", text), Environ: []string{"COLOUR=red"}})
	if want := "blue-red-${env:NONE}-${other:x}-${plain}-${file:" + secrets + ":none}"; b.Node.Rack != want || b.Fetch.MaxBytes != 4096 || len(warnings) != 2 {
		t.Errorf("rack %s, fetch %d, warnings %v", b.Node.Rack, b.Fetch.MaxBytes, warnings)
	}
	// Without config.providers nothing is replaced.
	b, _ = mustLoad(t, Options{File: writeFile(t, "server.properties", shipped+"broker.rack=${env:COLOUR}\n"), Environ: []string{"COLOUR=red"}})
	if b.Node.Rack != "${env:COLOUR}" {
		t.Errorf("rack %s", b.Node.Rack)
	}
	got := loadError(t, Options{File: writeFile(t, "server.properties", shipped+"config.providers=v\nconfig.providers.v.class=com.example.Vault\n")})
	if !strings.HasPrefix(got, `server.properties:26: config provider v: class "com.example.Vault" is not one of`) {
		t.Errorf("got %s", got)
	}
	if value, ok, err := lookupInDirectory(dir, "../"+filepath.Base(dir)+"/bytes", nil); ok || err != nil {
		t.Errorf("a key that is a path: %q, %v", value, err)
	}
	if within("/etc/../secret", []string{"/etc"}) || !within("/etc/a/../b", []string{"/etc"}) {
		t.Error("allowed.paths can be left by ..")
	}
}

func TestLimitsOfOneListener(t *testing.T) {
	b, _ := mustLoad(t, Options{File: writeFile(t, "server.properties", shipped+"listener.name.plaintext.max.connections=7\nmax.connections.per.ip.overrides=127.0.0.1:3, ::1:4\n")})
	if l := b.Network.Listeners[0]; l.MaxConnections != 7 || l.MaxConnectionCreationRate != maxInt32 {
		t.Errorf("got %+v", l)
	}
	if got := b.Network.MaxConnectionsPerIPOverrides; !reflect.DeepEqual(got, map[string]int{"127.0.0.1": 3, "::1": 4}) {
		t.Errorf("got %v", got)
	}
}

func TestJavaDouble(t *testing.T) {
	for f, want := range map[float64]string{1: "1.0", 0.5: "0.5", 0: "0.0", 1e7: "1.0E7", 9999999: "9999999.0", 0.001: "0.001", 0.0001: "1.0E-4", 2147483647: "2.147483647E9", 123456789.5: "1.234567895E8"} {
		if got := javaDouble(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}

func TestSettingsOfTopicsWithoutEffectAreNamed(t *testing.T) {
	var got []string
	for _, w := range TopicWithoutEffect(map[string]string{"retention.ms": "1", "local.retention.ms": "1", "segment.bytes": "1048576", "cleanup.policy": "compact", "no.such.key": "1", "min.compaction.lag.ms": "1"}) {
		got = append(got, w.Key+" "+w.Text)
	}
	want := []string{
		"local.retention.ms has no effect: tiered storage is not part of this release",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if w := TopicWithoutEffect(map[string]string{"cleanup.policy": "delete"}); w != nil {
		t.Errorf("%v", w)
	}
}

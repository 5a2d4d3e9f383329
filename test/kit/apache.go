package kit

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed pom.xml
var pomXML []byte

//go:embed log4j2.yaml
var log4jYAML []byte

// ApacheVersion is the release that everything is compared with.
const ApacheVersion = "4.4.0"

// Apache is an installed Apache Kafka.
type Apache struct {
	home string
	// Heap is the maximum heap of a server, such as "512m".
	Heap string
	// JVM holds further flags for the server's virtual machine.
	JVM []string
}

// InstallApache fetches Apache Kafka's jars with Maven, once per user and list of jars.
func InstallApache() (*Apache, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	folder := fmt.Sprintf("apache-kafka-%s-%.4x", ApacheVersion, sha256.Sum256(pomXML))
	a := &Apache{home: filepath.Join(cache, "barnabas-test", folder), Heap: "512m"}
	mark := filepath.Join(a.home, "complete")
	if _, err := os.Stat(mark); err == nil {
		return a, a.writeLogConfig()
	}
	if err := os.MkdirAll(a.home, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(a.home, "pom.xml"), pomXML, 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs")
	cmd.Dir = a.home
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("fetch Apache Kafka %s with mvn: %w\n%s", ApacheVersion, err, out)
	}
	if err := a.writeLogConfig(); err != nil {
		return nil, err
	}
	return a, os.WriteFile(mark, nil, 0o644)
}

func (a *Apache) writeLogConfig() error {
	return os.WriteFile(filepath.Join(a.home, "log4j2.yaml"), log4jYAML, 0o644)
}

// ClassPath is what a Java program needs to use Kafka's clients and tools.
func (a *Apache) ClassPath() string { return filepath.Join(a.home, "libs", "*") }

// java is the command line of a virtual machine that runs args.
func (a *Apache) java(heap, level string, flags []string, args ...string) *exec.Cmd {
	line := append([]string{"-Xmx" + heap, "-Dkit.log=" + level,
		"-Dlog4j2.configurationFile=" + filepath.Join(a.home, "log4j2.yaml")}, flags...)
	line = append(line, "-cp", a.ClassPath())
	return exec.Command("java", append(line, args...)...)
}

// fastStart makes short-lived programs start sooner.
var fastStart = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}

// Tool runs one of Apache's command-line tools by the name of its script
// without prefix and ending, such as "topics" or "dump-log".
func (a *Apache) Tool(name string, args ...string) (Output, error) {
	return a.ToolWithInput("", name, args...)
}

// ToolWithInput is Tool with text on standard input.
func (a *Apache) ToolWithInput(input, name string, args ...string) (Output, error) {
	class, ok := toolClasses[name]
	if !ok {
		return Output{}, fmt.Errorf("Apache Kafka has no tool %q in this kit", name)
	}
	cmd := a.java("512m", "WARN", fastStart, append([]string{class}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	return Run(cmd)
}

// JavaFile runs a single-file Java program with Kafka on the class path.
func (a *Apache) JavaFile(file string, args ...string) (Output, error) {
	return Run(a.java("1g", "WARN", nil, append([]string{file}, args...)...))
}

// Program is the command line of a Java program that is not run yet: a class on the
// class path or a single source file, with its arguments. The heap is such as "256m".
func (a *Apache) Program(heap string, args ...string) *exec.Cmd {
	return a.java(heap, "WARN", fastStart, args...)
}

var toolClasses = map[string]string{
	"topics":              "org.apache.kafka.tools.TopicCommand",
	"client-metrics":      "org.apache.kafka.tools.ClientMetricsCommand",
	"configs":             "org.apache.kafka.tools.ConfigCommand",
	"console-producer":    "org.apache.kafka.tools.ConsoleProducer",
	"console-consumer":    "org.apache.kafka.tools.consumer.ConsoleConsumer",
	"get-offsets":         "org.apache.kafka.tools.GetOffsetShell",
	"dump-log":            "org.apache.kafka.tools.DumpLogSegments",
	"storage":             "kafka.tools.StorageTool",
	"cluster":             "org.apache.kafka.tools.ClusterTool",
	"producer-perf-test":  "org.apache.kafka.tools.ProducerPerformance",
	"consumer-perf-test":  "org.apache.kafka.tools.ConsumerPerformance",
	"broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
	"features":            "org.apache.kafka.tools.FeatureCommand",
	"metadata-quorum":     "org.apache.kafka.tools.MetadataQuorumCommand",
}

func (a *Apache) flavor() flavor { return a }

func (a *Apache) format(n *Node, clusterID string) error {
	out, err := Run(a.java("256m", "WARN", fastStart, toolClasses["storage"],
		"format", "-t", clusterID, "-c", n.Properties(), "--standalone"))
	if err == nil && out.Exit != 0 {
		err = fmt.Errorf("Apache's storage format: exit %d: %s%s", out.Exit, out.Stdout, out.Stderr)
	}
	return err
}

func (a *Apache) start(n *Node) (*Process, error) {
	cmd := a.java(a.Heap, "INFO", append([]string{"-Xms" + a.Heap}, a.JVM...), "kafka.Kafka", n.Properties())
	return startProcess(n.LogFile(), "java", nil, cmd.Args[1:]...)
}

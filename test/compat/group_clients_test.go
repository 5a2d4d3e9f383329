package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"barnabas/test/kit"
)

// What a scenario needs of a client.
const (
	needStatic      = "static members"
	needCooperative = "cooperative rebalances"
	needPause       = "pause"
	needSeek        = "seek"
	needAsync       = "asynchronous commits"
	needNoReset     = "no reset policy"
	needLatest      = "latest"
)

// groupClient is a client library as a member of groups.
type groupClient struct {
	name    string
	command []string
	// cannot says, of what scenarios need, what the library does not have, and why.
	cannot map[string]string
	modern bool // it uses the consumer protocol
	idle   *idleMembers
}

// groupClients lists the libraries.
func groupClients(t *testing.T, apache *kit.Apache, python string) []groupClient {
	member := memberProgram(t)
	java := []string{"java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dlog4j2.level=OFF", "-cp", javaMember(t, apache) + ":" + apache.ClassPath(), "Member"}
	modern := func(name string, command []string) groupClient {
		return groupClient{name: name + "-consumer", command: append(slices.Clone(command), "consumer"), modern: true, cannot: map[string]string{
			needStatic: "an instance that crashed has its id until its session ends",
		}}
	}
	clients := []groupClient{
		{name: "java", command: java},
		modern("java", java),
		modern("franz-go", []string{member, "franz-go"}),
		{name: "librdkafka", command: []string{python, "python/member_confluent.py"}},
		{name: "franz-go", command: []string{member, "franz-go"}},
		{name: "sarama", command: []string{member, "sarama"}, cannot: map[string]string{
			needCooperative: "it has only eager strategies",
			needSeek:        "a session can only be set back before it is marked",
			needAsync:       "Commit answers nothing",
			needNoReset:     "Consumer.Offsets.Initial is oldest or newest",
		}},
		{name: "kafka-go", command: []string{member, "kafka-go"}, cannot: map[string]string{
			needStatic:      "it has no group.instance.id",
			needCooperative: "it has only eager balancers",
			needPause:       "reading is the program's affair",
			needSeek:        "reading is the program's affair",
			needAsync:       "CommitOffsets waits",
			needNoReset:     "StartOffset is the first or the last",
		}},
		{name: "kafkajs", command: []string{"node", "node/member.js"}, cannot: map[string]string{
			needStatic:      "it has no group.instance.id",
			needCooperative: "it has only eager assigners",
			needNoReset:     "fromBeginning is true or false",
		}},
		{name: "kafka-python", command: []string{python, "python/member_kafka_python.py"}},
	}
	for i := range clients {
		clients[i].idle = &idleMembers{}
	}
	return clients
}

// javaMember compiles the member in Java and returns its folder.
func javaMember(t *testing.T, apache *kit.Apache) string {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("java/Member.java")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("javac", "-nowarn", "-cp", apache.ClassPath(), "-d", dir, source)
	cmd.Env = append(os.Environ(), "JAVA_TOOL_OPTIONS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compile the member: %v\n%s", err, out)
	}
	return dir
}

package run

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"barnabas/internal/config"
)

var rewrite = flag.Bool("rewrite", false, "write the golden file")

func TestStartLine(t *testing.T) {
	client := greetedListener{Listener: config.Listener{Name: "PLAINTEXT"}, at: netip.MustParseAddrPort("[::]:9092")}
	told := client
	told.Name, told.at, told.told = "OUTSIDE", netip.MustParseAddrPort("10.0.0.7:9192"), "kafka.example.org:19092"
	controllers := greetedListener{Listener: config.Listener{Name: "CONTROLLER", Controller: true}, at: netip.MustParseAddrPort("127.0.0.1:9093")}
	cases := []struct {
		name string
		greeting
	}{
		{"without a file", greeting{took: 42 * time.Millisecond, node: 1, cluster: "JTJxSedMQCiwvj0FvG2abg",
			listeners: []greetedListener{client, controllers}, admin: netip.MustParseAddrPort("127.0.0.1:9095"), dirs: []string{"/home/me/.local/share/barnabas"}}},
		{"two listeners, no admin, recovering", greeting{took: 3 * time.Second, node: 7, cluster: "JTJxSedMQCiwvj0FvG2abg",
			listeners: []greetedListener{controllers, told, client}, dirs: []string{"/d1", "/d2"}, logs: 100, logsOpen: 3}},
		{"a controller alone", greeting{node: 2, cluster: "x", listeners: []greetedListener{controllers}, dirs: []string{"/d"}, logs: 5, logsOpen: 5}},
	}
	var got strings.Builder
	for _, c := range cases {
		got.WriteString("# " + c.name + "\n" + c.String() + "\n")
	}
	const golden = "testdata/start_line.txt"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

func TestCommandLine(t *testing.T) {
	a, err := parse([]string{"--override", "a=b", "f.properties", "--override=c=d", "--memory=1G", "--auto-format"})
	if err != nil || a.file != "f.properties" || strings.Join(a.overrides, " ") != "a=b c=d" || a.memory != "1G" || !a.autoFormat {
		t.Errorf("%+v, %v", a, err)
	}
	for _, args := range [][]string{{"--override"}, {"--memory"}, {"--nothing"}, {"one", "two"}, {"-daemon", "x"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

func TestWhatCannotStartSaysWhy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "server.properties")
	text := "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.bootstrap.servers=127.0.0.1:1\ncontroller.listener.names=CONTROLLER\n" +
		"listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0\nlog.dirs=" + filepath.Join(dir, "data") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nofile.properties"}, "nofile.properties"},
		{[]string{file}, "is not formatted"},
		{[]string{file, "--memory", "12"}, "--memory 12: must be 64M at least"},
		{[]string{file, "--memory", "lots"}, "--memory lots: must be a number of bytes"},
		{[]string{file, "--override", "node.id=one"}, "node.id"},
		{[]string{file, "--auto-format", "--override", "barnabas.admin.listener=" + taken.Addr().String()}, "barnabas.admin.listener: listen tcp " + taken.Addr().String()},
		{[]string{file, "--auto-format", "--override", "barnabas.admin.listener=none", "--override", "listeners=PLAINTEXT://" + taken.Addr().String() + ",CONTROLLER://127.0.0.1:0"}, "listener PLAINTEXT: listen tcp"},
	} {
		var stdout, stderr bytes.Buffer
		if code := Server(t.Context(), c.args, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), c.want) || stdout.Len() > 0 {
			t.Errorf("%q: code %d, want %q in\n%s%s", c.args, code, c.want, &stderr, &stdout)
		}
	}
}

// TestServerRunsUntilItIsToldToStop: the start line names real addresses, and the
// end of the context is a clean stop.
func TestServerRunsUntilItIsToldToStop(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--auto-format", "--override", "log.dirs=" + dir, "--override", "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
		"--override", "barnabas.admin.listener=127.0.0.1:0"}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- Server(ctx, args, write, &stderr)
		write.Close()
	}()
	text := make([]byte, 4096)
	n, err := read.Read(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	go io.Copy(io.Discard, read)
	said := string(text[:n])
	for _, want := range []string{"Barnabas is ready after ", "  clients      127.0.0.1:", "  operators    http://127.0.0.1:", "  data         " + dir} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	_, rest, _ := strings.Cut(said, "--bootstrap-server ")
	address, _, _ := strings.Cut(rest, " ")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
	} else if err := conn.Close(); err != nil {
		t.Error(err)
	}
	stop()
	select {
	case c := <-code:
		if c != 0 {
			t.Errorf("exit code %d\n%s", c, &stderr)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("still running")
	}
	if strings.Contains(stderr.String(), "level=ERROR") || strings.Contains(stderr.String(), "level=WARN") {
		t.Errorf("complaints:\n%s", &stderr)
	}
}

func TestLogLevelOfTheEnvironment(t *testing.T) {
	var b bytes.Buffer
	log, level, err := newLog(&b, []string{"A=b", "BARNABAS_LOG_LEVEL=warn"})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("one")
	log.Warn("two")
	level.Set(-4)
	log.Debug("three")
	if got := b.String(); strings.Contains(got, "one") || !strings.Contains(got, "msg=two") || !strings.Contains(got, "msg=three") {
		t.Error(got)
	}
	if _, _, err := newLog(&b, []string{"BARNABAS_LOG_LEVEL=loud"}); err == nil || !strings.Contains(err.Error(), "BARNABAS_LOG_LEVEL") {
		t.Errorf("error %v", err)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1234": 1234, "512M": 512 << 20, "512MiB": 512 << 20, "2g": 2 << 30, "1T": 1 << 40, "3kb": 3 << 10, "7B": 7} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "M", "-1", "1.5G", "1X", "1MM", "1I", "1iB", "99999999T", "9223372036854775808"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: %d, no error", text, got)
		}
	}
}

func TestSmallHeapsMayGrowMore(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 400, 32 << 20: 200, 64 << 20: 100, 1 << 30: 100} {
		if got := percentFor(live); got != want {
			t.Errorf("%d MiB alive: %d %%, want %d", live>>20, got, want)
		}
	}
}

func TestMemoryIsGivenBackOnceWhenQuiet(t *testing.T) {
	const mb = 1 << 20
	q := quiet{}
	for i, step := range []struct {
		memory
		want bool
	}{
		{memory{allocated: 100 * mb, live: 3 * mb, objects: 50 * mb, free: 20 * mb}, false}, // busy
		{memory{allocated: 101 * mb, live: 3 * mb, objects: 51 * mb, free: 20 * mb}, true},  // quiet now
		{memory{allocated: 102 * mb, live: 3 * mb, objects: 52 * mb, free: 20 * mb}, false}, // still: once is enough
		{memory{allocated: 200 * mb, live: 3 * mb, objects: 52 * mb, free: 20 * mb}, false}, // busy
		{memory{allocated: 201 * mb, live: 3 * mb, objects: 4 * mb, free: 5 * mb}, false},   // quiet, but there is nothing to give
		{memory{allocated: 202 * mb, live: 3 * mb, objects: 8 * mb, free: 5 * mb}, true},    // now there is
	} {
		if got := q.giveBack(step.memory); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}

func TestKeeperFollowsTheHeap(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	percent := func() int {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return int(s[0].Value.Uint64())
	}
	k := keepMemory(nil)
	if p := percent(); p != maxPercent {
		t.Errorf("at first %d %%", p)
	}
	large := make([]byte, 200<<20)
	deadline := time.Now().Add(30 * time.Second)
	for percent() != minPercent && time.Now().Before(deadline) {
		debug.FreeOSMemory()
	}
	if p := percent(); p != minPercent {
		t.Errorf("with %d MiB alive %d %%", len(large)>>20, p)
	}
	runtime.KeepAlive(large)
	k.close()
	k = keepMemory([]string{"GOGC=50"})
	defer k.close()
	if p := percent(); p != minPercent {
		t.Errorf("with GOGC in the environment %d %%", p)
	}
}

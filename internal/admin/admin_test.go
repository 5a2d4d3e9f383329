package admin

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fixture is a running server with what it tells.
type fixture struct {
	t         *testing.T
	server    *Server
	mu        sync.Mutex
	failure   error
	readiness Readiness
	level     slog.LevelVar
	log       strings.Builder
}

func start(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t}
	var err error
	f.server, err = Listen(Options{
		TopicsWhy: func(topic string) (any, error) { return map[string]string{"topic": topic}, nil },
		GroupsWhy: func(group string) (any, error) {
			return nil, map[string]error{"b": Absent("no b"), "c": errors.New("busy")}[group]
		},
		Address: "127.0.0.1:0",
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "numbers\n") }),
		Failure: func() error { f.mu.Lock(); defer f.mu.Unlock(); return f.failure },
		Ready:   func() Readiness { f.mu.Lock(); defer f.mu.Unlock(); return f.readiness },
		Level:   &f.level,
		Log:     slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	f.server.Start()
	t.Cleanup(func() {
		if err := f.server.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) set(failure error, r Readiness) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failure, f.readiness = failure, r
}

func (f *fixture) ask(method, path, body string) (int, string) {
	f.t.Helper()
	req, err := http.NewRequest(method, "http://"+f.server.Addr().String()+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (f *fixture) want(method, path, body string, status int, text string) {
	f.t.Helper()
	if s, got := f.ask(method, path, body); s != status || got != text {
		f.t.Errorf("%s %s: %d %q, want %d %q", method, path, s, got, status, text)
	}
}

func TestPages(t *testing.T) {
	f := start(t)
	f.want("GET", "/", "", 200, index)
	f.want("GET", "/metrics", "", 200, "numbers\n")
	f.want("GET", "/livez", "", 200, "ok\n")
	f.want("GET", "/topics/why?topic=a", "", 200, `{"topic":"a"}`+"\n")
	f.want("GET", "/topics/why", "", 400, "which topic? /topics/why?topic=NAME\n")
	f.want("GET", "/groups/why?group=b", "", 404, "no b\n")
	f.want("GET", "/groups/why?group=c", "", 503, "busy\n")
	f.want("GET", "/groups/why", "", 400, "which group? /groups/why?group=NAME\n")
	f.want("GET", "/nothing", "", 404, "404 page not found\n")
	f.want("GET", "/readyz", "", 503, `{"ready":false,"state":"","recovery":{"logs":{"done":0,"total":0},"segments":{"done":0,"total":0},"bytes":{"done":0,"total":0}},"groups":{"partitions":{"done":0,"total":0},"loading":{"done":0,"total":0}}}`+"\n")
	f.set(nil, Readiness{Ready: true, State: "serving", Recovery: Recovery{Logs: Progress{2, 3}, Bytes: Progress{5, 10}}, OfflineDirectories: []string{"/d"}})
	f.want("GET", "/readyz", "", 200, `{"ready":true,"state":"serving","recovery":{"logs":{"done":2,"total":3},"segments":{"done":0,"total":0},"bytes":{"done":5,"total":10}},"groups":{"partitions":{"done":0,"total":0},"loading":{"done":0,"total":0}},"offlineDirectories":["/d"]}`+"\n")
	f.set(errors.New("the disk is gone"), Readiness{})
	f.want("GET", "/livez", "", 500, "the disk is gone\n")
}

func TestProfiles(t *testing.T) {
	f := start(t)
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap?gc=1", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline"} {
		if status, text := f.ask("GET", path, ""); status != 200 || text == "" {
			t.Errorf("%s: %d, %d bytes", path, status, len(text))
		}
	}
}

// TestNamesOfOthersAreRefused: a page whose name leads to loopback reads nothing.
func TestNamesOfOthersAreRefused(t *testing.T) {
	f := start(t)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	for host, want := range map[string]int{
		"evil.example": 403, "evil.example:9095": 403, "localhost.evil.example": 403,
		"localhost": 200, "LOCALHOST:9095": 200, "127.0.0.1": 200, "[::1]:9095": 200, "[::1]": 200,
	} {
		req, err := http.NewRequest("GET", "http://"+f.server.Addr().String()+"/debug/pprof/cmdline", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("host %s: %d, want %d", host, resp.StatusCode, want)
		}
	}
}

func TestLogLevelChanges(t *testing.T) {
	f := start(t)
	f.want("GET", "/loglevel", "", 200, "info\n")
	f.want("PUT", "/loglevel", "debug\n", 200, "debug\n")
	if f.level.Level() != slog.LevelDebug {
		t.Errorf("level %v", f.level.Level())
	}
	f.want("PUT", "/loglevel", "loud", 400, `slog: level string "loud": unknown name; it is debug, info, warn or error`+"\n")
	f.want("PUT", "/loglevel", "ERROR", 200, "error\n")
	f.want("GET", "/loglevel", "", 200, "error\n")
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(f.log.String(), "log level changed"); n != 2 {
		t.Errorf("%d lines about it: %s", n, &f.log)
	}
}

// A profile that is being taken does not hold up the end, and nothing is left.
func TestCloseEndsEverything(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	f := start(t)
	conn, err := net.Dial("tcp", f.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /debug/pprof/goroutine?seconds=100 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	// Another one answers, so the server runs.
	f.want("GET", "/livez", "", 200, "ok\n")
	begun := time.Now()
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("closing took %v", took)
	}
	if _, err := http.Get("http://" + f.server.Addr().String() + "/livez"); err == nil {
		t.Error("it still answers")
	}
}

func TestAPortThatIsTakenIsAnError(t *testing.T) {
	f := start(t)
	if s, err := Listen(Options{Address: f.server.Addr().String(), Log: slog.New(slog.DiscardHandler)}); err == nil {
		s.Close()
		t.Error("no error")
	}
}

func TestAServerThatWasNeverStartedCloses(t *testing.T) {
	s, err := Listen(Options{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Metrics: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

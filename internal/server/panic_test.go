package server

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// runPanicking, in the environment, has the test binary be a server whose handler
// panics.
const runPanicking = "BARNABAS_TEST_PANICKING_SERVER"

// TestPanicOfAHandlerEndsTheProcess: the process ends with Go's exit code for a
// panic, and the log has a line that names the request and where it went wrong.
func TestPanicOfAHandlerEndsTheProcess(t *testing.T) {
	if os.Getenv(runPanicking) != "" {
		s := start(t, func(_ *Conn, run []*Request) { brokenHandler(run[0]) }, func(o *Options) {
			o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
		})
		c := s.dial(t)
		c.send(frame(1, metadata()))
		c.receive()
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPanicOfAHandlerEndsTheProcess$")
	cmd.Env = append(os.Environ(), runPanicking+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("the process ended with %v", err)
	}
	line, _, _ := strings.Cut(stderr.String(), "\n")
	for _, want := range []string{"level=ERROR", `msg="BUG: a request broke an invariant; the process ends now"`, "panic=\"index of nothing\"", "listener=TEST", "request=Metadata", "brokenHandler"} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in the line %q", want, line)
		}
	}
	if !strings.Contains(stderr.String(), "\ngoroutine ") {
		t.Errorf("Go's own account is missing:\n%s", &stderr)
	}
}

//go:noinline
func brokenHandler(*Request) { panic("index of nothing") }

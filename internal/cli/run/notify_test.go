package run

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// TestServiceManagerIsTold: ready when clients are let in, stopping at the end.
func TestServiceManagerIsTold(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", path)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	code := make(chan int, 1)
	var stdout, stderr bytes.Buffer
	go func() {
		code <- Server(ctx, []string{"--auto-format", "--override", "log.dirs=" + filepath.Join(dir, "data"), "--override",
			"listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0", "--override", "barnabas.admin.listener=none"}, &stdout, &stderr)
	}()
	for _, want := range []string{"READY=1", "STOPPING=1"} {
		b := make([]byte, 100)
		n, err := socket.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(b[:n]); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		stop()
	}
	if c := <-code; c != 0 {
		t.Errorf("exit code %d\n%s", c, &stderr)
	}
	if err := notify(nil, notifyReady); err != nil {
		t.Error(err)
	}
	if err := notify([]string{"NOTIFY_SOCKET=" + path + "x"}, notifyReady); err == nil {
		t.Error("no error where nobody listens")
	}
}

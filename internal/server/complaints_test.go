package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestClientsCannotFloodTheLog(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	c := complaints{log: slog.New(slog.NewTextHandler(&out, nil)), now: func() time.Time { return now }}
	for range 1000 {
		c.say("bad", "reason", "x")
	}
	if n := strings.Count(out.String(), "msg=bad"); n != complaintsPerSecond {
		t.Errorf("%d lines, want %d", n, complaintsPerSecond)
	}
	now = now.Add(time.Second)
	out.Reset()
	c.say("bad")
	c.say("bad")
	lines := strings.Split(out.String(), "\n")
	if !strings.HasSuffix(lines[0], "msg=bad suppressed=990") || !strings.HasSuffix(lines[1], "msg=bad") {
		t.Errorf("then %q", lines)
	}
}

package loglevel

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestPartsHaveTheirOwnLevels(t *testing.T) {
	var out bytes.Buffer
	root := new(slog.LevelVar)
	l := New(root)
	log := slog.New(l.Handler(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: root})))
	server, ids := log.With("part", "server").With("a", 1), log.With("part", "producer ids")
	written := func() string {
		defer out.Reset()
		var words []string
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			if _, text, ok := strings.Cut(line, "msg="); ok {
				words = append(words, strings.Fields(text)[0])
			}
		}
		return strings.Join(words, " ")
	}
	all := func() {
		log.Debug("node")
		server.Debug("server")
		ids.Info("ids")
	}
	if all(); written() != "ids" {
		t.Error("at INFO more or less than the line at INFO is written")
	}
	if got := slices.Sorted(maps.Keys(l.Levels())); strings.Join(got, " ") != "barnabas.node barnabas.producer-ids barnabas.server root" {
		t.Errorf("loggers %v", got)
	}
	if !l.Set("barnabas.server", slog.LevelDebug) || !l.Set("barnabas.producer-ids", Fatal) || l.Set("nosuch", Trace) || l.Reset("nosuch") {
		t.Error("loggers are not found by their names")
	}
	if all(); written() != "server" {
		t.Error("the levels of parts do not count")
	}
	l.Set(Root, Trace)
	if all(); written() != "node server" {
		t.Error("the root's level does not count, or counts for a part that has its own")
	}
	if got := l.Levels(); got[Root] != "TRACE" || got["barnabas.node"] != "TRACE" || got["barnabas.producer-ids"] != "FATAL" {
		t.Errorf("levels %v", got)
	}
	l.Reset("barnabas.producer-ids")
	if all(); written() != "node server ids" {
		t.Error("a logger that was reset does not follow the root")
	}
}

func TestNamesOfLevels(t *testing.T) {
	for _, name := range Names() {
		if level, ok := Parse(name); !ok || Name(level) != name {
			t.Errorf("%s is read as %v, %v", name, level, ok)
		}
	}
	if _, ok := Parse("info"); ok {
		t.Error("names of levels are in upper case")
	}
	if Name(slog.LevelInfo+1) != "INFO" || Name(Trace-9) != "TRACE" {
		t.Error("a level without a name has that of the next below")
	}
}

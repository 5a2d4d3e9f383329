package loglevel

import (
	"log/slog"
	"slices"
)

// Levels that slog has no names for.
const (
	Trace = slog.LevelDebug - 4
	Fatal = slog.LevelError + 4
)

var names = []struct {
	name  string
	level slog.Level
}{{"DEBUG", slog.LevelDebug}, {"ERROR", slog.LevelError}, {"FATAL", Fatal}, {"INFO", slog.LevelInfo}, {"TRACE", Trace}, {"WARN", slog.LevelWarn}}

// Names are the names of all levels, sorted.
func Names() []string {
	var out []string
	for _, n := range names {
		out = append(out, n.name)
	}
	return out
}

// Parse reads the name of a level.
func Parse(name string) (level slog.Level, ok bool) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return 0, false
	}
	return names[i].level, true
}

// Name is the name of a level, or of the next one below it.
func Name(level slog.Level) string {
	best := "TRACE"
	at := Trace
	for _, n := range names {
		if n.level <= level && n.level > at {
			best, at = n.name, n.level
		}
	}
	return best
}

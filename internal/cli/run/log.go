package run

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// levelVariable is the environment variable with the level of the log at the
// start: debug, info, warn or error. On a running node the admin listener changes
// it.
const levelVariable = "BARNABAS_LOG_LEVEL"

// newLog makes the one log of the process: a line of key=value pairs per event.
func newLog(w io.Writer, environ []string) (*slog.Logger, *slog.LevelVar, error) {
	level := new(slog.LevelVar)
	log := slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	word := lookup(environ, levelVariable)
	if word == "" {
		return log, level, nil
	}
	if err := level.UnmarshalText([]byte(word)); err != nil {
		return nil, nil, fmt.Errorf("%s: %q must be debug, info, warn or error", levelVariable, word)
	}
	return log, level, nil
}

// lookup gives the value of an environment variable, or "".
func lookup(environ []string, name string) (value string) {
	for _, pair := range environ {
		if rest, ok := strings.CutPrefix(pair, name+"="); ok {
			value = rest
		}
	}
	return value
}

package client

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Properties are Kafka's, such as "bootstrap.servers" and "acks", with Kafka's defaults.
// One that is not known, or has no effect, is one line of the log.
type Properties = map[string]string

// Option is what has no property.
type Option func(*settings)

type settings struct {
	log    *slog.Logger
	engine []kgo.Opt
}

// Logger receives what is worth a line: properties without effect, and what the engine
// has to say. The default is slog.Default, at WARN and above.
func Logger(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// EngineOption hands options to the engine, franz-go. They win over properties. What
// the engine then does that this page doesn't promise is between the two of you.
func EngineOption(options ...kgo.Opt) Option {
	return func(s *settings) { s.engine = append(s.engine, options...) }
}

// translated are the engine's options for properties; ours come after them, and the
// caller's last.
func translated(kind Kind, properties Properties, options []Option) (settings, []kgo.Opt, error) {
	s := settings{log: slog.Default()}
	for _, option := range options {
		option(&s)
	}
	engine, warnings, err := Options(kind, properties)
	for _, w := range warnings {
		s.log.Warn(w)
	}
	if err != nil {
		return s, nil, err
	}
	if properties["bootstrap.servers"] == "" {
		return s, nil, fmt.Errorf("Missing required configuration %q which has no default value.", "bootstrap.servers")
	}
	return s, append(engine, kgo.WithLogger(engineLog{s.log})), nil
}

// engineLog is the engine's logger on ours. What the engine calls an error or a warning
// is a warning here: whether it is an error is known to whoever made the call.
type engineLog struct{ log *slog.Logger }

func (l engineLog) Level() kgo.LogLevel {
	ctx := context.Background()
	switch {
	case l.log.Enabled(ctx, slog.LevelDebug):
		return kgo.LogLevelDebug
	case l.log.Enabled(ctx, slog.LevelWarn):
		return kgo.LogLevelWarn
	}
	return kgo.LogLevelNone
}

func (l engineLog) Log(level kgo.LogLevel, text string, pairs ...any) {
	if level <= kgo.LogLevelWarn {
		l.log.Warn(text, pairs...)
		return
	}
	l.log.Debug(text, pairs...)
}

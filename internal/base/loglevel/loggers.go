package loglevel

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Root is the name of the level that loggers follow.
const Root = "root"

// Loggers are the loggers of a program. They may be used by many at once.
type Loggers struct {
	root *slog.LevelVar

	mu    sync.Mutex
	parts map[string]*part // guarded by mu
}

// part is one logger's level.
type part struct {
	own atomic.Pointer[slog.Level] // nil: the root's
}

// New returns loggers that follow root.
func New(root *slog.LevelVar) *Loggers { return &Loggers{root: root, parts: map[string]*part{}} }

// partKey is the attribute that names a logger.
const partKey = "part"

// Name is the name of the logger of a part.
func (l *Loggers) name(of string) string { return "barnabas." + strings.ReplaceAll(of, " ", "-") }

func (l *Loggers) part(of string) *part {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := l.name(of)
	if l.parts[name] == nil {
		l.parts[name] = &part{}
	}
	return l.parts[name]
}

// Levels are the loggers and the names of their levels.
func (l *Loggers) Levels() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]string{Root: Name(l.root.Level())}
	for name, p := range l.parts {
		out[name] = Name(l.levelOf(p))
	}
	return out
}

// Has says whether there is a logger of that name.
func (l *Loggers) Has(name string) bool {
	return slices.Contains(slices.Collect(maps.Keys(l.Levels())), name)
}

// Set gives a logger a level; it is false if there is no such logger.
func (l *Loggers) Set(name string, level slog.Level) bool {
	if name == Root {
		l.root.Set(level)
		return true
	}
	return l.change(name, &level)
}

// Reset lets a logger follow the root again; it is false if there is no such logger.
func (l *Loggers) Reset(name string) bool { return l.change(name, nil) }

func (l *Loggers) change(name string, level *slog.Level) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[name]
	if p != nil {
		p.own.Store(level)
	}
	return p != nil
}

func (l *Loggers) levelOf(p *part) slog.Level {
	if own := p.own.Load(); own != nil {
		return *own
	}
	return l.root.Level()
}

// Handler writes to h what the levels let through. The levels of h itself do not
// count. What has no part belongs to the part "node".
func (l *Loggers) Handler(h slog.Handler) slog.Handler { return &handler{h, l, l.part("node")} }

type handler struct {
	slog.Handler
	loggers *Loggers
	part    *part
}

// Enabled says whether the handler's part writes lines of a level.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.loggers.levelOf(h.part)
}

// WithAttrs returns the handler of the part that the attributes name.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	p := h.part
	for _, a := range attrs {
		if a.Key == partKey {
			p = h.loggers.part(a.Value.String())
		}
	}
	return &handler{h.Handler.WithAttrs(attrs), h.loggers, p}
}

// WithGroup returns a handler of the same part.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.loggers, h.part}
}

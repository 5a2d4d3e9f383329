// Package progress shows on a terminal that a tool takes long: one line on standard
// error that comes when nothing has been printed for a while, tells how far the tool
// is and for how long it has been running, and goes before anything else is printed.
//
//	line := progress.Start(os.Stderr, "topics")
//	stdout := line.Before(os.Stdout)
//	line.Set("300 of 2000 topics")
//	line.Close()
//
// A Line is one goroutine and one lock; Close waits for the goroutine. A nil Line
// shows nothing.
//
//	progress.go  Line
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Line is the line of one run of a tool.
type Line struct {
	name  string
	begin time.Time
	stop  chan struct{}
	ended chan struct{}

	mu     sync.Mutex
	out    io.Writer // guarded by mu
	detail string    // guarded by mu
	quiet  time.Time // guarded by mu; when something was printed last
	shown  bool      // guarded by mu
}

// patience is how long a tool may be quiet before the line comes.
const patience = 2 * time.Second

// erase clears the line on which the cursor stands.
const erase = "\r\x1b[K"

// IsTerminal says whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Start begins to watch a tool, if out is a terminal; otherwise the Line is nil.
func Start(out io.Writer, name string) *Line {
	if !IsTerminal(out) {
		return nil
	}
	ticker := time.NewTicker(time.Second)
	l := start(out, name, time.Now(), ticker.C)
	go func() { <-l.ended; ticker.Stop() }()
	return l
}

func start(out io.Writer, name string, now time.Time, ticks <-chan time.Time) *Line {
	l := &Line{name: name, begin: now, quiet: now, out: out, detail: "waiting", stop: make(chan struct{}), ended: make(chan struct{})}
	go l.run(ticks)
	return l
}

func (l *Line) run(ticks <-chan time.Time) {
	defer close(l.ended)
	for {
		select {
		case <-l.stop:
			return
		case now := <-ticks:
			l.show(now)
		}
	}
}

func (l *Line) show(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.quiet) < patience {
		return
	}
	// Nobody waits for this line: that it can't be written is no error of the tool.
	_, _ = fmt.Fprintf(l.out, "%s%s: %s, %d s", erase, l.name, l.detail, int(now.Sub(l.begin).Seconds()))
	l.shown = true
}

// Set says how far the tool is.
func (l *Line) Set(detail string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.detail = detail
}

// Before is a writer to w, before which the line goes if w is a terminal.
func (l *Line) Before(w io.Writer) io.Writer {
	if l == nil || !IsTerminal(w) {
		return w
	}
	return &writer{l, w}
}

// writer writes where the line is not.
type writer struct {
	line *Line
	w    io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	w.line.clearLocked()
	w.line.quiet = time.Now()
	return w.w.Write(p)
}

func (l *Line) clearLocked() {
	if l.shown {
		_, _ = io.WriteString(l.out, erase)
		l.shown = false
	}
}

// Close takes the line away.
func (l *Line) Close() {
	if l == nil {
		return
	}
	close(l.stop)
	<-l.ended
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearLocked()
}

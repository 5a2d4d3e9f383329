package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"strings"
)

// Readiness is what /readyz tells.
type Readiness struct {
	Ready bool `json:"ready"`
	// State is a word for people: starting, recovering, serving, stopping, failed.
	State string `json:"state"`
	// Recovery is how far the logs of the start are open.
	Recovery Recovery `json:"recovery"`
	// Groups is how far the coordinators of groups are.
	Groups Groups `json:"groups"`
	// OfflineDirectories are log directories that have failed. The node serves what
	// lies in the others.
	OfflineDirectories []string `json:"offlineDirectories,omitempty"`
}

// Recovery counts. Segments and bytes are of the logs that recovery has come to.
type Recovery struct {
	Logs     Progress `json:"logs"`
	Segments Progress `json:"segments"`
	Bytes    Progress `json:"bytes"`
}

// Groups counts partitions of __consumer_offsets that are led here, and offsets of
// those that are being loaded. A partition that is not loaded does not hold readiness
// back: its groups are told to try again.
type Groups struct {
	Partitions Progress `json:"partitions"`
	Loading    Progress `json:"loading"`
	Failed     int      `json:"failed,omitempty"`
}

// Progress is how much is done of how much.
type Progress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// index is what "/" answers.
const index = `/metrics        numbers for Prometheus
/livez          is the process worth keeping
/readyz         are clients served, is everything recovered
/groups/why     ?group=NAME: the last rebalances of a group, and where it stands
/loglevel       level of the log: GET says it, PUT sets it (debug, info, warn, error)
/topics/why     why old records of ?topic=NAME are still there
/debug/pprof/   profiles of the Go runtime
`

func (s *Server) pages() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { s.text(w, http.StatusOK, index) })
	m.Handle("GET /metrics", s.options.Metrics)
	m.HandleFunc("GET /livez", s.live)
	m.HandleFunc("GET /readyz", s.ready)
	m.HandleFunc("GET /groups/why", s.why("group", s.options.GroupsWhy))
	m.HandleFunc("GET /loglevel", s.level)
	m.HandleFunc("PUT /loglevel", s.setLevel)
	m.HandleFunc("GET /topics/why", s.why("topic", s.options.TopicsWhy))
	m.HandleFunc("GET /debug/pprof/", pprof.Index)
	m.HandleFunc("GET /debug/pprof/heap", heap)
	m.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	m.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	m.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	m.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	m.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return m
}

// heap is the profile of memory. With gc=1 what is free goes back to the system
// first, so that the process's size then is what it needs.
func heap(w http.ResponseWriter, r *http.Request) {
	if gc := r.FormValue("gc"); gc != "" && gc != "0" {
		debug.FreeOSMemory()
	}
	pprof.Handler("heap").ServeHTTP(w, r)
}

func (s *Server) live(w http.ResponseWriter, _ *http.Request) {
	if err := s.options.Failure(); err != nil {
		s.text(w, http.StatusInternalServerError, err.Error()+"\n")
		return
	}
	s.text(w, http.StatusOK, "ok\n")
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	r := s.options.Ready()
	status := http.StatusOK
	if !r.Ready {
		status = http.StatusServiceUnavailable
	}
	s.json(w, status, r)
}

// why serves a page about something with a name, which the parameter what gives.
func (s *Server) why(what string, ask func(name string) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue(what)
		if name == "" {
			s.text(w, http.StatusBadRequest, fmt.Sprintf("which %s? %s?%s=NAME\n", what, r.URL.Path, what))
			return
		}
		answer, err := ask(name)
		var absent Absent
		switch {
		case errors.As(err, &absent):
			s.text(w, http.StatusNotFound, err.Error()+"\n")
			return
		case err != nil:
			s.text(w, http.StatusServiceUnavailable, err.Error()+"\n")
			return
		}
		s.json(w, http.StatusOK, answer)
	}
}

func (s *Server) level(w http.ResponseWriter, _ *http.Request) {
	s.text(w, http.StatusOK, strings.ToLower(s.options.Level.Level().String())+"\n")
}

// setLevel sets the level to the word in the body.
func (s *Server) setLevel(w http.ResponseWriter, r *http.Request) {
	const longest = 16
	body, err := io.ReadAll(io.LimitReader(r.Body, longest))
	if err != nil {
		s.text(w, http.StatusBadRequest, err.Error()+"\n")
		return
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.TrimSpace(string(body)))); err != nil {
		s.text(w, http.StatusBadRequest, fmt.Sprintf("%v; it is debug, info, warn or error\n", err))
		return
	}
	before := s.options.Level.Level()
	s.options.Level.Set(level)
	s.options.Log.Log(r.Context(), max(before, level, slog.LevelInfo), "log level changed", "from", before, "to", level, "client", r.RemoteAddr)
	s.level(w, r)
}

func (s *Server) text(w http.ResponseWriter, status int, text string) {
	s.write(w, "text/plain; charset=utf-8", status, text)
}

func (s *Server) json(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		s.text(w, http.StatusInternalServerError, err.Error()+"\n")
		return
	}
	s.write(w, "application/json", status, string(body)+"\n")
}

func (s *Server) write(w http.ResponseWriter, contentType string, status int, text string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := io.WriteString(w, text); err != nil {
		s.options.Log.Debug("an answer of the admin listener was not taken", "error", err)
	}
}

package metrics

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"barnabas/internal/kafka"
)

// scrape reads the page that the sources make.
func scrape(t *testing.T, sources ...Source) string {
	t.Helper()
	r, err := NewRegistry(sources...)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func wantLines(t *testing.T, page string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains("\n"+page, "\n"+l+"\n") {
			t.Errorf("no line %q", l)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

func TestBucketsHoldWhatTheirBoundsSay(t *testing.T) {
	check := func(d time.Duration) {
		t.Helper()
		var h Durations
		h.Observe(d)
		var sum totals
		sum.add(&h)
		_, _, below := sum.cumulative()
		for _, b := range bounds {
			if in := below[b.Seconds()] == 1; in != (d <= b) {
				t.Errorf("%v is in the bucket of %v: %v", d, b, in)
			}
		}
	}
	check(0)
	check(-time.Second)
	for i, b := range bounds {
		if i > 0 && b < 2*bounds[i-1] {
			t.Errorf("bound %v is less than twice the one before", b)
		}
		check(b - 1)
		check(b)
		check(b + 1)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		check(time.Duration(rng.Uint64() >> (1 + rng.IntN(63))))
	}
}

func TestGaugesCountersAndHistogramsHaveTheirLines(t *testing.T) {
	var flushes Durations
	flushes.Observe(3 * time.Millisecond)
	flushes.Observe(time.Minute)
	page := scrape(t, func(s *Scrape) {
		s.Set(LeaderCount, 7)
		s.Set(ConnectionsAccepted, 3, "PLAINTEXT")
	}, func(s *Scrape) { s.Histogram(FlushTime, &flushes) })
	wantLines(t, page,
		"# TYPE kafka_server_replicamanager_leadercount gauge",
		"kafka_server_replicamanager_leadercount 7",
		"# TYPE kafka_server_socket_server_metrics_connection_creation_total counter",
		`kafka_server_socket_server_metrics_connection_creation_total{listener="PLAINTEXT"} 3`,
		"# TYPE kafka_log_logflushstats_logflush_seconds histogram",
		`kafka_log_logflushstats_logflush_seconds_bucket{le="0.0025"} 0`,
		`kafka_log_logflushstats_logflush_seconds_bucket{le="0.005"} 1`,
		`kafka_log_logflushstats_logflush_seconds_bucket{le="30"} 1`,
		`kafka_log_logflushstats_logflush_seconds_bucket{le="+Inf"} 2`,
		"kafka_log_logflushstats_logflush_seconds_sum 60.003",
		"kafka_log_logflushstats_logflush_seconds_count 2",
	)
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes"} {
		if !strings.Contains(page, "\n"+name+" ") {
			t.Errorf("no %s", name)
		}
	}
}

func TestRequestsOfAllConnectionsAreSummed(t *testing.T) {
	const each, connections = 1000, 50
	requests := NewRequests(4)
	var all sync.WaitGroup
	for id := range uint64(connections) {
		all.Go(func() {
			for range each {
				requests.Observe(id, 1, 20*time.Microsecond, 2*time.Millisecond, 30*time.Microsecond)
			}
		})
	}
	all.Wait()
	page := scrape(t, func(s *Scrape) {
		requests.Collect(s, func(key int16) string { return []string{"Produce", "Fetch", "", ""}[key] })
	})
	wantLines(t, page,
		`kafka_network_requestmetrics_totaltime_seconds_count{request="Fetch"} 50000`,
		`kafka_network_requestmetrics_requestqueuetime_seconds_bucket{request="Fetch",le="2.5e-05"} 50000`,
		`kafka_network_requestmetrics_servetime_seconds_bucket{request="Fetch",le="0.001"} 0`,
		`kafka_network_requestmetrics_servetime_seconds_bucket{request="Fetch",le="0.0025"} 50000`,
		`kafka_network_requestmetrics_responsesendtime_seconds_sum{request="Fetch"} 1.5`,
	)
	if strings.Contains(page, `request="Produce"`) {
		t.Error("a request that never came is listed")
	}
}

func TestErrorsAreCountedByRequestAndCode(t *testing.T) {
	errs := NewErrors(2)
	errs.Add(0, kafka.ErrNone, 5)
	errs.Add(1, kafka.ErrNotLeaderOrFollower, 2)
	errs.Add(1, kafka.ErrNotLeaderOrFollower, 1)
	errs.Add(1, kafka.ErrUnknownServerError, 1)
	errs.Add(1, kafka.ErrorCode(9999), 1)
	page := scrape(t, func(s *Scrape) { errs.Collect(s, func(key int16) string { return []string{"Produce", "Fetch"}[key] }) })
	wantLines(t, page,
		`kafka_network_requestmetrics_errors_total{error="NOT_LEADER_OR_FOLLOWER",request="Fetch"} 3`,
		`kafka_network_requestmetrics_errors_total{error="UNKNOWN_SERVER_ERROR",request="Fetch"} 2`,
	)
	if strings.Contains(page, `request="Produce"`) {
		t.Error("NONE is counted")
	}
}

func TestObservingAllocatesNothing(t *testing.T) {
	requests, errs := NewRequests(4), NewErrors(4)
	requests.Observe(1, 2, 0, 0, 0)
	errs.Add(2, kafka.ErrNotController, 1)
	if n := testing.AllocsPerRun(100, func() {
		requests.Observe(1, 2, time.Microsecond, time.Millisecond, time.Second)
		errs.Add(2, kafka.ErrNotController, 1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	requests := NewRequests(4)
	var ids sync.Mutex
	next := uint64(0)
	b.RunParallel(func(pb *testing.PB) {
		ids.Lock()
		next++
		id := next
		ids.Unlock()
		for pb.Next() {
			requests.Observe(id, 0, time.Microsecond, 100*time.Microsecond, 20*time.Microsecond)
		}
	})
}

package metrics

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Source tells its owner's numbers to a scrape.
type Source func(*Scrape)

// Registry is all metrics of a node, and of the process that it runs in.
type Registry struct{ prometheus *prometheus.Registry }

// NewRegistry makes a registry of its own: nothing that a library registers
// somewhere gets in.
func NewRegistry(sources ...Source) (*Registry, error) {
	r := &Registry{prometheus.NewRegistry()}
	return r, errors.Join(
		r.prometheus.Register(&collector{descriptions: descriptions(), sources: sources}),
		r.prometheus.Register(collectors.NewGoCollector()),
		r.prometheus.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
	)
}

// Limits of scrapes, so that they never get in the way of the node.
const (
	scrapesAtOnce = 2
	scrapeTimeout = 10 * time.Second
)

// Handler answers with the page. What goes wrong in making it is logged.
func (r *Registry) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(r.prometheus, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: scrapesAtOnce,
		Timeout:             scrapeTimeout,
	})
}

// collector calls the sources for each scrape.
type collector struct {
	descriptions [len(table)]*prometheus.Desc
	sources      []Source
	scraping     sync.Mutex // held by the scrape that reads the sources (invariant 2)
}

func descriptions() (out [len(table)]*prometheus.Desc) {
	for i := range table {
		m := &table[i]
		out[i] = prometheus.NewDesc(m.Name, m.Help, m.labels(), nil)
	}
	return out
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	c.scraping.Lock()
	defer c.scraping.Unlock()
	s := &Scrape{out: out, descriptions: &c.descriptions}
	for _, tell := range c.sources {
		tell(s)
	}
}

// Scrape is one reading of all metrics.
type Scrape struct {
	out          chan<- prometheus.Metric
	descriptions *[len(table)]*prometheus.Desc
}

// Set tells the value of a gauge or counter; the labels are in the order of the
// table.
func (s *Scrape) Set(id ID, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if table[id].Kind == Counter {
		kind = prometheus.CounterValue
	}
	s.tell(prometheus.NewConstMetric(s.descriptions[id], kind, value, labels...))
}

// Histogram tells a histogram.
func (s *Scrape) Histogram(id ID, d *Durations, labels ...string) {
	var t totals
	t.add(d)
	s.histogram(id, &t, labels...)
}

func (s *Scrape) histogram(id ID, t *totals, labels ...string) {
	count, sum, below := t.cumulative()
	s.tell(prometheus.NewConstHistogram(s.descriptions[id], count, sum, below, labels...))
}

// tell sends a metric. An error is a number of labels that is not the table's.
func (s *Scrape) tell(m prometheus.Metric, err error) {
	if err != nil {
		panic(fmt.Sprintf("BUG: metrics: %v", err))
	}
	s.out <- m
}

// labels are the names of the labels.
func (m *Metric) labels() []string { return strings.Fields(m.Labels) }

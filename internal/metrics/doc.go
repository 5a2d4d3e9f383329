// Package metrics has the names of all metrics, and the way from numbers to a
// page that Prometheus reads.
//
//	r, err := metrics.NewRegistry(source, ...)
//	http.Handle("/metrics", r.Handler())
//
// Numbers are read when the page is asked for: a Source is a function that looks
// at its owner's counters and says what they are. So nothing here stands on the
// way of a request but two counters that are written per request, Requests (how
// long requests take) and Errors (what they are refused with); both are atomics
// and allocate only the first time that they meet a kind of request.
//
// It knows no server, replica or controller. Who assembles a node gives it sources
// (package node). Each metric stands in a table with its meaning and the MBean of
// Apache Kafka that it answers to; docs/design/metrics.md shows the table, held
// equal by a test.
//
// Names are those that the JMX exporter of Prometheus makes of Kafka's MBeans with
// its example configuration for Kafka, so that dashboards find them. Times are
// histograms in seconds here, which Kafka does not have, under names of their own;
// what Kafka does not know at all begins with barnabas_.
//
// Invariants:
//
//  1. The values of a label come from a fixed set or from the configuration:
//     kinds of requests, error codes, listeners, log directories, features. Never
//     topics, clients or addresses, but where a bound on their number is told: where
//     groups stand, and what clients push of theirs (package telemetry).
//  2. A source is called by one scrape at a time and waits for nothing.
//
// Files:
//
//	table.go      the metrics
//	registry.go   Registry, Scrape: sources to Prometheus
//	durations.go  Durations: a histogram of times
//	requests.go   Requests, Errors: counted per kind of request
package metrics

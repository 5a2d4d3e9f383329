package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"barnabas/internal/kafka"
)

// Limits of interval.ms of a client-metrics resource, in milliseconds.
const (
	minPushIntervalMs = 100
	maxPushIntervalMs = 3600000
)

// matchKeys are what a client can be matched by (KIP-714).
var matchKeys = []string{"client_instance_id", "client_id", "client_software_name", "client_software_version", "client_source_address", "client_source_port"}

// ClientMetricsSources is the configuration of a client-metrics resource as
// DescribeConfigs answers it.
func (b *Broker) ClientMetricsSources(overrides map[string]string) []Entry {
	return b.describeLinked(clientMetricsSet(), overrides, SourceClientMetrics)
}

// ValidateClientMetrics checks the whole set of values that a client wants a
// client-metrics resource to have. Codes and texts are Apache's (class
// ClientMetricsConfigs).
func ValidateClientMetrics(wanted map[string]string) (kafka.ErrorCode, error) {
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if clientMetricsSet().Lookup(name) == nil {
			return kafka.ErrInvalidRequest, fmt.Errorf("Unknown client metrics configuration: %s", name)
		}
	}
	v := values{}
	for i := range clientMetricsSet().keys {
		k := &clientMetricsSet().keys[i]
		text, ok := wanted[k.Name]
		if !ok {
			continue
		}
		parsed, err := k.parse(text)
		if err != nil {
			return kafka.ErrInvalidConfig, err
		}
		v[k.Name] = parsed
	}
	if _, set := v["interval.ms"]; set {
		if n := v.int("interval.ms"); n < minPushIntervalMs || n > maxPushIntervalMs {
			return kafka.ErrInvalidRequest, fmt.Errorf("Invalid value %d for interval.ms, interval must be between 100 and 3600000 (1 hour)", n)
		}
	}
	if _, err := ParseClientMatch(v.list("match")); err != nil {
		return kafka.ErrInvalidConfig, err
	}
	return kafka.ErrNone, nil
}

// Telemetry is what the broker takes of clients' metrics.
type Telemetry struct {
	MaxBytes int64 `key:"telemetry.max.bytes"` // of a push, packed
}

// ClientMetrics is a client-metrics resource: what clients push, how often, and which.
type ClientMetrics struct {
	Metrics    []string // prefixes of names, "*" for all
	IntervalMs int64
	Match      map[string]*regexp.Regexp // a client's whole value must match
}

// ParseClientMetrics reads the values that are set on a client-metrics resource.
func ParseClientMetrics(set map[string]string) (ClientMetrics, error) {
	v := values{}
	for i := range clientMetricsSet().keys {
		k := &clientMetricsSet().keys[i]
		text, ok := set[k.Name]
		if !ok {
			text = k.Default
		}
		parsed, err := k.parse(text)
		if err != nil {
			return ClientMetrics{}, err
		}
		v[k.Name] = parsed
	}
	match, err := ParseClientMatch(v.list("match"))
	return ClientMetrics{Metrics: v.list("metrics"), IntervalMs: v.int("interval.ms"), Match: match}, err
}

// ParseClientMatch reads the items of the key match, "client_id=regular
// expression": the expression must match the client's whole value.
func ParseClientMatch(items []string) (map[string]*regexp.Regexp, error) {
	out := map[string]*regexp.Regexp{}
	for _, item := range items {
		parts := strings.Split(item, "=")
		if len(parts) != 2 || !slices.Contains(matchKeys, strings.TrimSpace(parts[0])) || strings.TrimSpace(parts[1]) == "" {
			return nil, fmt.Errorf("Illegal client matching pattern: %s", item)
		}
		expression, err := regexp.Compile("^(?:" + strings.TrimSpace(parts[1]) + ")$")
		if err != nil {
			return nil, fmt.Errorf("Illegal client matching pattern: %s", item)
		}
		out[strings.TrimSpace(parts[0])] = expression
	}
	return out, nil
}

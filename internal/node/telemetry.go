package node

import (
	"maps"
	"time"

	"barnabas/internal/config"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metrics"
	"barnabas/internal/telemetry"
)

// telemetryResources are the client-metrics resources of the newest image. The
// controller has checked their values.
func (n *Node) telemetryResources() []telemetry.Resource {
	var out []telemetry.Resource
	for r, values := range n.Image().Configs.All() {
		if r.Type != image.ClientMetricsResource {
			continue
		}
		c, err := config.ParseClientMetrics(maps.Collect(values.All()))
		if err != nil {
			n.log.Error("client-metrics resource ignored", "name", r.Name, "error", err)
			continue
		}
		out = append(out, telemetry.Resource{Metrics: c.Metrics, Interval: time.Duration(c.IntervalMs) * time.Millisecond, Match: c.Match})
	}
	return out
}

// tellTelemetry tells what clients have pushed.
func (n *Node) tellTelemetry(s *metrics.Scrape) {
	st := n.telemetry.Stats()
	s.Set(metrics.TelemetryClients, float64(st.Clients))
	s.Set(metrics.TelemetrySeries, float64(st.Series))
	s.Set(metrics.TelemetryPushes, float64(st.Pushes))
	s.Set(metrics.TelemetryDropped, float64(st.Dropped))
	n.telemetry.Each(time.Now(), func(t telemetry.Series) {
		s.Set(metrics.TelemetryValue, t.Value, t.Client.InstanceID.String(), t.Client.ID, t.Metric, t.Attributes)
	})
}

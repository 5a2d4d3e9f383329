package node

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/metrics"
)

// gaugeOf42 is a MetricsData message (OTLP) of a gauge named "m" that is 42.
func gaugeOf42(t *testing.T) []byte {
	t.Helper()
	point := "31" + "2a00000000000000"           // as_int: 42
	gauge := "0a09" + point                      // data_points
	metric := "0a016d" + "2a0b" + gauge          // name, gauge
	message := "0a14" + "1212" + "1210" + metric // resource_metrics, scope_metrics, metrics
	b, err := hex.DecodeString(message)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pushTelemetry has a client push what it is asked for, and returns what that is.
func (n *fixture) pushTelemetry(id [16]byte) *kmsg.GetTelemetrySubscriptionsResponse {
	n.t.Helper()
	cl, done := n.client()
	defer done()
	get := kmsg.NewPtrGetTelemetrySubscriptionsRequest()
	get.ClientInstanceID = id
	asked, err := get.RequestWith(n.context(), cl)
	if err != nil || asked.ErrorCode != 0 {
		n.t.Fatal(err, asked)
	}
	push := kmsg.NewPtrPushTelemetryRequest()
	push.ClientInstanceID, push.SubscriptionID, push.Metrics = asked.ClientInstanceID, asked.SubscriptionID, gaugeOf42(n.t)
	taken, err := push.RequestWith(n.context(), cl)
	if err != nil || taken.ErrorCode != 0 {
		n.t.Fatal(err, taken)
	}
	return asked
}

func TestClientsAreAskedForWhatIsConfigured(t *testing.T) {
	n := start(t, t.TempDir())
	id := [16]byte{7}
	if asked := n.pushTelemetry(id); len(asked.RequestedMetrics) != 0 || asked.PushIntervalMillis != 300000 || asked.TelemetryMaxBytes != 1<<20 || asked.ClientInstanceID != id {
		t.Errorf("without a configuration %+v", asked)
	}
	cl, done := n.client()
	defer done()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeClientMetrics, "all"
	for name, value := range map[string]string{"metrics": "org.apache.kafka.,m", "interval.ms": "1000"} {
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Name, config.Value = name, kmsg.StringPtr(value)
		resource.Configs = append(resource.Configs, config)
	}
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(n.context(), cl)
	if err != nil || resp.Resources[0].ErrorCode != 0 {
		t.Fatal(err, resp)
	}
	if asked := n.pushTelemetry(id); fmt.Sprint(asked.RequestedMetrics) != "[m org.apache.kafka.]" || asked.PushIntervalMillis != 1000 {
		t.Errorf("with a configuration %+v", asked)
	}
	families := n.scrape()
	wantValue(t, families, metrics.TelemetryValue, 42, "metric", "m")
	wantValue(t, families, metrics.TelemetryPushes, 2)
}

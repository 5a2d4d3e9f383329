package api

import (
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/telemetry"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// getTelemetrySubscriptions serves GetTelemetrySubscriptions v0 (KIP-714): what the
// client is asked to push, how often, and the id that it is known by.
func (b *Broker) getTelemetrySubscriptions(c *call) {
	req := c.Msg.(*kmsg.GetTelemetrySubscriptionsRequest)
	resp := kmsg.NewPtrGetTelemetrySubscriptionsResponse()
	s, code := b.Telemetry.Subscribe(time.Now(), c.telemetryClient(req.ClientInstanceID))
	if code != kafka.ErrNone {
		resp.ErrorCode = int16(code)
		c.ReplyMessage(resp)
		return
	}
	resp.ClientInstanceID, resp.SubscriptionID = s.InstanceID, s.ID
	resp.AcceptedCompressionTypes = telemetry.AcceptedCompression
	resp.PushIntervalMillis = int32(s.Interval.Milliseconds())
	resp.TelemetryMaxBytes = int32(b.Effective().Telemetry.MaxBytes)
	resp.DeltaTemporality = true
	resp.RequestedMetrics = s.Metrics
	c.ReplyMessage(resp)
}

// pushTelemetry serves PushTelemetry v0 (KIP-714).
func (b *Broker) pushTelemetry(c *call) {
	req := c.Msg.(*kmsg.PushTelemetryRequest)
	resp := kmsg.NewPtrPushTelemetryResponse()
	resp.ErrorCode = int16(b.Telemetry.Push(time.Now(), c.telemetryClient(req.ClientInstanceID), telemetry.Push{
		SubscriptionID: req.SubscriptionID, Terminating: req.Terminating, Compression: req.CompressionType, Metrics: req.Metrics,
	}))
	c.ReplyMessage(resp)
}

func (c *call) telemetryClient(id kafka.UUID) telemetry.Client {
	name, version := c.conn.Software()
	return telemetry.Client{InstanceID: id, ID: c.Header.ClientID, SoftwareName: name, SoftwareVersion: version, Address: c.conn.RemoteAddr()}
}

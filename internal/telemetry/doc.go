// Package telemetry takes the metrics that clients push (KIP-714) and tells them.
//
//	m := telemetry.New(telemetry.Options{...})
//	s, code := m.Subscribe(now, client)   // GetTelemetrySubscriptions
//	code := m.Push(now, client, push)     // PushTelemetry
//	m.Each(now, func(s telemetry.Series) {...})
//
// What a client is asked for follows from the client-metrics resources that match
// it: the union of their metrics, at the shortest of their intervals. A client has
// an id of its own for the life of its process, which the broker gives it.
//
// The rules are those of Apache Kafka 4.4 (ClientMetricsManager), in its order: a
// push after one that was the last is INVALID_REQUEST, one before its time
// THROTTLING_QUOTA_EXCEEDED, one for an old subscription UNKNOWN_SUBSCRIPTION_ID, one
// that is packed otherwise than accepted UNSUPPORTED_COMPRESSION_TYPE, one of more
// than telemetry.max.bytes TELEMETRY_TOO_LARGE, and one that cannot be read
// INVALID_RECORD. Only a request of a reserved id is no client.
//
// It knows no connection and no image: who calls says who the client is and what is
// subscribed to. Of OTLP (OpenTelemetry's MetricsData) it reads numbers of gauges and
// sums; histograms, which Kafka's clients do not send, are passed over. Deltas are
// added up.
//
// Bounds: 16,384 clients are known, as in Apache Kafka, the one that was silent
// longest is forgotten; 256 series of a client and 20,000 in all are kept, and more
// are counted as dropped; a push may unpack to eight times telemetry.max.bytes, not
// more than 16 MiB. A client that has not pushed for three intervals is not told of, and
// its series go where there is no room for those of others.
//
// Invariants:
//
//  1. One lock guards everything; nothing is read or unpacked under it.
//  2. The number of series is the sum of what the clients hold.
//
// Files:
//
//	manager.go       Manager: clients, rules, bounds
//	subscription.go  what a client is asked for
//	otlp.go          the numbers of a MetricsData message
//	protobuf.go      fields of a protobuf message
package telemetry

// Package client opens Kafka clients by Kafka's own property names. The engine
// is franz-go; this package is the face that Kafka's users know: "acks",
// "linger.ms", "isolation.level" and so on, with Kafka's defaults.
//
// It works against any Kafka and knows nothing of this project's server.
//
// A property that isn't known is reported back as a warning, as Apache's clients
// log it; one that is known but can't be honoured is an error.
package client

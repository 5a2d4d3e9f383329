// Package client opens Kafka clients by Kafka's own property names. The engine
// is franz-go; this package is the face that Kafka's users know: "acks",
// "linger.ms", "isolation.level" and so on, with Kafka's defaults.
//
// It works against any Kafka and knows nothing of this project's server.
//
// Each property of Apache Kafka's admin client, producer and consumer has an effect,
// or none, or is refused:
//
//	translate.go  those with an effect, one by one, and the values that are refused
//	together.go   options that follow from several of them, and Kafka's defaults
//	without.go    those without an effect, and why
//	check.go      values, with Kafka's words for those that are wrong
//	client.go     New, Options
//
// What has no effect, is not known, or is for another kind of client comes back as a
// warning, one for each reason.
package client

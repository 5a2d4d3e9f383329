// Package chaos runs clients against a node that dies and comes back, and has what
// they saw checked by package history.
//
//	go test .                                     ours, killed
//	go test . -apache                             the same on Apache Kafka: a check of the checks
//	go test . -kills 100 -transactions 100000 -java-transactions 50000 -timeout 5h
//
// franz-go (transform_test.go) and Apache's Java clients (java/Transform.java, with both
// protocols of groups and both versions of transactions) consume, process and produce.
// Apache's Kafka Streams (java/Words.java) and Kafka Connect have to be right to the record.
//
//	chaos_test.go      flags, the node; franz-go under kills
//	transform_test.go  feeder and transformers of franz-go
//	audit_test.go      what is there in the end
//	java_test.go       transformers in Java
//	streams_test.go    Kafka Streams
//	connect_test.go    Kafka Connect
//	program_test.go    Java programs as processes
package chaos

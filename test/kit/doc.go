// Package kit starts the two servers that the tests compare: a real Apache
// Kafka, fetched from Maven Central once, and this project's own binary, built
// from the tree. Both are real processes on loopback with a folder each, so a
// test can stop, kill and swap them.
//
// Needs: Java 17 or newer and mvn for Apache Kafka, go for ours.
//
//	ports.go    free ports
//	process.go  a child process with a log file and a condition for readiness
//	apache.go   Apache Kafka: install, format, start, tools, Java programs
//	barnabas.go our binary: build, start
//	node.go     what both have in common
//	properties.go  the server.properties of a node
//	output.go   commands that end, and what they printed
//	untar.go    folders that are kept as archives
package kit

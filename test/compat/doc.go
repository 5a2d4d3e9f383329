// Package compat holds round trips by clients that people use: each writes
// records to our node and reads them back with assigned partitions, and checks
// every one of them.
//
//	go test . -records 100000            all clients, against Barnabas
//	go test . -server apache             the same against Apache Kafka: a check of the checks
//
// Record i goes to partition i modulo 3 with key "key-<i>" and a value of 100
// bytes that is a function of i (see value). A client in another language is a
// program in a folder of its own, started as
//
//	PROGRAM produce|consume BOOTSTRAP TOPIC RECORDS
//
// that ends with exit code 0 only if all was as expected. Whatever a client
// wrote is also read by franz-go, so a client that only writes is checked too.
//
// # Groups
//
// TestGroupScenarios plays stories of consumer groups with seven libraries: who owns
// which partitions in which generation, where members read on, what is committed. A
// scenario is written once. A library is a program that takes commands on standard
// input and writes events to standard output, a JSON object a line (the folders
// member, java, python, node). What a library cannot do is listed with the reason.
//
//	go test . -run TestGroupScenarios -server apache -v
//
// # This project's own client
//
// TestClientFace plays scenarios of package client on Apache Kafka, which tells whether
// the client is right, and on this project's server.
//
// # franz-go
//
// TestFranzGoOwnTests runs the tests of that client's package kgo against the node; all
// that need no transaction, no share group, no KIP-848 and no SASL have to pass.
package compat

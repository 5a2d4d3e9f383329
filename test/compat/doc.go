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
package compat

// Package kafka holds the words of the domain: offsets, epochs, ids, error
// codes, features and their levels. It holds no behaviour that needs a clock, a
// file or a lock, and knows nothing of the wire.
//
// Files:
//
//	words.go      numbers that must not be mixed up, topic partitions, markers
//	uuid.go       Kafka's Uuid and its text form; reserved ids
//	errorcode.go  the error codes of Apache Kafka 4.4
//	feature.go    feature names, metadata.version levels, defaults
//	topicname.go  the rules for topic names; internal topics
//	coordinatorkey.go  which partition of an internal topic a key lives in
package kafka

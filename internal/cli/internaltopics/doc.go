// Package internaltopics prints the records that coordinators keep in Kafka's
// internal topics as JSON, in the words of Apache's tools: {"type":"1","data":{...}}
// for a key, {"version":"4","data":{...}} for a value. The tools dump-log and
// console-consumer share it. It knows formats, which are public, and no server.
//
//	groups.go        __consumer_offsets
//	transactions.go  __transaction_state
//	json.go          JSON as those tools print it
package internaltopics

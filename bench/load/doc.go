// Package load sends Kafka requests as cheaply as it can, so that on a machine of
// two cores the client leaves the other one to the server: batches are encoded
// once and sent again and again, answers are looked at where they lie.
//
//	topic, err := load.CreateTopic(address, "t", 4, nil)
//	result, err := load.Produce{Address: address, Topic: topic, ...}.Run()
//	result, err := load.Consume{...}.Run()
//	result, err := load.Paced{...}.Run()
//	result, err := load.Calls{...}.Run()
//
// Produce is a closed loop: each connection keeps a number of requests in flight
// and sends one for each answer. Paced is an open loop: requests leave by an
// absolute schedule, whatever the answers do, and latency counts from the time at
// which a request should have left. Consume is what a consumer does: one Fetch at
// a time per connection, in a fetch session.
//
// Requests have the versions that clients of Apache Kafka 4.4 use: Produce v13
// and Fetch v17, both with topic ids. Connection i writes and reads partition i
// modulo the topic's partitions.
//
// Every answer's error code is checked. All sizes are of batches, which are what
// a log holds; GB are 10^9 bytes.
//
// Files:
//
//	conn.go     a connection that asks one thing at a time
//	topic.go    creating a topic, waiting for leaders
//	batch.go    record batches
//	produce.go  the closed loop
//	consume.go  the consumer
//	paced.go    the open loop
//	calls.go    a closed loop of small requests; many connections
//	group.go    members of groups: join, commit, leave
//	latency.go  percentiles
package load

// Package kafkatest runs a Kafka broker inside a Go test: the whole Barnabas node,
// on a port that the system chooses, with its data in memory. It speaks Kafka's
// protocol, so the client under test is whichever you use.
//
//	func TestOrders(t *testing.T) {
//		node := kafkatest.Start(t, kafkatest.Topic("orders", 3))
//		cl, err := kgo.NewClient(kgo.SeedBrokers(node.Addr()))
//		...
//	}
//
// Start stops the node when the test ends, and shows the node's log if the test has
// failed. Open is for what has no testing.TB, such as TestMain. Nodes don't know
// each other: as many as memory allows run in one process, one for each test that
// runs in parallel.
//
// A node is a single broker with Kafka's defaults, but for what would make a test
// wait or hold much memory: group.initial.rebalance.delay.ms is 0,
// offsets.topic.num.partitions and transaction.state.log.num.partitions are 1, and
// the admin listener with metrics and profiles is off. Config sets these and all
// others.
//
// Records take the memory of their bytes until the node is stopped for good; with
// Dir they lie in a folder, in Kafka's formats. Data in memory survives Restart.
//
// Once Stop has returned nothing is left: no goroutine, no descriptor, no port.
//
// Files:
//
//	options.go  what a node is started with
//	node.go     Node: start, stop, restart
//	topics.go   topics made before a test begins
//	log.go      the log that a failed test shows
package kafkatest

// Package api answers requests: one file per API, each a thin translation between
// the protocol in all its versions and the packages that know what to do
// (controller, replica, producerid). It holds no state of the cluster: what it
// needs, it reads from the published metadata image.
//
// Broker is the handler of listeners for clients, Controller that of controller
// listeners. Each has a table from key to function; what is in the table is what
// ApiVersions announces.
//
// Each function first asks the authorizer about every resource that the request
// names. A test with an authorizer that denies everything goes over the tables.
//
// Invariants:
//
//  1. A request is answered exactly once, by the function it was given to or by
//     whom that function handed it to.
//  2. Nothing here waits: what takes time is answered by a callback.
//
// Files:
//
//	broker.go, controller.go   the handlers and their tables
//	call.go                    what is known of one request
//	errors.go                  error codes of answers, counted for the metrics
//	configchanges.go           what a node checks of changes to configurations by itself
//	brokerloggers.go           levels of this node's loggers
//	groups.go                  which coordinator a group has
//	transactions.go            which partitions may be in a transaction
//	repeats.go                 how often a request may name one thing
//	gathering.go               answers whose parts come from several coordinators
//	endpoints.go               what clients are told of nodes' addresses
//	NAME.go                    the API of that name
//
// The tests of package api_test run a whole node: node_test.go starts it and talks
// to it, requests_test.go makes requests of every key and version.
package api

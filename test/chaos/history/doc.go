// Package history checks what many clients sent, read and committed against what
// Kafka promises, and names what is wrong.
//
//	h.Add(history.Event{Kind: history.Send, ...})   // by each client, as it goes
//	for _, a := range history.Check(h.Events()) { t.Error(a) }
//
// It knows nothing of the broker: it takes what the clients learned (acknowledged,
// refused, unknown) and a complete read of every partition at the end (Scan). Time
// is only used where real time matters: a commit that was acknowledged before
// somebody asked for it.
//
// # What the clients promise
//
// Each record has an ID of its own. Producers are idempotent: what is sent once is
// there once at most. A transaction that a client ends with Commit had all its
// records acknowledged before. Groups only go forward. Topics are neither compacted
// nor cut while they are watched. A client that transforms (it sends with Origin and
// commits offsets in the same transaction) makes exactly one output of each input.
//
// # Anomalies
//
//	lost                  acknowledged (and committed), and not there; or an input
//	                      that was consumed in a transaction without its output
//	duplicate             there twice; or two outputs of one input
//	phantom               read, and never sent, or certainly refused
//	aborted read          seen with read_committed though its transaction was not
//	                      committed
//	torn                  a part of a transaction: some records of it without the
//	                      others, or outputs without the offsets of their inputs
//	skipped               a consumer was given what comes after, and not this
//	out of order          a producer's records in another order than sent, or a
//	                      consumer that was given an offset twice or went back
//	inconsistent offsets  a group's offset is older than what was acknowledged, or
//	                      one that nobody committed
//
// What was neither acknowledged nor refused may be there or not; of a transaction
// whose end is unknown all must be there, or nothing.
//
//	event.go         what clients write down
//	index.go         the events by what they say
//	check.go         Check, anomalies
//	records.go       lost, duplicate, phantom, aborted read, torn, order of producers
//	consumers.go     skipped, order of consumers
//	offsets.go       offsets of groups, and what was made of inputs
package history

// Package producerid hands out producer ids on a broker. Ids come from the
// controller in blocks of a thousand; at 90 % of a block the next one is asked
// for, so that a producer hardly ever waits.
//
// It knows nothing of transactions, of the wire or of who the controller is: it
// has a function that asks for a block.
//
// State belongs to the Manager's lock; no callback runs while it is held. There
// is no goroutine: what must happen later happens when an answer or the next
// request comes.
//
// Invariants:
//
//  1. An id is handed out once: blocks are taken only if they lie above every
//     block taken before.
//  2. At most one block is being asked for.
//  3. Every Next is answered once: with an id, or with
//     COORDINATOR_LOAD_IN_PROGRESS, after which the client tries again.
//
// Apache Kafka answers COORDINATOR_LOAD_IN_PROGRESS whenever no id is at hand,
// also for a broker's very first producer. Here the request waits for the block
// that is on its way and only a failure is answered so; that is what a client
// sees as one answer instead of a retry after its backoff.
//
// Files:
//
//	manager.go  Manager
package producerid

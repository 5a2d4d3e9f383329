// Package heartbeat decides what a broker's heartbeat changes: whether the
// broker is unfenced, fenced, drained or told to shut down, and whose session is
// over. It is pure: time is an argument, and it knows neither records nor
// partitions. What it holds is soft state: it is built anew from the
// registrations when a controller becomes active.
//
// Its owner (the controller) calls everything from its executor but the
// Sessions, which it guards with a lock of its own, because a heartbeat counts as
// a sign of life before it waits in a queue.
//
// Invariants:
//
//  1. A fenced broker is not in controlled shutdown; its next wish to shut down
//     is granted at once.
//  2. A broker is unfenced only when it has the record of its own registration, and
//     not after it was in controlled shutdown under that registration. (Apache
//     Kafka unfences it, and lets it lead as one that is shutting down.)
//  3. A broker in controlled shutdown is released only when it leads nothing and
//     each active broker has the record by which it ceased to.
//  4. A pause of the controller ends no session: the time in which nobody looked
//     is given back to everyone.
//
// Files:
//
//	brokers.go   Brokers: the state machine of registration and shutdown
//	sessions.go  Sessions: when each broker was last heard of
package heartbeat

// Package controller is the active controller of the cluster: it decides what is
// written into the metadata log. Registrations and heartbeats of brokers, creation
// and deletion of topics, who leads a partition and who is in sync, blocks of
// producer ids.
//
// The one shape of every operation: decide → append → replay → answer on commit.
// Deciding reads the pending state, an image that has everything appended, and
// makes records and an answer; nothing is changed. The records are replayed on
// that image, appended to the log, and the image that came out becomes the pending
// state. The answer is given when the log has committed the records, so that
// nobody is told what could still be lost. An operation without records is
// answered when everything before it is committed.
//
// It knows nothing of the wire and of the quorum: requests come as kmsg structs
// with a function for the answer, the log is an interface of one method, and
// whoever listens to the quorum tells BecomeLeader, Resign and Committed.
// Authorization is a function in the request's Context. There is no state of a
// controller that does not lead but the operations that are refused.
//
// State belongs to one serial executor: an operation runs on the goroutine that
// brings it when the controller is free. The exception are the sessions of brokers,
// which have a lock of their own: a heartbeat counts before it waits.
//
// Where partitions of a broker are sought (fencing, unfencing, shutdown), all
// partitions are looked at: at 200,000 that takes a few milliseconds, it happens
// when a broker comes or goes, and there is no second account of who leads what
// that could be wrong.
//
// Invariants:
//
//  1. Only replay changes the pending image; what was not appended is not in it. What
//     the log gives up on a full disk leaves it again (CutBack), with its operations.
//  2. Offsets are as the log gives them: nobody else appends data in our epoch.
//  3. Each request is answered once: on commit, or with an error code. After
//     Resign none is left.
//  4. The records of a user's request are one batch, and at most 10,000.
//  5. After each operation, of each partition: ISR and ELR are subsets of the
//     replicas without a common member; if there is a leader, it is in the ISR, and
//     all members of the ISR are active brokers. Without ELR the ISR is never empty.
//  6. A broker id has one live incarnation: another is refused until the session
//     is over, but for one that proves it has the old one's directories
//     (Registration.HoldsDirectories).
//
// Files:
//
//	controller.go     Controller, Options, leadership
//	operation.go      the way of an operation; Context
//	active.go         the state while leading; replay
//	activation.go     bootstrap, abandoned transactions, own registration
//	periodic.go       sessions, idle records, elections by the clock
//	refusal.go        error codes with Apache's texts
//	config.go         what topics' configuration means here
//	configs_alter.go  changes of configurations; configs_check.go: which are allowed
//	broker_*.go       registration, heartbeat, unregistration
//	controller_unregister.go  a controller that is gone for good
//	features.go       levels of features
//	partitions.go     changes of partitions when a broker comes or goes
//	topics_*.go       create, delete, more partitions; assignments.go: replicas of new ones
//	alterpartition.go the ISR that leaders tell
//	directories.go    in which directory replicas lie
//	producerids.go    blocks of producer ids
//
// Parts with owners of their own: election (who leads, who is in sync), placement
// (brokers of new partitions), heartbeat (what a heartbeat changes; sessions).
package controller

// Package node assembles a node from its configuration: the only package that
// knows all others. It opens the log directories, wires controller, quorum,
// metadata loader, replicas, membership and listeners, and takes them apart again
// in the right order.
//
// A node of this release is broker and controller at once, and the only one of
// its quorum.
//
// How it starts: lock and check the directories (format them if that was asked
// for) → open the metadata log and the replicas' checkpoints → bind the listeners
// → start the quorum, which elects this node → the controller writes what an empty
// log needs → the first image is published: replicas open their logs → membership
// registers and is unfenced → clients are let in. Nothing in it waits for a clock.
//
// How it stops: no new connections → a controlled shutdown, which gives
// leaderships away and needs everything below → groups answer who waits → answers leave → replicas close
// their logs and mark the stop as clean → controller, loader and quorum close →
// the locks are given back.
//
// Publishers of the metadata image, in order: configuration, replicas, groups,
// transactions, this node's own pointer (from which requests are answered), membership, controller.
// So whoever is answered "committed" by the controller finds the change here.
//
// How it fails: what a part cannot go on after (a metadata log that cannot be
// written, the last log directory gone) ends the node in order, without asking the
// controller; directories that work are closed clean. A panic, which is an error of
// ours, ends the process at once, as a kill does.
//
// Files:
//
//	node.go      Node: start, stop, failure
//	dirs.go      log directories: lock, format, check
//	assemble.go  the parts and how they know each other
//	publish.go   what happens to a new image
//	coordinator.go  the group coordinators and what they follow
//	transactions.go the transaction coordinator, and markers in partitions that are led here
//	adapters.go  small interfaces between layers that are blind to each other
//	register.go  what this node registers as: endpoints, features
//	admin.go     the admin listener, readiness
//	metrics.go   where the numbers come from
//	telemetry.go what clients push of theirs
//	groupwatch.go where groups stand, and why
//	grouptopics.go the topics as consumer groups see them, and what they ask about them
package node

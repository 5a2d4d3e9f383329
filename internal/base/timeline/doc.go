// Package timeline gives maps that can be taken back to an earlier state and that
// can be read as of the last committed one. A coordinator keeps its state in them:
// what was decided is visible to the next decision at once, before the log has
// it, and is undone if the log refuses it (in Apache Kafka: TimelineHashMap and
// SnapshotRegistry).
//
// A Registry counts time in offsets. Changes are in flight from Set or Delete
// until Commit; Mark says where a batch of them ends:
//
//	groups.Set("a", v)   // in flight
//	registry.Mark(7)     // all since the last mark is the batch that ends before offset 7
//	registry.Commit(7)   // for good; GetCommitted sees it
//	registry.Revert(7)   // undoes all that is later than the mark of 7
//
// A Map is a plain Go map of what is committed and a small one of what is in
// flight. A change costs one entry of a log until it is committed or undone; what
// is not in flight costs nothing. While a registry is direct (during a load, when
// all that is read is committed) there is no such entry.
//
// Values are replaced, never changed: a value that is changed in place is changed
// in the committed state too, and no Revert brings it back.
//
// All maps of a registry, and the registry, belong to one owner at a time; there
// is no lock. Iterations come in no particular order, as those of Go's maps do,
// and as there a map may be changed while it is iterated; but Commit, Revert and
// Direct may not be called then.
//
// Invariants:
//
//  1. The log of a registry holds the changes in flight, oldest first; those of
//     one key stand in its map in the same order.
//  2. A key stands among the pending ones exactly while a change of it is in flight.
//  3. Ends of marks grow.
//
// Files:
//
//	registry.go  Registry: marks, commit, revert
//	map.go       Map
package timeline

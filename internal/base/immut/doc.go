// Package immut gives a sorted map whose copies cost nothing: assigning a Map copies
// three words, and changing one copy leaves the others as they were. What a change
// copies is the path from the root to one leaf, a few kilobytes.
//
// A run of changes need not copy the same path again and again. Each change names an
// Owner; nodes that were made under that owner belong to it and are changed in place.
//
//	o := immut.NewOwner()
//	m.Set(o, "a", 1)
//	m.Set(o, "b", 2) // changes the same leaf in place
//	frozen := m      // hand it out, and from now on use a new owner
//	o = immut.NewOwner()
//
// A Map has no lock. Copies that were handed out may be read by any number of
// goroutines.
//
// Invariants:
//
//  1. A node is changed only under the owner that made it. So a copy of a Map is
//     immutable once the owners under which it was made are not used any more.
//  2. Keys are in strictly ascending order, over all leaves.
//  3. All leaves are at the same depth. No node but the root is empty, none holds
//     more than fanout entries. Deleting does not merge half-empty nodes: they go
//     when they are empty, so depth follows the largest size that the map had.
//
// Files:
//
//	map.go     Map
//	node.go    the tree
package immut

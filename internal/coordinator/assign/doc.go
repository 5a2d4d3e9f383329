// Package assign has the assignors of consumer groups that run on the coordinator
// (KIP-848): uniform and range. Given the members of a group, what they are
// subscribed to and what they were to have, an assignor says what each is to have.
//
// The results are those of Apache Kafka 4.4 to the last partition, so that a group
// that moves between Apache and us moves no partition. Apache's assignors walk over
// hash maps here and there; where the order of such a walk decides, package assign
// walks in the same order (order.go). Racks play no part: Apache's assignors of 4.x
// know them and do not look.
//
// Everything is pure. Nothing that is passed in is changed or kept.
//
// Files:
//
//	assign.go         the members, the result
//	range.go          range: contiguous partitions of each topic
//	uniform.go        uniform, where all members have the same topics
//	heterogeneous.go  uniform, where they do not
//	order.go          the order of Java's hash maps
package assign

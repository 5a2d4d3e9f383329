// Package consumergroup is a group of the consumer protocol (KIP-848) as the records
// of __consumer_offsets have it: its members, what each has and is to have, its
// epochs. A Group is a value that is never changed; a record makes another one of it
// (Apply). So it can lie in the maps of a coordinator's timeline, which take records
// back that the log refused.
//
// A Draft is a group that is being decided on: records are put into it and show at
// once. The steps of a decision are here, each pure: computing the target of all
// members (Draft.Assign), taking a member one step towards its target (Draft.Reconcile),
// the hash of the topics that tells whether the target is still up to date (Hash).
// Which step is taken when, requests and their errors, time and timeouts are not
// here: that is package group.
//
// Everything is done as Apache Kafka 4.4 does it (ConsumerGroup, ConsumerGroupMember,
// CurrentAssignmentBuilder, TargetAssignmentBuilder), down to the order in which the
// assignors see the members, so that the same requests lead to the same
// assignments and a group can move between Apache and us at any moment.
//
// Epochs. A new group begins with epoch 1. The group's epoch grows with each change
// that asks for a new target; the target has the epoch of the group that it was made
// for; a member has the epoch of the target that it has reached. A partition that a
// member has carries the member epoch at which it got it (KIP-1251).
//
// Invariants:
//
//  1. A Group, a Member and all that hangs on them are not changed once they are
//     visible outside of the call that made them.
//  2. No partition is held by two members: Reconcile gives a member only what nobody
//     holds, and one that is to be revoked is held until the member has let it go.
//  3. Counts of subscriptions, protocols and assignors, and who holds a partition,
//     follow from the members; they are kept because asking all members is dear.
//
// Files:
//
//	group.go      Group: what it says of itself
//	member.go     Member
//	holding.go    what a member holds, with epochs
//	apply.go      a record makes another group
//	count.go      what follows from the members
//	draft.go      Draft
//	records.go    the records of a group
//	reconcile.go  a member's way to its target
//	target.go     the target of all members
//	topics.go     the topics of the cluster, the hash of those of a group
package consumergroup

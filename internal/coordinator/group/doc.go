// Package group is the coordinator of consumer groups of both protocols and of the
// offsets that groups commit: the core of one partition of __consumer_offsets, a
// machine.Machine. Its operations serve JoinGroup, SyncGroup, Heartbeat, LeaveGroup,
// ConsumerGroupHeartbeat, ConsumerGroupDescribe, OffsetCommit, TxnOffsetCommit,
// OffsetFetch, OffsetDelete, DescribeGroups, ListGroups and DeleteGroups in all their versions,
// with the checks of Apache Kafka 4.4 in their order and its error codes
// (GroupMetadataManager, OffsetMetadataManager). It knows no connection, no
// configuration file and no authorization: who calls has looked those up. It reads no
// clock; time is an argument, and ids come from a source of random bytes. The topics of
// the cluster are asked for at the beginning of each operation that needs them.
//
// A group of the consumer protocol (KIP-848) is what its records say, package
// consumergroup; what is done with one is in the files consumer*.go. What of it is not
// in the log: the deadlines of its members, its last rebalances, and which topics it
// has looked at. Regular expressions are matched elsewhere (Resolution) and the answer
// comes back as an operation. A classic group is converted when a member of the
// consumer protocol joins it, and back when the last one of them leaves, as
// group.consumer.migration.policy allows.
//
// Of classic groups there are two kinds of state. What the log has of groups and offsets lies in maps of the
// runtime's timeline and is changed by Replay alone, so that the runtime can take
// it back. What a classic group is doing right now (members, waiting answers,
// timers, the state of the rebalance) is never in the log but as a summary of each
// stable or empty generation; it changes at once. Where the summary has to be in
// the log before anybody hears of it, the change is made, or undone, in the
// decision's Done. A group whose first record fails is dissolved: who waits in it
// is answered.
//
// Answers of JoinGroup and SyncGroup may come minutes later; the function that
// gives one is taken out of its member before it is called. A request that is
// displaced by a later one of the same member is answered with
// REBALANCE_IN_PROGRESS; Apache Kafka never answers it.
//
// Deadlines lie in a heap. A heartbeat moves one by changing a field, without a
// record, memory or the heap. An operation that came before a deadline has moved
// it before Tick looks.
//
// Groups of other kinds (share and streams protocol) are kept as the log
// has them. Their ids are taken, they are listed, and offsets that their members
// committed are served; they do not expire. An empty one goes when somebody deletes
// it, or joins with the classic protocol, as in Apache Kafka.
//
// Each group remembers its last 16 rebalances with their causes: Why.
//
// Limits: group.max.size members, and what Apache Kafka does not bound: 10,000
// pending members of a group and 100,000 of a core, 1,000,000 groups of a core that
// clients may make (COORDINATOR_NOT_AVAILABLE beyond), 4 MiB of subscriptions of a
// member (MESSAGE_TOO_LARGE) and 512 MiB of a core (GROUP_MAX_SIZE_REACHED). Offsets
// are bounded by the partitions that there are, and by metadata of
// offset.metadata.max.bytes each. Of consumer groups: group.consumer.max.size members,
// 512 MiB of what the members of a core are subscribed to, with their ids
// (GROUP_MAX_SIZE_REACHED), regular expressions of 4096 bytes and 10,000 instructions
// (INVALID_REGULAR_EXPRESSION).
//
// Invariants:
//
//  1. Each request is answered once.
//  2. Generations of a group grow. In one generation a member gets what the log has
//     for it, and nobody else gets that.
//  3. The state of groups and offsets that Replay has changed is changed by nothing
//     else; a pointer to a classic group is put there, never what it points to.
//  4. A timer in the heap belongs to a member, id or group that is there, or does
//     nothing when it rings.
//
// Files:
//
//	core.go          Core: settings, limits, time, load and unload
//	timer.go         the heap of deadlines
//	classic.go       a group: members, state, what it supports
//	member.go        a member of it
//	protocol.go      the choice of a protocol; topics of subscriptions
//	join.go          JoinGroup
//	static.go        static members that come back
//	rebalance.go     the rebalance: begin, delay, end, and who is missing
//	sync.go          SyncGroup
//	heartbeat.go     Heartbeat
//	leave.go         LeaveGroup
//	why.go           the last rebalances of a group
//	progress.go      where groups stand, for those who watch
//	offsets.go       the store of offsets, with those of open transactions
//	commit.go        OffsetCommit
//	commitintransaction.go TxnOffsetCommit
//	fetch.go         OffsetFetch
//	offsetdelete.go  OffsetDelete
//	delete.go        DeleteGroups
//	expire.go        retention, and offsets of deleted topics
//	describe.go      DescribeGroups, ListGroups, counts
//	foreign.go       groups of other kinds
//
//	consumer.go           ConsumerGroupHeartbeat: from request to answer
//	consumer_member.go    finding the group and the member, who may join
//	consumer_leave.go     members that leave, or whose time is over
//	consumer_regex.go     regular expressions
//	consumer_timer.go     deadlines of members, what is known beside the log
//	consumer_classic.go   JoinGroup, SyncGroup, Heartbeat, LeaveGroup to a consumer group
//	consumer_migrate.go   from one protocol to the other
//	consumer_offsets.go   who may commit and fetch
//	consumer_describe.go  ConsumerGroupDescribe
//
//	replay.go        from records to state
//	records.go       from state to records
package group

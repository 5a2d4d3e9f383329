package txn

import (
	"math"

	"barnabas/internal/base/immut"
	"barnabas/internal/kafka"
)

// State is what the log says of a transactional id (TransactionState).
type State int8

const (
	Empty          State = 0 // no transaction since the producer came
	Ongoing        State = 1
	PrepareCommit  State = 2 // decided; markers are on their way
	PrepareAbort   State = 3
	CompleteCommit State = 4 // all markers are written
	CompleteAbort  State = 5
)

// stateNames are the names that clients see. Apache Kafka's Dead and PrepareEpochFence
// (6 and 7) are states of its memory and never in the log; they may be asked for.
var stateNames = [...]string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort"}

// neverListed are names that a filter may have and that no transaction is in.
var neverListed = [...]string{"Dead", "PrepareEpochFence"}

func (s State) String() string { return stateNames[s] }

// prepared says whether the end is decided and not told to all partitions.
func (s State) prepared() bool { return s == PrepareCommit || s == PrepareAbort }

// over says whether no transaction is under way.
func (s State) over() bool { return s == Empty || s == CompleteCommit || s == CompleteAbort }

// epochBump is the level of transaction.version from which on each transaction has an
// epoch of its own (KIP-890).
const epochBump = 2

// lastEpoch is the last epoch of a producer id that a client gets. The one above is
// there to fence it.
const lastEpoch kafka.ProducerEpoch = math.MaxInt16 - 1

// noStart is the start time where no transaction has begun.
const noStart = -1

// partitionSet are the partitions of a transaction, in order.
type partitionSet = immut.Map[kafka.TopicPartition, struct{}]

func noPartitions() partitionSet {
	return immut.New[kafka.TopicPartition, struct{}](kafka.TopicPartition.Compare)
}

// transaction is all that is known of a transactional id (TransactionMetadata). It is
// never changed: each step makes a new one.
type transaction struct {
	id       string
	producer kafka.ProducerID
	epoch    kafka.ProducerEpoch
	// previous is the producer id before the last step; next the one that follows when
	// the epochs of this one are used up, from the end of a transaction to its markers.
	previous, next kafka.ProducerID
	// nextEpoch belongs to next in two-phase commits (KIP-939). It is kept for who wrote it.
	nextEpoch kafka.ProducerEpoch
	// last is the epoch before this one, for retries of who has it. It is not in the log
	// and unknown after a load, as in Apache Kafka.
	last       kafka.ProducerEpoch
	timeoutMs  int32
	state      State
	partitions partitionSet
	updatedMs  int64 // when it was last changed: for expiry
	startMs    int64 // of the transaction; noStart
	// client is the level of transaction.version that the client of the last step spoke.
	client int16
}

// exhausted says whether no client may get another epoch of the producer id.
func (t *transaction) exhausted() bool { return t.epoch >= lastEpoch }

// step is what follows t at that time.
func (t *transaction) step(nowMs int64) *transaction {
	next := *t
	next.previous, next.updatedMs = t.producer, nowMs
	return &next
}

// overhead is about what a transactional id takes in memory beside its name.
const overhead = 400

// bytes is about what it takes in memory.
func (t *transaction) bytes() int64 {
	n := int64(overhead + len(t.id))
	for tp := range t.partitions.Keys() {
		n += int64(48 + len(tp.Topic))
	}
	return n
}

// list are its partitions.
func (t *transaction) list() []kafka.TopicPartition {
	out := make([]kafka.TopicPartition, 0, t.partitions.Len())
	for tp := range t.partitions.Keys() {
		out = append(out, tp)
	}
	return out
}

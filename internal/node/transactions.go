package node

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/config"
	"barnabas/internal/coordinator/transactions"
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metrics"
	"barnabas/internal/replica"
)

// stateTimeout is how long an answer waits for its record of __transaction_state to be
// committed, and a marker for its partition. Apache Kafka waits for the timeout of the
// transaction, and for request.timeout.ms, which has this default.
const stateTimeout = 30 * time.Second

// makeTransactions makes the transaction coordinator. It leads nothing yet.
func (n *Node) makeTransactions() {
	c := n.config
	n.transactions = transactions.New(transactions.Options{
		Settings:           transactionSettings(&c.Transactions),
		TransactionVersion: n.transactionVersion, PartitionOf: n.transactionPartition,
		NewProducerID: func(answer func(kafka.ProducerID, kafka.ErrorCode)) { n.producerIDs.Next(answer) },
		Partitions:    localMarkers{n},
		Wheel:         n.wheel, Now: time.Now, Log: n.log.With("part", "transactions"),
		EnlistPause: c.Transactions.EnlistPause, EnlistFor: c.Transactions.EnlistFor,
		CommitTimeout: stateTimeout, LoadBuffer: c.Transactions.LoadBufferSize,
		Loaded: n.meters.transactionLoads.Observe,
	})
}

func transactionSettings(c *config.Transactions) txn.Settings {
	return txn.Settings{MaxTimeout: c.MaxTimeout, Expiration: c.IDExpiration, AbortInterval: c.AbortInterval, RemoveInterval: c.RemoveInterval}
}

// transactionVersion is the finalized level of the feature.
func (n *Node) transactionVersion() int16 { return int16(n.transactionLevel.Load()) }

// transactionPartition is the partition of __transaction_state in which an id lives.
// While there is no such topic it is one of those that there will be.
func (n *Node) transactionPartition(id string) int32 {
	count := int32(n.config.InternalTopics.TransactionPartitions)
	if t := n.Image().Topics.ByName(kafka.TransactionStateTopic); t != nil {
		count = int32(t.Len())
	}
	return kafka.CoordinatorPartition(id, count)
}

// publishTransactions has the coordinator follow the leaders of the partitions that it
// lives in. The replicas know of the change already.
func (n *Node) publishTransactions(d *image.Delta) {
	n.transactionLevel.Store(int32(d.New.Features.Level(kafka.FeatureTransaction)))
	for i := range d.Topics {
		if c := &d.Topics[i]; c.Topic().Name == kafka.TransactionStateTopic {
			n.follow(c, n.transactions.Lead, n.transactions.Resign)
		}
	}
}

// produceAbortable is the version of Produce that knows TRANSACTION_ABORTABLE.
const produceAbortable = 11

// enlister asks the transaction coordinator of this node, which in a cluster of one is
// that of every id.
type enlister struct{ n *Node }

// Enlist implements replica.Transactions.
func (e enlister) Enlist(r replica.Enlistment, answer func([]kafka.ErrorCode)) {
	if !e.n.coordinated(r.TransactionalID) {
		answer(slices.Repeat([]kafka.ErrorCode{kafka.ErrCoordinatorNotAvailable}, len(r.Partitions)))
		return
	}
	e.n.transactions.Enlist(txn.Partitions{
		TransactionalID: r.TransactionalID, ProducerID: r.ProducerID, Epoch: r.ProducerEpoch, List: r.Partitions,
	}, transactions.SpeaksIn(r.Version, produceAbortable), answer)
}

// coordinated says whether the partition in which a transactional id lives has a leader.
func (n *Node) coordinated(id string) bool {
	t := n.Image().Topics.ByName(kafka.TransactionStateTopic)
	if t == nil {
		return false
	}
	p := t.Partition(kafka.CoordinatorPartition(id, int32(t.Len())))
	return p != nil && p.Leader != kafka.NoBroker
}

// tellTransactions tells the numbers of the transaction coordinator.
func (n *Node) tellTransactions(s *metrics.Scrape) {
	st := n.transactions.Stats()
	s.Set(metrics.TransactionPartitions, float64(st.Active), "active")
	s.Set(metrics.TransactionPartitions, float64(st.Loading), "loading")
	s.Set(metrics.TransactionPartitions, float64(st.Failed), "failed")
	s.Histogram(metrics.TransactionLoadTime, &n.meters.transactionLoads)
	s.Set(metrics.TransactionLoadErrors, float64(st.LoadErrors))
	s.Set(metrics.TransactionsEnding, float64(n.transactions.Sending()))
	census, oldest, ok := n.transactionCensus()
	if !ok {
		return
	}
	for _, state := range txn.States() {
		s.Set(metrics.TransactionIDs, float64(census[state]), state.String())
	}
	age := time.Duration(0)
	if !oldest.IsZero() {
		age = max(0, time.Since(oldest))
	}
	s.Set(metrics.TransactionOldest, age.Seconds())
}

// transactionCensus counts the transactional ids of all partitions that are loaded, and
// says since when the oldest transaction is open; the zero time if none is.
func (n *Node) transactionCensus() (all txn.Census, oldest time.Time, ok bool) {
	type count struct {
		census txn.Census
		oldest time.Time
	}
	var mu sync.Mutex
	var counts []count // guarded by mu
	done := make(chan kafka.ErrorCode, 1)
	n.transactions.EachCore(func(core *txn.Core, _ time.Time) {
		c := count{census: core.Census(), oldest: core.OldestOpen()}
		mu.Lock()
		counts = append(counts, c)
		mu.Unlock()
	}, func(code kafka.ErrorCode) { done <- code })
	patience := time.NewTimer(censusPatience)
	defer patience.Stop()
	select {
	case code := <-done:
		if code != kafka.ErrNone {
			return all, oldest, false // one that is being loaded is missing
		}
	case <-patience.C:
		return all, oldest, false
	}
	for _, c := range counts {
		for state, n := range c.census {
			all[state] += n
		}
		if !c.oldest.IsZero() && (oldest.IsZero() || c.oldest.Before(oldest)) {
			oldest = c.oldest
		}
	}
	return all, oldest, true
}

// localMarkers writes markers to the partitions that this node leads. In a cluster of
// one node those are all there are.
type localMarkers struct{ n *Node }

// Exists implements transactions.Partitions.
func (l localMarkers) Exists(tp kafka.TopicPartition) bool { return l.n.replicas.Exists(tp) }

// WriteMarkers implements transactions.Partitions. Where groups live, their coordinator
// writes the marker, which makes the offsets of the transaction count.
func (l localMarkers) WriteMarkers(m kafka.Marker, to []kafka.TopicPartition, done func([]kafka.ErrorCode)) {
	codes := make([]kafka.ErrorCode, len(to))
	var left atomic.Int32
	left.Store(int32(len(to)) + 1)
	finish := func(parts int) {
		if left.Add(int32(-parts)) == 0 {
			done(codes)
		}
	}
	var list []replica.MarkerWrite
	var at []int // in codes
	for i, tp := range to {
		if tp.Topic != kafka.ConsumerOffsetsTopic || l.n.replicas.Partition(tp.Topic, tp.Partition) == nil {
			list = append(list, replica.MarkerWrite{Topic: tp.Topic, Partition: tp.Partition, Marker: m})
			at = append(at, i)
			continue
		}
		l.n.groups.WriteMarker(tp.Partition, m, func(code kafka.ErrorCode) {
			codes[i] = markerCode(code)
			finish(1)
		})
	}
	l.n.replicas.WriteMarkers(list, stateTimeout, func() {
		for j := range list {
			codes[at[j]] = list[j].Code
		}
		finish(len(list))
	})
	finish(1)
}

// markerCode is what a coordinator of transactions is told by one of groups: it is to
// try again.
func markerCode(code kafka.ErrorCode) kafka.ErrorCode {
	switch code {
	case kafka.ErrCoordinatorNotAvailable, kafka.ErrCoordinatorLoadInProgress, kafka.ErrNotCoordinator:
		return kafka.ErrNotLeaderOrFollower
	}
	return code
}

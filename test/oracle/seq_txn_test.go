package oracle

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// transactionSequences are requests for the coordinator of transactions: what clients
// and brokers send it in good order. What is wrong with requests is in
// seq_txn_errors_test.go.
var transactionSequences = slices.Concat(
	versions("txn/init", 0, 5, txnInit),
	versions("txn/add", 0, 3, txnAdd),
	versions("txn/add-transactions", 4, 5, txnAddTransactions),
	versions("txn/offsets", 0, 4, txnOffsets),
	versions("txn/end", 0, 5, txnEnd),
	versions("txn/retry", 3, 5, txnRetry),
	versions("txn/list", 0, 2, txnList),
	versions("txn/markers", 1, 2, txnMarkers),
	[]sequence{
		{"txn/continue", txnContinue},
		{"txn/continue-new", txnContinueNew},
		{"txn/fence", txnFence},
		{"txn/fence-by-itself", txnFenceByItself},
		{"txn/fence-v1", txnFenceV1},
		{"txn/next", txnNext},
		{"txn/abort-nothing", txnAbortNothing},
		{"txn/mixed-versions", txnMixedVersions},
		{"txn/late-requests", txnLateRequests},
		{"txn/describe", txnDescribe},
		{"txn/list-durations", txnListDurations},
		{"txn/list-patterns", txnListPatterns},
		{"txn/deleted-topic", txnDeletedTopic},
		{"txn/timeout", txnTimeout},
		{"txn/timeout-v1", txnTimeoutV1},
		{"txn/marker-epochs", txnMarkerEpochs},
		{"txn/markers-of-groups", txnMarkersOfGroups},
	},
	transactionErrorSequences,
)

func txnInit(s *Session, v int16) {
	p := s.transactional("a", "t")
	p.begin(v)
	p.begin(v)
	p.describe()
	p.Say("another timeout").Send(initTransactional(v, p.id, -1, -1, 1000))
	p.describe()
	p.logged()
}

// txnContinue are producers that name what they have (KIP-360).
func txnContinue(s *Session) {
	p := s.transactional("a", "t")
	for _, v := range []int16{3, 4, 5} {
		p.begin(v)
		p.Say("goes on").Send(initTransactional(v, p.id, p.pid, p.epoch, 60_000))
		p.Say("again, its answer was lost").Send(initTransactional(v, p.id, p.pid, p.epoch, 60_000))
		p.Say("an older epoch").Send(initTransactional(v, p.id, p.pid, p.epoch-1, 60_000))
		p.Say("an epoch that nobody has").Send(initTransactional(v, p.id, p.pid, p.epoch+2, 60_000))
		p.Say("another id").Send(initTransactional(v, p.id, 1<<40, p.epoch+1, 60_000))
		p.begin(v)
		p.Say("before somebody else came").Send(initTransactional(v, p.id, p.pid, p.epoch-1, 60_000))
	}
	p.logged()
}

func txnContinueNew(s *Session) {
	for _, v := range []int16{3, 5} {
		p := s.transactional("a", "t"+string('0'+rune(v)))
		p.Say("an id that the coordinator does not know").Send(initTransactional(v, p.id, 1<<40, 7, 60_000))
		p.describe()
		p.logged()
	}
}

func txnAdd(s *Session, v int16) {
	p := s.transactional("a", "t")
	t := p.topic("t", 3)
	p.begin(0)
	p.add(v, t.name, 0)
	p.Say("again").Send(addPartitions(v, p.id, p.pid, p.epoch, partitionsOf(t.name, 0)))
	p.add(v, t.name, 0, 1)
	p.describe()
	p.Say("nothing").Send(addPartitions(v, p.id, p.pid, p.epoch))
	p.end(3, true)
	p.add(v, t.name, 2)
	p.describe()
	p.end(3, false)
	p.logged()
}

func txnAddTransactions(s *Session, v int16) {
	p, q := s.transactional("a", "p"), s.transactional("b", "q")
	t := p.topic("t", 3)
	p.begin(5)
	q.begin(5)
	p.verify(v, t.name, 0)
	p.add(v, t.name, 0, 1)
	p.verify(v, t.name, 0, 1, 2)
	p.Say("two").Send(addTransactions(v, transactionOf(p.id, p.pid, p.epoch, true, t.name, 0), transactionOf(q.id, q.pid, q.epoch, false, t.name, 2)))
	q.describe()
	p.end(5, true)
	p.verify(v, t.name, 0)
	p.add(v, t.name, 2)
	p.verify(v, t.name, 0, 2)
	p.end(5, false)
	p.logged()
}

func txnOffsets(s *Session, v int16) {
	g := s.Topic("g")
	s.coordinator("g", g)
	p := s.transactional("a", "t")
	p.begin(0)
	p.offsets(v, g)
	p.offsets(v, g)
	p.end(3, true)
	p.Say("the empty group")
	p.offsets(v, "")
	p.end(3, false)
}

func txnEnd(s *Session, v int16) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	p.begin(4)
	for _, commit := range []bool{true, false} {
		p.add(3, t.name, 0, 1)
		p.end(v, commit)
		p.describe()
	}
	p.listOffsets(5, t, 0, -1)
	p.Send(describeProducers(t.name, 0))
	p.begin(4)
	p.logged()
}

// txnRetry ends a transaction that has ended.
func txnRetry(s *Session, v int16) {
	p := s.transactional("a", "t")
	t := p.topic("t", 1)
	for _, commit := range []bool{true, false} {
		p.begin(4)
		p.add(3, t.name, 0)
		epoch := p.epoch
		p.end(v, commit)
		p.Say("the same").Send(endTransaction(v, p.id, p.pid, epoch, commit))
		p.Say("the other way").Send(endTransaction(v, p.id, p.pid, epoch, !commit))
		p.Say("the same").Send(endTransaction(v, p.id, p.pid, epoch, commit))
		p.describe()
		p.Say("the epoch before").Send(endTransaction(v, p.id, p.pid, epoch-1, commit))
		p.Say("the epoch after").Send(endTransaction(v, p.id, p.pid, p.epoch+1, commit))
	}
}

// txnFence has another producer with the same id come in the middle of a transaction.
func txnFence(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	p.begin(5)
	p.add(5, t.name, 0)
	p.Say("another producer").Send(initTransactional(5, p.id, -1, -1, 60_000))
	p.awaitEnd(false)
	p.describe()
	p.add(5, t.name, 1)
	p.verify(5, t.name, 0)
	p.Send(endTransaction(5, p.id, p.pid, p.epoch, true))
	p.Send(endTransaction(4, p.id, p.pid, p.epoch, true))
	p.Send(endTransaction(5, p.id, p.pid, p.epoch+1, true))
	p.Send(initTransactional(5, p.id, p.pid, p.epoch, 60_000))
	p.begin(5)
	p.Send(describeProducers(t.name, 0))
	p.logged()
}

// txnFenceByItself has a producer go on with what it has while its transaction is open.
func txnFenceByItself(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 1)
	p.begin(5)
	p.add(5, t.name, 0)
	p.Say("goes on").Send(initTransactional(5, p.id, p.pid, p.epoch, 60_000))
	p.awaitEnd(false)
	p.Say("goes on").Send(initTransactional(5, p.id, p.pid, p.epoch, 60_000))
	p.describe()
	p.logged()
}

func txnFenceV1(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 1)
	p.begin(3)
	p.add(3, t.name, 0)
	p.Say("another producer").Send(initTransactional(3, p.id, -1, -1, 60_000))
	p.awaitEnd(false)
	p.Send(endTransaction(4, p.id, p.pid, p.epoch, false))
	p.Send(endTransaction(1, p.id, p.pid, p.epoch, false))
	p.add(3, t.name, 0)
	p.add(1, t.name, 0)
	p.begin(3)
	p.add(3, t.name, 0)
	p.end(3, true)
	p.logged()
}

// txnNext are transactions of version 2, one after another.
func txnNext(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	p.begin(5)
	for i := range 4 {
		p.add(5, t.name, int32(i%2))
		p.end(5, i%2 == 0)
		p.describe()
	}
	p.Send(describeProducers(t.name, 0, 1))
	p.logged()
}

func txnAbortNothing(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 1)
	p.begin(5)
	p.Say("nothing was added").Send(endTransaction(5, p.id, p.pid, p.epoch, true))
	p.end(5, false)
	p.describe()
	p.end(5, false)
	p.Say("nothing was added").Send(endTransaction(5, p.id, p.pid, p.epoch, true))
	p.add(5, t.name, 0)
	p.end(5, true)
	p.end(5, false)
	p.describe()
	p.Say("version 4").Send(endTransaction(4, p.id, p.pid, p.epoch, true))
	p.Say("version 4").Send(endTransaction(4, p.id, p.pid, p.epoch, false))
	p.logged()
}

func txnMixedVersions(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 1)
	p.begin(5)
	for _, v := range [][2]int16{{3, 5}, {5, 4}, {5, 5}, {3, 0}, {4, 3}, {3, 5}} {
		p.add(v[0], t.name, 0)
		p.end(v[1], true)
		p.describe()
	}
	p.logged()
}

// txnLateRequests are requests of a transaction that is over.
func txnLateRequests(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	p.begin(5)
	p.add(5, t.name, 0)
	late := *p
	p.end(5, true)
	p.add(5, t.name, 1)
	late.add(5, t.name, 0)
	late.add(3, t.name, 0)
	late.verify(5, t.name, 0)
	late.Send(endTransaction(5, p.id, late.pid, late.epoch, true))
	late.Send(endTransaction(5, p.id, late.pid, late.epoch, false))
	late.Send(endTransaction(4, p.id, late.pid, late.epoch, false))
	late.Send(markers(2, marker(late.pid, late.epoch, 100, 2, false, t.name, 0)))
	p.describe()
	p.end(5, true)
}

func txnDescribe(s *Session) {
	p, q := s.transactional("a", "p"), s.transactional("b", "q")
	t, u := p.topic("t", 2), p.topic("u", 1)
	p.begin(5)
	q.begin(5)
	r := At(0, kmsg.NewPtrDescribeTransactionsRequest())
	r.TransactionalIDs = []string{p.id, q.id, s.Topic("nosuch"), ""}
	p.Send(r)
	p.add(5, t.name, 0, 1)
	p.add(5, u.name, 0)
	r.TransactionalIDs = []string{q.id, p.id, p.id}
	p.Send(r)
	p.end(5, true)
	p.Send(r)
	r.TransactionalIDs = nil
	p.Say("none").Send(r)
}

func listTransactions(v int16, producers []int64, states ...string) *kmsg.ListTransactionsRequest {
	r := At(v, kmsg.NewPtrListTransactionsRequest())
	r.DurationFilterMillis = -1
	r.ProducerIDFilters, r.StateFilters = producers, states
	return r
}

func txnList(s *Session, v int16) {
	p, q := s.transactional("a", "p"), s.transactional("b", "q")
	t := p.topic("t", 1)
	p.begin(5)
	q.begin(5)
	p.add(5, t.name, 0)
	ids := []int64{p.pid, q.pid, 1 << 40}
	p.Say("all").Send(listTransactions(v, ids))
	for _, states := range []string{"Ongoing", "ongoing", "Empty,Ongoing", "Nosuch", "Nosuch,Ongoing,Nosuch", "Dead", "PrepareEpochFence", "CompleteCommit", "PrepareCommit,PrepareAbort,CompleteAbort", ""} {
		p.Say("%s", states).Send(listTransactions(v, ids, strings.Split(states, ",")...))
	}
	p.Say("nobody").Send(listTransactions(v, []int64{1 << 40}))
	p.end(5, true)
	p.Say("all").Send(listTransactions(v, ids))
}

func txnListDurations(s *Session) {
	p, q := s.transactional("a", "p"), s.transactional("b", "q")
	t := p.topic("t", 1)
	p.begin(5)
	q.begin(5)
	p.add(5, t.name, 0)
	time.Sleep(20 * time.Millisecond) // its transaction has a duration then
	for _, longer := range []int64{-1, -7, 0, 10, 1_000_000} {
		r := listTransactions(1, []int64{p.pid, q.pid})
		r.DurationFilterMillis = longer
		p.Say("longer than %d ms", longer).Send(r)
	}
	p.end(5, false)
	r := listTransactions(1, []int64{p.pid, q.pid})
	r.DurationFilterMillis = 10
	p.Say("of one that is over").Send(r)
}

func txnListPatterns(s *Session) {
	p, q := s.transactional("a", "p"), s.transactional("b", "q")
	p.begin(5)
	q.begin(5)
	ids := []int64{p.pid, q.pid}
	for _, pattern := range []string{"", ".*", "p", ".*p", ".*[pq]", s.Topic("p"), "(", "[", "a{2,1}", `\d`, ".*\\.p", "(?i).*P", "(?=p)", `(.)\1`} {
		r := listTransactions(2, ids)
		r.TransactionalIDPattern = &pattern
		p.Say("%q", strings.ReplaceAll(pattern, s.Name, "<name>")).Send(r)
	}
}

func txnDeletedTopic(s *Session) {
	p := s.transactional("a", "t")
	t, u := p.topic("t", 1), p.topic("u", 1)
	p.begin(5)
	p.add(5, t.name, 0)
	p.add(5, u.name, 0)
	p.Send(deleteTopics(5, u.name))
	p.awaitGone(u.name)
	p.verify(5, u.name, 0)
	p.describe()
	p.end(5, true)
	p.add(5, u.name, 0)
	p.describe()
}

// txnTimeout has the coordinator abort a transaction that takes too long.
func txnTimeout(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	p.Send(initTransactional(5, p.id, -1, -1, 1))
	r := p.Send(initTransactional(5, p.id, -1, -1, 1)).(*kmsg.InitProducerIDResponse)
	p.pid, p.epoch = r.ProducerID, r.ProducerEpoch
	p.add(5, t.name, 0)
	p.awaitEnd(false)
	p.describe()
	p.add(5, t.name, 1)
	p.Send(endTransaction(5, p.id, p.pid, p.epoch, true))
	p.Send(endTransaction(4, p.id, p.pid, p.epoch, false))
	p.Say("goes on").Send(initTransactional(5, p.id, p.pid, p.epoch, 60_000))
	p.begin(5)
	p.Send(describeProducers(t.name, 0))
	p.logged()
}

func txnTimeoutV1(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 1)
	r := p.Send(initTransactional(3, p.id, -1, -1, 1)).(*kmsg.InitProducerIDResponse)
	p.pid, p.epoch = r.ProducerID, r.ProducerEpoch
	p.add(3, t.name, 0)
	p.awaitEnd(false)
	p.Send(endTransaction(3, p.id, p.pid, p.epoch, true))
	p.Say("goes on").Send(initTransactional(3, p.id, p.pid, p.epoch, 60_000))
	p.describe()
}

// txnMarkers writes markers as an administrator does who aborts by hand.
func txnMarkers(s *Session, v int16) {
	c := s.Conn("a")
	t := c.topic("t", 3)
	id := c.producerID()
	c.Send(markers(v, marker(id, 0, 0, 0, false, t.name, 0)))
	c.Say("again").Send(markers(v, marker(id, 0, 0, 0, false, t.name, 0)))
	c.Say("two partitions, another that is not there").Send(markers(v, marker(id, 0, 0, 0, true, t.name, 1, 2, 9)))
	c.Say("no such topic").Send(markers(v, marker(id, 0, 0, 0, true, s.Topic("nosuch"), 0)))
	c.Say("two producers").Send(markers(v, marker(id, 1, 0, 0, true, t.name, 0), marker(1<<40, 0, 0, 0, true, t.name, 0)))
	c.Say("no partitions").Send(markers(v, marker(id, 1, 0, 0, true, t.name)))
	c.Say("none").Send(markers(v))
	c.Send(describeProducers(t.name, 0, 1, 2))
	c.listOffsets(5, t, 0, -1)
	c.Send(fetch(12, at(t, 0, 0)))
}

// txnMarkerEpochs holds markers against what a partition knows of the producer.
func txnMarkerEpochs(s *Session) {
	c := s.Conn("a")
	t := c.topic("t", 1)
	id := c.producerID()
	for _, m := range []struct {
		epoch       int16
		coordinator int32
		level       int8
	}{
		{5, 3, 0}, {5, 3, 0}, {4, 3, 0}, {5, 2, 0}, {5, 2, 2}, {5, 3, 2}, {4, 3, 2}, {6, 3, 2}, {6, 3, 2}, {6, 4, 1}, {7, 3, 0},
		{7, 4, 3}, {7, 4, -1}, {8, 5, 127}, {-1, 5, 0}, {32767, 5, 2}, {32767, 5, 2}, {8, -1, 0},
	} {
		c.Say("epoch %d coordinator %d version %d", m.epoch, m.coordinator, m.level).Send(markers(2, marker(id, m.epoch, m.coordinator, m.level, false, t.name, 0)))
	}
	c.Send(describeProducers(t.name, 0))
}

// txnMarkersOfGroups writes markers to a partition in which groups live.
func txnMarkersOfGroups(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	id := c.producerID()
	for _, v := range []int16{1, 2} {
		c.Send(markers(v, marker(id, 0, 0, 0, true, "__consumer_offsets", 0, 1, 1000)))
		c.Send(markers(v, marker(id, 0, -1, 0, true, "__consumer_offsets", 0)))
	}
}

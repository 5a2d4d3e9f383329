package oracle

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// transactionErrorSequences are requests for the coordinator of transactions with
// something wrong.
var transactionErrorSequences = slices.Concat(
	versions("txn/init-errors", 0, 5, txnInitErrors),
	versions("txn/add-errors", 0, 3, txnAddErrors),
	versions("txn/add-transactions-errors", 4, 5, txnAddTransactionsErrors),
	versions("txn/offsets-errors", 0, 4, txnOffsetsErrors),
	versions("txn/end-errors", 0, 5, txnEndErrors),
	[]sequence{
		{"txn/versions", txnVersions},
		{"txn/names", txnNames},
		{"txn/internal-topics", txnInternalTopics},
		{"txn/duplicates", txnDuplicates},
		{"txn/bodies", txnBodies},
		{"txn/numbers", txnNumbers},
		{"txn/overtaken", txnOvertaken},
		{"txn/add-no-transactions", txnAddNoTransactions},
	},
)

func txnInitErrors(s *Session, v int16) {
	p := s.transactional("a", "t")
	p.Say("empty id").Send(initTransactional(v, "", -1, -1, 60_000))
	for _, timeout := range []int32{0, -1, 900_000, 900_001, 2147483647} {
		p.Say("timeout %d", timeout).Send(initTransactional(v, p.id, -1, -1, timeout))
	}
	if v < 3 {
		return
	}
	p.begin(v)
	p.Say("id without epoch").Send(initTransactional(v, p.id, p.pid, -1, 60_000))
	p.Say("epoch without id").Send(initTransactional(v, p.id, -1, 0, 60_000))
	p.Say("negative").Send(initTransactional(v, p.id, -5, -7, 60_000))
	p.Say("largest epoch").Send(initTransactional(v, p.id, p.pid, 32767, 60_000))
	p.Say("largest epoch of another").Send(initTransactional(v, p.id, 1<<40, 32767, 60_000))
	p.Say("empty id, both given").Send(initTransactional(v, "", p.pid, p.epoch, 60_000))
	p.describe()
}

func txnAddErrors(s *Session, v int16) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	p.Say("unknown transactional id").Send(addPartitions(v, p.id, 1, 0, partitionsOf(t.name, 0)))
	p.Say("empty transactional id").Send(addPartitions(v, "", 1, 0, partitionsOf(t.name, 0)))
	p.begin(3)
	p.Say("wrong producer id").Send(addPartitions(v, p.id, 1<<40, p.epoch, partitionsOf(t.name, 0)))
	p.Say("epoch too high").Send(addPartitions(v, p.id, p.pid, p.epoch+1, partitionsOf(t.name, 0)))
	p.Say("negative epoch").Send(addPartitions(v, p.id, p.pid, -1, partitionsOf(t.name, 0)))
	p.Say("both wrong").Send(addPartitions(v, p.id, 1<<40, p.epoch+1, partitionsOf(t.name, 0)))
	p.Say("unknown topic").Send(addPartitions(v, p.id, p.pid, p.epoch, partitionsOf(s.Topic("nosuch"), 0)))
	p.Say("unknown topic beside a good one").Send(addPartitions(v, p.id, p.pid, p.epoch, partitionsOf(s.Topic("nosuch"), 0), partitionsOf(t.name, 0, 1)))
	p.Say("unknown partition").Send(addPartitions(v, p.id, p.pid, p.epoch, partitionsOf(t.name, 0, 9)))
	p.Say("negative partition").Send(addPartitions(v, p.id, p.pid, p.epoch, partitionsOf(t.name, -1)))
	p.Say("unknown topic, wrong epoch").Send(addPartitions(v, p.id, p.pid, p.epoch+1, partitionsOf(s.Topic("nosuch"), 0)))
	p.Say("a topic without partitions").Send(addPartitions(v, p.id, p.pid, p.epoch, partitionsOf(t.name)))
	p.Say("the empty topic").Send(addPartitions(v, p.id, p.pid, p.epoch, partitionsOf("", 0)))
	p.describe()
}

func txnAddTransactionsErrors(s *Session, v int16) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	for _, verify := range []bool{true, false} {
		s.Note("verify %v", verify)
		p.pid, p.epoch = 1, 0
		send := func(what, id string, pid int64, epoch int16, topic string, partitions ...int32) {
			p.Say("%s", what).Send(addTransactions(v, transactionOf(id, pid, epoch, verify, topic, partitions...)))
		}
		send("unknown transactional id", s.Topic("nosuch"), 1, 0, t.name, 0)
		send("empty transactional id", "", 1, 0, t.name, 0)
		p.begin(5)
		send("wrong producer id", p.id, 1<<40, p.epoch, t.name, 0)
		send("epoch too high", p.id, p.pid, p.epoch+1, t.name, 0)
		send("negative epoch", p.id, p.pid, -1, t.name, 0)
		send("unknown topic", p.id, p.pid, p.epoch, s.Topic("nosuch"), 0)
		send("unknown partition", p.id, p.pid, p.epoch, t.name, 0, 9)
		send("no partitions", p.id, p.pid, p.epoch, t.name)
		p.Say("a good one and a bad one").Send(addTransactions(v,
			transactionOf(s.Topic("nosuch"), 1, 0, verify, t.name, 0), transactionOf(p.id, p.pid, p.epoch, verify, t.name, 1)))
		p.describe()
		p.begin(5)
		if !verify {
			p.awaitEnd(false)
		}
	}
}

func txnOffsetsErrors(s *Session, v int16) {
	g := s.Topic("g")
	s.coordinator("g", g)
	p := s.transactional("a", "t")
	send := func(what, id string, pid int64, epoch int16) {
		r := At(v, kmsg.NewPtrAddOffsetsToTxnRequest())
		r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Group = id, pid, epoch, g
		p.Say("%s", what).Send(r)
	}
	send("unknown transactional id", p.id, 1, 0)
	send("empty transactional id", "", 1, 0)
	p.begin(3)
	send("wrong producer id", p.id, 1<<40, p.epoch)
	send("epoch too high", p.id, p.pid, p.epoch+1)
	send("negative epoch", p.id, p.pid, -1)
	p.describe()
}

func txnEndErrors(s *Session, v int16) {
	p := s.transactional("a", "t")
	t := p.topic("t", 1)
	for _, commit := range []bool{true, false} {
		p.Say("unknown transactional id").Send(endTransaction(v, s.Topic("nosuch"), 1, 0, commit))
		p.Say("empty transactional id").Send(endTransaction(v, "", 1, 0, commit))
		p.begin(4)
		if v < 5 || commit {
			p.Say("nothing was added").Send(endTransaction(v, p.id, p.pid, p.epoch, commit))
		}
		p.Say("wrong producer id").Send(endTransaction(v, p.id, 1<<40, p.epoch, commit))
		p.Say("epoch too high").Send(endTransaction(v, p.id, p.pid, p.epoch+1, commit))
		p.Say("epoch too low").Send(endTransaction(v, p.id, p.pid, p.epoch-1, commit))
		p.Say("both wrong").Send(endTransaction(v, p.id, 1<<40, p.epoch+1, commit))
		p.add(3, t.name, 0)
		p.Say("wrong producer id").Send(endTransaction(v, p.id, 1<<40, p.epoch, commit))
		p.Say("epoch too high").Send(endTransaction(v, p.id, p.pid, p.epoch+1, commit))
		p.Say("epoch too low").Send(endTransaction(v, p.id, p.pid, p.epoch-1, commit))
		p.Say("largest epoch").Send(endTransaction(v, p.id, p.pid, 32767, commit))
		p.Say("last epoch").Send(endTransaction(v, p.id, p.pid, 32766, commit))
		p.Say("smallest epoch").Send(endTransaction(v, p.id, p.pid, -32768, commit))
		p.describe()
		p.end(v, commit)
	}
}

// txnVersions are versions that there are not.
func txnVersions(s *Session) {
	for _, r := range []kmsg.Request{
		At(6, kmsg.NewPtrAddPartitionsToTxnRequest()), At(5, kmsg.NewPtrAddOffsetsToTxnRequest()), At(6, kmsg.NewPtrEndTxnRequest()),
		At(0, kmsg.NewPtrWriteTxnMarkersRequest()), At(3, kmsg.NewPtrWriteTxnMarkersRequest()), At(1, kmsg.NewPtrDescribeTransactionsRequest()),
		At(3, kmsg.NewPtrListTransactionsRequest()),
	} {
		s.Conn("a").Body("no such version", r, nil)
	}
}

// txnNames are transactional ids that nobody would choose.
func txnNames(s *Session) {
	p := s.transactional("a", "t")
	for _, name := range []string{" ", "a/b:c", "größer", "\x00", strings.Repeat("x", 32767)} {
		find := At(4, kmsg.NewPtrFindCoordinatorRequest())
		find.CoordinatorType, find.CoordinatorKeys = 1, []string{name}
		p.Say("%.10q", name).Send(find)
		r := p.Say("%.10q", name).Send(initTransactional(5, name, -1, -1, 60_000)).(*kmsg.InitProducerIDResponse)
		d := At(0, kmsg.NewPtrDescribeTransactionsRequest())
		d.TransactionalIDs = []string{name}
		p.Send(d)
		p.Send(listTransactions(1, []int64{r.ProducerID}))
	}
}

// txnInternalTopics are topics that clients may not write to.
func txnInternalTopics(s *Session) {
	s.coordinator("g", s.Topic("g"))
	p := s.transactional("a", "t")
	p.begin(5)
	for _, topic := range []string{"__consumer_offsets", transactionLog} {
		for _, v := range []int16{0, 3} {
			p.add(v, topic, 0)
		}
		p.verify(5, topic, 0)
		p.add(5, topic, 0)
		p.verify(5, topic, 0)
	}
	p.describe()
}

// txnDuplicates are requests that name something twice.
func txnDuplicates(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	p.begin(5)
	p.Say("a partition twice").Send(addPartitions(3, p.id, p.pid, p.epoch, partitionsOf(t.name, 0, 0)))
	p.Say("a partition twice").Send(addTransactions(5, transactionOf(p.id, p.pid, p.epoch, false, t.name, 1, 1)))
	r := At(0, kmsg.NewPtrDescribeTransactionsRequest())
	r.TransactionalIDs = []string{p.id, p.id}
	p.Say("an id twice").Send(r)
	p.Say("a state twice").Send(listTransactions(2, []int64{p.pid, p.pid}, "Ongoing", "Ongoing"))
	p.end(5, true)
}

// txnBodies are bodies with something missing.
func txnBodies(s *Session) {
	for _, r := range []kmsg.Request{
		At(5, kmsg.NewPtrAddPartitionsToTxnRequest()), At(0, kmsg.NewPtrAddPartitionsToTxnRequest()), At(4, kmsg.NewPtrAddOffsetsToTxnRequest()),
		At(5, kmsg.NewPtrEndTxnRequest()), At(2, kmsg.NewPtrWriteTxnMarkersRequest()), At(0, kmsg.NewPtrDescribeTransactionsRequest()),
		At(2, kmsg.NewPtrListTransactionsRequest()),
	} {
		s.Conn("a").Body("cut", r, []byte{0})
	}
}

func txnAddNoTransactions(s *Session) {
	c := s.Conn("a")
	c.patience = 5 * time.Second
	c.Send(addTransactions(5))
}

// txnNumbers are producer ids and epochs at the ends of what there is.
func txnNumbers(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 1)
	p.begin(5)
	for _, pid := range []int64{-1, -1 << 63, 1<<63 - 1} {
		for _, epoch := range []int16{-1, -32768, 32767} {
			p.Say("%d %d", pid, epoch).Send(addPartitions(3, p.id, pid, epoch, partitionsOf(t.name, 0)))
			p.Say("%d %d", pid, epoch).Send(endTransaction(5, p.id, pid, epoch, true))
			p.Say("%d %d", pid, epoch).Send(initTransactional(5, p.id, pid, epoch, 60_000))
			p.describe()
		}
	}
}

// txnOvertaken are two producers with one id, each of which believes to be the only one.
func txnOvertaken(s *Session) {
	p := s.transactional("a", "t")
	t := p.topic("t", 2)
	p.begin(5)
	first := *p
	p.begin(5)
	first.add(5, t.name, 0)
	first.add(3, t.name, 0)
	first.add(1, t.name, 0)
	p.add(5, t.name, 1)
	first.Send(endTransaction(5, p.id, first.pid, first.epoch, true))
	first.Send(endTransaction(1, p.id, first.pid, first.epoch, true))
	first.Send(initTransactional(5, p.id, first.pid, first.epoch, 60_000))
	p.awaitEnd(false)
	first.Send(initTransactional(3, p.id, first.pid, first.epoch, 60_000))
	p.Send(endTransaction(5, p.id, p.pid, p.epoch, true))
	p.describe()
}

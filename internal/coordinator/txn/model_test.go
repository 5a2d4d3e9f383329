package txn

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/kafka"

	"pgregory.net/rapid"
)

// world is a coordinator with clients, partitions and a network that delays and repeats
// what it carries, and loses it when the coordinator restarts.
type world struct {
	*rig
	t     *rapid.T
	level int16 // of the clients and of the cluster
	// incarnation is the leader epoch of the coordinator's partition.
	incarnation int32
	known       []credentials // all that clients have ever been given
	owners      map[kafka.ProducerID]string
	ends        map[credentials]State // how transactions were decided, by the credentials they had
	partitions  map[kafka.TopicPartition]map[kafka.ProducerID]*partitionState
	appends     []produced      // on their way to partitions
	markers     []markerRequest // on their way to partitions, also of earlier incarnations
	finished    int             // records whose transaction has ended
	shownSent   int
}

type credentials struct {
	id    string
	pid   kafka.ProducerID
	epoch kafka.ProducerEpoch
}

// produced is a record that the coordinator has let in.
type produced struct {
	credentials
	tp kafka.TopicPartition
}

// partitionState is what a partition knows of a producer.
type partitionState struct {
	epoch       kafka.ProducerEpoch
	coordinator int32
	open        []credentials // of the records of the open transaction
}

type markerRequest struct {
	m           Markers
	incarnation int32
	written     map[kafka.TopicPartition]bool
}

var modelPartitions = []kafka.TopicPartition{{Topic: "t", Partition: 0}, {Topic: "t", Partition: 1}, {Topic: "u", Partition: 0}}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, level: rapid.SampledFrom([]int16{0, 2}).Draw(t, "level"), owners: map[kafka.ProducerID]string{}, ends: map[credentials]State{}}
	w.partitions = map[kafka.TopicPartition]map[kafka.ProducerID]*partitionState{}
	for _, tp := range modelPartitions {
		w.partitions[tp] = map[kafka.ProducerID]*partitionState{}
	}
	s := defaults()
	s.Expiration = time.Hour
	w.rig = newRig(s)
	w.rig.level = w.level
	if rapid.Bool().Draw(t, "old") { // its epochs are nearly used up
		w.rig.Log = append(w.rig.Log, loggedState(&transaction{id: "a", producer: 500, previous: 500, next: -1, nextEpoch: -1,
			epoch: 32760, timeoutMs: 20_000, partitions: noPartitions(), updatedMs: beginning.UnixMilli(), startMs: noStart}))
		w.owners[500] = "a"
		w.rig.restart()
	}
	w.rig.replayed = w.step
	return w
}

// legal are the states from which each may be reached.
var legal = map[State][]State{
	Empty:         {Empty, CompleteCommit, CompleteAbort},
	Ongoing:       {Empty, Ongoing, CompleteCommit, CompleteAbort},
	PrepareCommit: {Ongoing}, CompleteCommit: {PrepareCommit},
	PrepareAbort: {Ongoing, Empty, CompleteCommit, CompleteAbort}, CompleteAbort: {PrepareAbort},
}

// step looks at each step of a transactional id.
func (w *world) step(before, after *transaction) {
	if after == nil {
		if before == nil || !before.state.over() {
			w.t.Fatalf("forgotten: %s", before.describe())
		}
		return
	}
	if again, err := read(after.id, after.value(valueVersion(w.level))); err != nil || (w.level > 0 && again.describe() != after.describe()) {
		w.t.Fatalf("the record says %s of %s, %v", again.describe(), after.describe(), err)
	}
	if owner, ok := w.owners[after.producer]; ok && owner != after.id {
		w.t.Fatalf("producer id %d of %s was given to %s", after.producer, owner, after.id)
	}
	w.owners[after.producer] = after.id
	if before == nil {
		return
	}
	switch {
	case !slices.Contains(legal[after.state], before.state):
		w.t.Fatalf("%s follows %s", after.describe(), before.describe())
	case after.producer == before.producer && after.epoch < before.epoch:
		w.t.Fatalf("an epoch falls: %s follows %s", after.describe(), before.describe())
	case after.producer != before.producer && before.epoch < lastEpoch:
		w.t.Fatalf("a producer id is given up: %s follows %s", after.describe(), before.describe())
	}
}

// decided notes how the transactions of the log were decided: each once.
func (w *world) decided() {
	w.ends = map[credentials]State{}
	var before *transaction
	last := map[string]*transaction{}
	for _, r := range w.rig.Log {
		id := string(r.Key[4:])
		if r.Value == nil {
			delete(last, id)
			continue
		}
		t, err := read(id, r.Value)
		if err != nil {
			w.t.Fatal(err)
		}
		before = last[id]
		last[id] = t
		if before == nil || !t.state.prepared() || before.state != Ongoing {
			continue
		}
		of := credentials{id, before.producer, before.epoch}
		if was, ok := w.ends[of]; ok && w.level >= 2 {
			w.t.Fatalf("%v was ended as %v, and again as %v", of, was, t.state)
		}
		w.ends[of] = t.state
	}
}

// collect takes over markers that the core wants sent: their decision has to be in the
// log, committed.
func (w *world) collect() {
	for ; w.shownSent < len(w.sent); w.shownSent++ {
		m := w.sent[w.shownSent]
		t, _ := w.ids.GetCommitted(m.TransactionalID)
		if t == nil || !t.state.prepared() || t.producer != m.ProducerID || t.epoch != m.Epoch || t.committed() != m.Commit {
			w.t.Fatalf("markers %+v are sent while %s", m, t.describe())
		}
		w.markers = append(w.markers, markerRequest{m, w.incarnation, map[kafka.TopicPartition]bool{}})
	}
}

func (w *world) credentials() credentials {
	if len(w.known) == 0 {
		return credentials{"a", 7, 0}
	}
	// Mostly the latest ones.
	n := len(w.known)
	back := rapid.IntRange(0, min(n-1, rapid.SampledFrom([]int{0, 0, 1, 3, n}).Draw(w.t, "age"))).Draw(w.t, "back")
	return w.known[n-1-back]
}

func (w *world) init() {
	r := InitProducerID{TransactionalID: rapid.SampledFrom([]string{"a", "b"}).Draw(w.t, "id"), TimeoutMs: 20_000, ProducerID: -1, Epoch: -1, Fresh: -1}
	if rapid.Bool().Draw(w.t, "continues") {
		c := w.credentials()
		r.TransactionalID, r.ProducerID, r.Epoch = c.id, c.pid, c.epoch
	}
	if w.NeedsProducerID(&r) {
		r.Fresh = w.newID()
	}
	w.Do(w.InitProducerID(w.Now, r, w.given(r.TransactionalID)))
}

func (w *world) given(id string) func(Producer) {
	return func(p Producer) {
		if p.Code == kafka.ErrNone && p.ID >= 0 {
			w.known = append(w.known, credentials{id, p.ID, p.Epoch})
		}
	}
}

func (w *world) add() {
	c, tp := w.credentials(), rapid.SampledFrom(modelPartitions).Draw(w.t, "partition")
	r := Partitions{TransactionalID: c.id, ProducerID: c.pid, Epoch: c.epoch, List: []kafka.TopicPartition{tp}, Client: w.level}
	w.Do(w.AddPartitions(w.Now, r, func(code kafka.ErrorCode) {
		if code == kafka.ErrNone {
			w.appends = append(w.appends, produced{c, tp})
		}
	}))
}

func (w *world) end() {
	c := w.credentials()
	r := End{TransactionalID: c.id, ProducerID: c.pid, Epoch: c.epoch, Commit: rapid.Bool().Draw(w.t, "commit"), Client: w.level, Fresh: -1}
	if w.EndNeedsProducerID(&r) {
		r.Fresh = w.newID()
	}
	w.Do(w.EndTransaction(w.Now, r, w.given(c.id)))
}

// produce has a record that was let in arrive at its partition, soon or late, or twice.
func (w *world) produce() {
	if len(w.appends) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.appends)-1).Draw(w.t, "append")
	a := w.appends[i]
	if !rapid.Bool().Draw(w.t, "comes again") {
		w.appends = slices.Delete(w.appends, i, i+1)
	}
	p := w.partition(a.tp, a.pid)
	if a.epoch < p.epoch || w.level < 2 { // clients of version 0 have no such protection, see the package comment
		return
	}
	p.epoch = a.epoch
	p.open = append(p.open, a.credentials)
}

func (w *world) partition(tp kafka.TopicPartition, pid kafka.ProducerID) *partitionState {
	p := w.partitions[tp][pid]
	if p == nil {
		p = &partitionState{epoch: -1, coordinator: -1}
		w.partitions[tp][pid] = p
	}
	return p
}

// mark has a marker arrive at one of its partitions; when all have theirs, the
// coordinator is told, if it is the one that sent them. Any of it may come again.
func (w *world) mark() {
	if len(w.markers) == 0 {
		return
	}
	q := w.markers[rapid.IntRange(0, len(w.markers)-1).Draw(w.t, "marker")]
	if len(q.m.Partitions) > 0 {
		tp := rapid.SampledFrom(q.m.Partitions).Draw(w.t, "of")
		w.writeMarker(tp, q)
	}
	if len(q.written) == len(q.m.Partitions) && q.incarnation == w.incarnation {
		w.Do(w.Complete(w.Now, q.m, func(kafka.ErrorCode) {}))
	}
}

func (w *world) writeMarker(tp kafka.TopicPartition, q markerRequest) {
	p, m := w.partition(tp, q.m.ProducerID), q.m
	stale := m.Epoch < p.epoch || m.TransactionVersion >= 2 && m.Epoch == p.epoch && len(p.open) > 0
	if p.coordinator > q.incarnation {
		return
	}
	q.written[tp] = true
	if stale {
		return
	}
	for _, of := range p.open {
		want := PrepareAbort
		if m.Commit {
			want = PrepareCommit
		}
		if end, ok := w.ends[of]; w.level >= 2 && (!ok || end != want) {
			w.t.Fatalf("%v: a record of %v, which was ended as %v, gets %+v", tp, of, end, m)
		}
		w.finished++
	}
	p.epoch, p.coordinator, p.open = m.Epoch, q.incarnation, nil
}

func (w *world) lose() {
	w.restart()
	w.incarnation++
	w.shownSent = 0
}

// same compares the state with one that is made of the log alone.
func (w *world) same() {
	if w.InFlight() > 0 {
		return
	}
	registry := timeline.NewRegistry()
	fresh := w.newCore(registry)
	registry.Direct(true)
	for _, r := range w.rig.Log {
		if err := fresh.Replay(r); err != nil {
			w.t.Fatal(err)
		}
	}
	states := func(c *Core) string {
		var all []string
		for id, t := range c.ids.All() {
			all = append(all, id+" "+t.describe())
		}
		slices.Sort(all)
		total, _ := c.total.Get(struct{}{})
		return fmt.Sprint(all, c.open.Len(), total)
	}
	if a, b := states(w.Core), states(fresh); a != b && w.level > 0 {
		w.t.Fatalf("in memory %s\nof the log %s", a, b)
	}
}

func (w *world) act() {
	switch rapid.IntRange(0, 15).Draw(w.t, "action") {
	case 0, 1:
		w.init()
	case 2, 3, 4:
		w.add()
	case 5, 6:
		w.end()
	case 7, 8:
		w.produce()
	case 9, 10, 11:
		w.mark()
	case 12:
		w.Pass(time.Duration(rapid.SampledFrom([]int{1, 11, 31, 4000}).Draw(w.t, "seconds")) * time.Second)
	case 13:
		w.Hold = true
	case 14:
		switch rapid.IntRange(0, 2).Draw(w.t, "how") {
		case 0:
			w.Hold = false
			w.Release()
		case 1:
			w.Expire()
		default:
			w.Hold = false
			w.Fail(kafka.ErrCoordinatorNotAvailable)
		}
	case 15:
		w.lose()
	}
}

// TestModel checks, whatever clients, network and disk do: epochs of a producer id only
// grow and it stays with its transactional id; a transaction ends once; markers follow
// a decision that is committed; with version 2 the records of a transaction get the
// end that was decided for it; what is in memory is what the log says; and when all is
// quiet, everything has ended.
func TestModel(t *testing.T) {
	finished := 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 120).Draw(t, "actions") {
			w.act()
			w.decided()
			w.collect()
			w.same()
		}
		w.settle()
		finished += w.finished
	})
	if finished == 0 {
		t.Error("no record of any run got an end")
	}
}

// settle lets all that is under way come to its end.
func (w *world) settle() {
	w.Hold = false
	w.Release()
	for range 3 {
		w.Pass(time.Minute)
		w.decided()
		w.collect()
		for i := range w.markers {
			q := w.markers[i]
			for _, tp := range q.m.Partitions {
				w.writeMarker(tp, q)
			}
			if q.incarnation == w.incarnation {
				w.Do(w.Complete(w.Now, q.m, func(kafka.ErrorCode) {}))
			}
		}
	}
	for id := range w.open.All() {
		w.t.Fatalf("%s is still open: %s", id, w.get(id).describe())
	}
	if len(w.sending) > 0 || len(w.Core.decided) > 0 {
		w.t.Fatalf("still sending %v, decided %v", w.sending, w.Core.decided)
	}
}

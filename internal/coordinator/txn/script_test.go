package txn

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestScripts runs the dialogues of testdata. Requests have a label (as=...), by which
// their answers are told, whenever they come. v2 is a client of transaction.version 2.
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		s := &stage{rig: newRig(defaults())}
		return s.run
	})
}

// stage is a rig with what was said since the last command.
type stage struct {
	*rig
	out   strings.Builder
	label int
	shown int // records of the log that were shown
	told  int // markers that were shown
}

func (s *stage) say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// run does one command and gives what was said.
func (s *stage) run(c script.Command) string {
	said, known := s.Command(c)
	if do, ok := commands[c.Name]; ok {
		do(s, c)
	} else if !known {
		return "no such command"
	}
	s.out.WriteString(said)
	for ; s.told < len(s.sent); s.told++ {
		m := s.sent[s.told]
		how := "abort"
		if m.Commit {
			how = "commit"
		}
		s.say("markers for %s: %s producer %d epoch %d version %d to %v", m.TransactionalID, how, m.ProducerID, m.Epoch, m.TransactionVersion, m.Partitions)
	}
	text := s.out.String()
	s.out.Reset()
	return text
}

var commands = map[string]func(*stage, script.Command){
	"init": (*stage).init, "add": (*stage).add, "verify": (*stage).verify, "end": (*stage).end, "written": (*stage).written,
	"show": (*stage).show, "describe": (*stage).describe, "list": (*stage).list, "census": (*stage).census, "open": (*stage).open,
	"restart": (*stage).restartCore, "log": (*stage).showLog, "level": (*stage).setLevel, "put": (*stage).put,
}

// as is the label of a request.
func (s *stage) as(c script.Command) string {
	if as, ok := c.Args["as"]; ok {
		return as
	}
	s.label++
	return fmt.Sprintf("r%d", s.label)
}

func client(c script.Command) int16 {
	if c.Has("v2") {
		return 2
	}
	return 0
}

func partitions(text string) (list []kafka.TopicPartition) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		i := strings.LastIndexByte(word, '-')
		n, err := strconv.Atoi(word[i+1:])
		if err != nil {
			panic(err)
		}
		list = append(list, kafka.TopicPartition{Topic: word[:i], Partition: int32(n)})
	}
	return list
}

func (s *stage) answer(as, what string) func(Producer) {
	return func(p Producer) {
		if p.Code != kafka.ErrNone {
			s.say("%s: %s %v", as, what, p.Code)
			return
		}
		s.say("%s: %s producer %d epoch %d", as, what, p.ID, p.Epoch)
	}
}

func (s *stage) init(c script.Command) {
	r := InitProducerID{
		TransactionalID: c.Word(0), TimeoutMs: int32(c.Int("timeout", 60_000)),
		ProducerID: kafka.ProducerID(c.Int("id", -1)), Epoch: kafka.ProducerEpoch(c.Int("epoch", -1)), Fresh: kafka.NoProducerID,
	}
	if s.NeedsProducerID(&r) {
		r.Fresh = s.newID()
	}
	s.Do(s.InitProducerID(s.Now, r, s.answer(s.as(c), "init")))
}

func (s *stage) add(c script.Command) {
	as := s.as(c)
	s.Do(s.AddPartitions(s.Now, s.partitions(c), func(code kafka.ErrorCode) { s.say("%s: add %v", as, code) }))
}

func (s *stage) partitions(c script.Command) Partitions {
	return Partitions{
		TransactionalID: c.Word(0), ProducerID: kafka.ProducerID(c.Int("id", 1000)), Epoch: kafka.ProducerEpoch(c.Int("epoch", 0)),
		List: partitions(c.Word(1)), Client: client(c),
	}
}

func (s *stage) verify(c script.Command) {
	as, r := s.as(c), s.partitions(c)
	s.Do(s.Verify(r, func(codes []kafka.ErrorCode) {
		for i, code := range codes {
			s.say("%s: verify %v %v", as, r.List[i], code)
		}
	}))
}

func (s *stage) end(c script.Command) {
	r := End{
		TransactionalID: c.Word(0), ProducerID: kafka.ProducerID(c.Int("id", 1000)), Epoch: kafka.ProducerEpoch(c.Int("epoch", 0)),
		Commit: c.Has("commit"), Client: client(c), Fresh: kafka.NoProducerID,
	}
	if s.EndNeedsProducerID(&r) {
		r.Fresh = s.newID()
	}
	s.Do(s.EndTransaction(s.Now, r, s.answer(s.as(c), "end")))
}

// written says that the markers are written: all that were sent, or the n-th.
func (s *stage) written(c script.Command) {
	list := s.sent
	if text := c.Word(0); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		list = s.sent[n : n+1]
	}
	for _, m := range list {
		s.Do(s.Complete(s.Now, m, func(code kafka.ErrorCode) { s.say("%s: complete %v", m.TransactionalID, code) }))
	}
}

func (s *stage) show(c script.Command) { s.say("%s", s.get(c.Word(0)).describe()) }

func (s *stage) describe(c script.Command) {
	d := s.Describe(c.Word(0))
	if d.ErrorCode != 0 {
		s.say("%v", kafka.ErrorCode(d.ErrorCode))
		return
	}
	s.say("%s timeout %d start %d producer %d epoch %d", d.State, d.TimeoutMillis, d.StartTimestamp, d.ProducerID, d.ProducerEpoch)
	for _, t := range d.Topics {
		s.say("  %s %v", t.Topic, t.Partitions)
	}
}

func (s *stage) list(c script.Command) {
	r := kmsg.NewPtrListTransactionsRequest()
	r.DurationFilterMillis = c.Int("longer", -1)
	split := func(key string) []string {
		return strings.FieldsFunc(c.Args[key], func(r rune) bool { return r == ',' })
	}
	r.StateFilters = split("states")
	for _, text := range split("producers") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic(err)
		}
		r.ProducerIDFilters = append(r.ProducerIDFilters, n)
	}
	if p, ok := c.Args["pattern"]; ok {
		r.TransactionalIDPattern = &p
	}
	f, code := NewFilter(r)
	if code != kafka.ErrNone {
		s.say("%v", code)
		return
	}
	if len(f.Unknown) > 0 {
		s.say("unknown states %v", f.Unknown)
	}
	for _, t := range s.List(s.Now, &f) {
		s.say("%s producer %d %s", t.TransactionalID, t.ProducerID, t.TransactionState)
	}
}

func (s *stage) census(script.Command) {
	ids := s.Census()
	for _, state := range States() {
		if ids[state] > 0 {
			s.say("%s %d", state, ids[state])
		}
	}
}

func (s *stage) open(script.Command) {
	for _, o := range s.Open() {
		s.say("%s producer %d epoch %d %s since %+d timeout %v partitions %d", o.TransactionalID, o.ProducerID, o.Epoch, o.State, o.Since.Sub(beginning).Milliseconds(), o.Timeout, o.Partitions)
	}
}

func (s *stage) restartCore(script.Command) { s.told = 0; s.restart() }
func (s *stage) setLevel(c script.Command)  { s.level = int16(c.Int("to", 2)) }

// showLog shows the records since it was last asked for.
func (s *stage) showLog(script.Command) {
	s.shown = min(s.shown, len(s.rig.Log))
	for _, r := range s.rig.Log[s.shown:] {
		id := string(r.Key[4:])
		if r.Value == nil {
			s.say("%s tombstone", id)
			continue
		}
		t, err := read(id, r.Value)
		if err != nil {
			panic(err)
		}
		s.say("%s v%d: %s", id, r.Value[1], t.describe())
	}
	s.shown = len(s.rig.Log)
}

// put writes a state that another server has written, and restarts.
func (s *stage) put(c script.Command) {
	t := &transaction{
		id: c.Word(0), producer: kafka.ProducerID(c.Int("id", 1000)), epoch: kafka.ProducerEpoch(c.Int("epoch", 0)),
		previous: kafka.ProducerID(c.Int("previous", -1)), next: kafka.ProducerID(c.Int("next", -1)), nextEpoch: -1,
		timeoutMs: int32(c.Int("timeout", 60_000)), partitions: noPartitions(), updatedMs: s.Now.UnixMilli(), startMs: noStart, client: client(c),
	}
	for n, name := range stateNames {
		if name == c.Word(1) {
			t.state = State(n)
		}
	}
	if t.state != Empty {
		t.startMs = s.Now.UnixMilli()
	}
	for _, tp := range partitions(c.Args["partitions"]) {
		t.partitions.Set(nil, tp, struct{}{})
	}
	s.rig.Log = append(s.rig.Log, loggedState(t))
	s.told = 0
	s.restart()
}

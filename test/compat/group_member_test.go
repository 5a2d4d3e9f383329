package compat

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// conditionLimit bounds each wait for something that a member does.
const conditionLimit = 30 * time.Second

// ask is a command to a member; member/protocol.go says what the fields mean.
type ask struct {
	Do        string `json:"do"`
	Bootstrap string `json:"bootstrap"`
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Instance  string `json:"instance"`
	Assignor  string `json:"assignor"`
	Reset     string `json:"reset"`
	AutoMs    int    `json:"auto_ms"`
	SessionMs int    `json:"session_ms"`
	Async     bool   `json:"async"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// told is an event of a member.
type told struct {
	Event      string          `json:"event"`
	Partitions []int32         `json:"partitions"`
	Generation int32           `json:"generation"`
	Partition  int32           `json:"partition"`
	Offset     int64           `json:"offset"`
	Value      string          `json:"value"`
	Offsets    map[int32]int64 `json:"offsets"`
	Text       string          `json:"text"`
}

// member is a running client program that is, or may become, a member of a group.
type member struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr lockedText
	killed bool
	ended  chan struct{} // closed when the output has ended
	mu     sync.Mutex
	events []told // guarded by mu; all since the start
	joined int    // guarded by mu; where the events of the last join begin
}

// idleMembers are programs that left their group and can join another.
type idleMembers struct {
	mu   sync.Mutex
	list []*member // guarded by mu
}

// take returns an idle program, else starts one. When the test ends it is idle again
// if it has left its group, else it is killed.
func (i *idleMembers) take(t *testing.T, c groupClient, name string) *member {
	t.Helper()
	i.mu.Lock()
	var m *member
	if n := len(i.list); n > 0 {
		m, i.list = i.list[n-1], i.list[:n-1]
	}
	i.mu.Unlock()
	if m == nil {
		m = startMember(t, c)
	}
	m.t, m.name = t, name
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s of %s told:\n%s\nand on standard error:\n%s", name, c.name, m.story(), m.stderr.text())
		}
		if events := m.all(); t.Failed() || m.killed || len(events) == 0 || events[len(events)-1].Event != "left" {
			m.kill()
			return
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		i.list = append(i.list, m)
	})
	return m
}

// end kills all idle programs.
func (i *idleMembers) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, m := range i.list {
		m.kill()
	}
	i.list = nil
}

// startMember starts a client's program.
func startMember(t *testing.T, c groupClient) *member {
	t.Helper()
	m := &member{t: t, name: c.name, cmd: exec.Command(c.command[0], c.command[1:]...), ended: make(chan struct{})}
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	m.cmd.Stderr = &m.stderr
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go m.read(out)
	m.until("is ready", func() bool { return m.count("ready") > 0 })
	return m
}

// lockedText collects what a program writes while others look at it.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder // guarded by mu
}

// shownOfStderr is how much of what a program wrote is kept.
const shownOfStderr = 4000

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() < shownOfStderr {
		l.b.Write(b)
	}
	return len(b), nil
}

func (l *lockedText) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (m *member) read(out io.Reader) {
	defer close(m.ended)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var e told
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			e = told{Event: "error", Text: "not an event: " + lines.Text()}
		}
		m.mu.Lock()
		m.events = append(m.events, e)
		m.mu.Unlock()
	}
}

// kill ends the program without a word to the broker.
func (m *member) kill() {
	if m.killed {
		return
	}
	m.killed = true
	m.cmd.Process.Kill() // it may have ended by itself
	<-m.ended
	m.cmd.Wait() // it was killed
}

// shownEvents is how many of a member's last events a failed test shows.
const shownEvents = 40

func (m *member) story() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, e := range m.events[max(0, len(m.events)-shownEvents):] {
		fmt.Fprintf(&b, "  %+v\n", e)
	}
	return b.String()
}

func (m *member) tell(a ask) {
	m.t.Helper()
	line, err := json.Marshal(a)
	if err == nil {
		_, err = m.in.Write(append(line, '\n'))
	}
	if err != nil {
		m.t.Fatalf("%s: %s: %v", m.name, a.Do, err)
	}
}

// all are the events since the last join.
func (m *member) all() []told {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events[m.joined:])
}

func (m *member) count(event string) (n int) {
	for _, e := range m.all() {
		if e.Event == event {
			n++
		}
	}
	return n
}

// until waits for a condition.
func (m *member) until(what string, holds func() bool) {
	m.t.Helper()
	waitFor(m.t, m.name+" "+what, holds)
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(conditionLimit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in %v: %s", conditionLimit, what)
		}
	}
}

// does tells a command and waits for its answer.
func (m *member) does(a ask, answer string) told {
	m.t.Helper()
	before := m.count(answer)
	m.tell(a)
	m.until(answer, func() bool { return m.count(answer) > before })
	var last told
	for _, e := range m.all() {
		if e.Event == answer {
			last = e
		}
	}
	return last
}

func (m *member) join(a ask) {
	m.t.Helper()
	m.mu.Lock()
	m.joined = len(m.events)
	m.mu.Unlock()
	a.Do = "join"
	m.tell(a)
}

// owns is what the member owns, and the generation in which it got it.
func (m *member) owns() (partitions []int32, generation int32) {
	for _, e := range m.all() {
		if e.Event == "owns" {
			partitions, generation = e.Partitions, e.Generation
		}
	}
	return partitions, generation
}

// record is a record that a member read.
type record struct {
	partition int32
	offset    int64
}

// read are the records of events from a place in them on.
func (m *member) readSince(from int) []record {
	m.t.Helper()
	var out []record
	for _, e := range m.all()[from:] {
		if e.Event != "record" {
			continue
		}
		if e.Value != groupValue(e.Partition, e.Offset) {
			m.t.Fatalf("%s: partition %d offset %d has value %q", m.name, e.Partition, e.Offset, e.Value)
		}
		out = append(out, record{e.Partition, e.Offset})
	}
	return out
}

// mark is a place in the events.
func (m *member) mark() int { return len(m.all()) }

// hasRead says whether the member read the offsets [from, to) of each of the
// partitions after a mark, all of them in order.
func (m *member) hasRead(since int, partitions []int32, from, to int64) bool {
	next := map[int32]int64{}
	for _, p := range partitions {
		next[p] = from
	}
	for _, r := range m.readSince(since) {
		if want, ok := next[r.partition]; ok && r.offset == want {
			next[r.partition]++
		}
	}
	return !slices.ContainsFunc(slices.Collect(maps.Values(next)), func(n int64) bool { return n < to })
}

// firstRead is the first offset of a partition that was read after a mark, -1 if none.
func (m *member) firstRead(since int, partition int32) int64 {
	for _, r := range m.readSince(since) {
		if r.partition == partition {
			return r.offset
		}
	}
	return -1
}

// fails if the member told of an error.
func (m *member) noErrors() {
	m.t.Helper()
	for _, e := range m.all() {
		if e.Event == "error" {
			m.t.Errorf("%s: %s", m.name, e.Text)
		}
	}
}

// memberProgram builds the program of the members in Go.
func memberProgram(t *testing.T) string {
	t.Helper()
	file := t.TempDir() + "/member"
	cmd := exec.Command("go", "build", "-o", file, "./member")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the members: %v\n%s", err, out)
	}
	return file
}

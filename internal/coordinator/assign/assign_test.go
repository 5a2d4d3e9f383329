package assign

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"barnabas/internal/kafka"
)

// lines of a file of vectors (testdata/Vectors.java).
func lines(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		out = append(out, s.Text())
	}
	if s.Err() != nil || len(out) == 0 {
		t.Fatalf("%s: %d lines, %v", name, len(out), s.Err())
	}
	return out
}

func uuid(t *testing.T, text string) kafka.UUID {
	t.Helper()
	u, err := kafka.ParseUUID(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func assignment(t *testing.T, text string) Assignment {
	t.Helper()
	if text == "-" {
		return nil
	}
	var a Assignment
	for part := range strings.SplitSeq(text, ";") {
		topic, list, _ := strings.Cut(part, ":")
		p := Partitions{Topic: uuid(t, topic)}
		for n := range strings.SplitSeq(list, ",") {
			i, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			p.Numbers = append(p.Numbers, int32(i))
		}
		slices.Sort(p.Numbers)
		a = append(a, p)
	}
	return a
}

func TestAssignorsGiveWhatApacheGives(t *testing.T) {
	var (
		name  string
		g     Group
		count map[kafka.UUID]int32
		want  []Assignment
		cases int
	)
	for _, line := range lines(t, "assign.txt") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			cases++
			check(t, cases, name, &g, want)
		case f[0] == "case":
			name, want, count = f[1], nil, map[kafka.UUID]int32{}
			g = Group{Homogeneous: f[2] == "homogeneous", Count: func(topic kafka.UUID) int32 {
				if n, ok := count[topic]; ok {
					return n
				}
				return -1
			}}
		case f[0] == "topic":
			n, err := strconv.Atoi(f[2])
			if err != nil {
				t.Fatal(err)
			}
			count[uuid(t, f[1])] = int32(n)
		case f[0] == "member":
			m := Member{ID: f[1], Owned: assignment(t, f[4])}
			if f[2] != "-" {
				m.Instance = &f[2]
			}
			if f[3] != "-" {
				for topic := range strings.SplitSeq(f[3], ",") {
					m.Topics = append(m.Topics, uuid(t, topic))
				}
			}
			g.Members = append(g.Members, m)
		case f[0] == "gets":
			want = append(want, assignment(t, f[1]))
		}
	}
	if cases < 100 {
		t.Errorf("only %d cases", cases)
	}
}

func check(t *testing.T, n int, name string, g *Group, want []Assignment) {
	t.Helper()
	before := fmt.Sprint(g.Members)
	got, err := ByName(name)(g)
	if err != nil {
		t.Fatalf("case %d, %s: %v", n, name, err)
	}
	for i := range g.Members {
		if !got[i].Equal(want[i]) {
			t.Fatalf("case %d, %s: %s gets %v, Apache gives %v", n, name, g.Members[i].ID, got[i], want[i])
		}
	}
	if after := fmt.Sprint(g.Members); after != before {
		t.Fatalf("case %d, %s: the assignor has changed what it was given", n, name)
	}
}

// TestOrderIsThatOfJavasMaps compares the order in which keys are walked over.
func TestOrderIsThatOfJavasMaps(t *testing.T) {
	var names, numbers []string
	var ids []kafka.UUID
	kind := ""
	for _, line := range lines(t, "order.txt") {
		f := strings.Fields(line)
		list, got := f[1:], []string(nil)
		switch what := f[0]; {
		case what == "names":
			kind, names = what, list
			continue
		case what == "ids":
			kind, ids = what, nil
			for _, text := range list {
				ids = append(ids, uuid(t, text))
			}
			continue
		case what == "numbers":
			kind, numbers = what, list
			continue
		case what == "timeline":
			table := uint32(0)
			for n := range len(names) + 1 {
				table = TimelineTable(table, n)
			}
			got = TimelineOrder(names, table)
		case kind == "names" && what == "map":
			got = MapOfNames(names)
		case kind == "names" && what == "set":
			got = SetOfNames(names)
		case kind == "ids":
			for _, id := range MapOfTopics(ids) {
				got = append(got, id.String())
			}
		case kind == "numbers":
			got = hashOrder(numbers, func(s string) uint32 {
				n, _ := strconv.Atoi(s)
				return javaInt(int32(n))
			}, copiedTable(len(numbers), len(numbers)))
		}
		if !slices.Equal(got, list) {
			t.Fatalf("%s %s:\n got %v\nwant %v", kind, f[0], got, list)
		}
	}
}

// TestUniformIsEvenAndSticky checks what the assignor promises, on groups of which
// no vectors are.
func TestUniformIsEvenAndSticky(t *testing.T) {
	topic := kafka.UUID{15: 200}
	g := &Group{Homogeneous: true, Count: func(kafka.UUID) int32 { return 1000 }}
	for i := range 300 {
		g.Members = append(g.Members, Member{ID: fmt.Sprint("m", i), Topics: []kafka.UUID{topic}})
	}
	first, err := Uniform(g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Members {
		if n := first[i].Len(); n < 3 || n > 4 {
			t.Fatalf("member %d has %d partitions", i, n)
		}
		g.Members[i].Owned = first[i]
	}
	again, err := Uniform(g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again {
		if !again[i].Equal(first[i]) {
			t.Fatalf("member %d: %v, then %v", i, first[i], again[i])
		}
	}
}

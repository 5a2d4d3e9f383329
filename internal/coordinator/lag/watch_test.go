package lag

import (
	"fmt"
	"testing"
	"time"

	"barnabas/internal/kafka"
)

var start = time.UnixMilli(0)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func sample(group string, committed, end kafka.Offset, alive bool) Sample {
	return Sample{Key: Key{group, kafka.TopicPartition{Topic: "t"}}, Committed: committed, End: end, Alive: alive}
}

func (w *Watch) text() string {
	out := ""
	for _, r := range w.Rows() {
		out += fmt.Sprintf("%s %d %v %v;", r.Group, r.Lag(), r.Behind, r.Stuck())
	}
	return out
}

func TestLagAndStuckPartitions(t *testing.T) {
	w := New(10)
	for _, step := range []struct {
		second  int
		samples []Sample
		want    string
	}{
		{0, []Sample{sample("g", 5, 5, true)}, "g 0 0s false;"},
		{10, []Sample{sample("g", 5, 8, true)}, "g 3 0s false;"},
		{20, []Sample{sample("g", 5, 9, true)}, "g 4 10s false;"},
		{30, []Sample{sample("g", 8, 9, true)}, "g 1 10s false;"},
		{80, []Sample{sample("g", 8, 9, true)}, "g 1 1m0s false;"},
		{90, []Sample{sample("g", 8, 9, true)}, "g 1 1m10s true;"},
		{100, []Sample{sample("g", 8, 9, false)}, "g 1 1m20s false;"}, // nobody is there to read
		{110, []Sample{sample("g", 9, 9, true), sample("h", 0, 9, true)}, "g 0 0s false;h 9 1m50s false;"},
		{180, []Sample{sample("h", 3, 9, true)}, "h 6 3m0s false;"}, // it moves
		{190, nil, ""},
	} {
		w.Observe(at(step.second), step.samples, 0)
		if got := w.text(); got != step.want {
			t.Errorf("at %d: %s, want %s", step.second, got, step.want)
		}
	}
}

// TestRowsAreBounded: of groups that do not all fit, whole ones are kept, those with
// members first.
func TestRowsAreBounded(t *testing.T) {
	w := New(3)
	inPartition := func(group string, partition int32, members bool) Sample {
		s := sample(group, 0, 1, false)
		s.Partition, s.Members = partition, members
		return s
	}
	w.Observe(start, []Sample{inPartition("a", 0, false), inPartition("b", 0, false), inPartition("c", 0, true), inPartition("d", 0, true),
		inPartition("d", 1, true), inPartition("d", 2, true), inPartition("e", 0, false)}, 5)
	if got := w.text(); got != "a 1 0s false;b 1 0s false;c 1 0s false;" || w.Dropped() != 4+5 {
		t.Errorf("%s, %d dropped", got, w.Dropped())
	}
}

func TestHistoryForgetsByAge(t *testing.T) {
	var h history
	for i := range 1000 {
		h.note(at(i), kafka.Offset(i))
	}
	if len(h.steps) > maxSteps {
		t.Fatalf("%d steps", len(h.steps))
	}
	if since, _ := h.since(998); since != at(999) {
		t.Errorf("the newest step is at %v", since)
	}
	for _, offset := range []kafka.Offset{0, 10, 100, 500, 900} {
		since, ok := h.since(offset)
		if truth, told := 1000-int(offset), 1000-int(since.Sub(start).Seconds()); !ok || told > truth || told < truth*8/10 {
			t.Errorf("behind since %ds, want about %ds", told, truth)
		}
	}
	if _, behind := h.since(999); behind {
		t.Error("behind the end")
	}
}

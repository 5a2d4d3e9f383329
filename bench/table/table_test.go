package table

import (
	"strings"
	"testing"
)

func TestRatiosAreTakenInsidePairs(t *testing.T) {
	tb := Table{Theirs: "Apache", Ours: "Barnabas"}
	row := Row{Workload: "w", What: "CPU", Unit: "s", Goal: Goal{RatioAtMost: 0.5}}
	tb.Add(row, 100, 50, false)
	tb.Add(row, 10, 4, true)
	tb.Add(row, 1000, 550, false)
	var out strings.Builder
	if err := tb.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := `| workload | what | Apache | Barnabas | ratio | min-max   | unit | goal            | pairs | noisy |
|----------|------|--------|----------|-------|-----------|------|-----------------|-------|-------|
| w        | CPU  | 100    | 50.0     | 0.50  | 0.40-0.55 | s    | ratio ≤ 0.5 met | 3     | 1     |
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestGoals(t *testing.T) {
	one := func(v float64) summary { return summary{v, v, v} }
	for _, c := range []struct {
		goal        Goal
		ratio, ours summary
		want        string
	}{
		{Goal{}, one(9), one(9), ""},
		{Goal{RatioAtMost: 0.5}, one(0.6), one(9), "ratio ≤ 0.5 MISSED"},
		{Goal{RatioAtMost: 0.5}, summary{0.4, 0.1, 0.7}, one(9), "ratio ≤ 0.5 MISSED"},
		{Goal{RatioAtLeast: 3}, one(3), one(9), "ratio ≥ 3 met"},
		{Goal{RatioAtLeast: 3}, summary{4, 2, 5}, one(9), "ratio ≥ 3 MISSED"},
		{Goal{OursAtMost: 30}, one(9), one(29), "ours ≤ 30 met"},
		{Goal{OursAtMost: 30}, one(9), one(31), "ours ≤ 30 MISSED"},
	} {
		if got := c.goal.judge(c.ratio, c.ours); got != c.want {
			t.Errorf("%+v: %q, want %q", c.goal, got, c.want)
		}
	}
}

func TestMedianOfAnEvenNumberIsBetween(t *testing.T) {
	if s := summarize([]float64{4, 1, 3, 2}); s != (summary{2.5, 1, 4}) {
		t.Error(s)
	}
}

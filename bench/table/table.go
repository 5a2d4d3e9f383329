package table

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Row is one line: what is measured, in which unit.
type Row struct {
	Workload string
	What     string
	Unit     string
	Goal     Goal
}

// Table has the readings of all rows, in the order in which rows were first
// added.
type Table struct {
	Theirs, Ours string // names of the two sides
	NoGoals      bool   // goals are for another comparison
	lines        []*line
}

type line struct {
	Row
	theirs, ours, ratios []float64
	noisy                int
}

// Add adds one pair of readings. Noisy says that others kept the machine busy
// during either.
func (t *Table) Add(row Row, theirs, ours float64, noisy bool) {
	l := t.line(row)
	l.theirs = append(l.theirs, theirs)
	l.ours = append(l.ours, ours)
	if theirs > 0 {
		l.ratios = append(l.ratios, ours/theirs)
	}
	if noisy {
		l.noisy++
	}
}

func (t *Table) line(row Row) *line {
	for _, l := range t.lines {
		if l.Row == row {
			return l
		}
	}
	l := &line{Row: row}
	t.lines = append(t.lines, l)
	return l
}

// Print writes the table in Markdown, aligned to be read as it is.
func (t *Table) Print(w io.Writer) error {
	cells := [][]string{{"workload", "what", t.Theirs, t.Ours, "ratio", "min-max", "unit", "goal", "pairs", "noisy"}}
	for i, l := range t.lines {
		workload, goal := l.Workload, l.Goal
		if t.NoGoals {
			goal = Goal{}
		}
		if i > 0 && t.lines[i-1].Workload == workload {
			workload = ""
		}
		theirs, ours, ratio := summarize(l.theirs), summarize(l.ours), summarize(l.ratios)
		cells = append(cells, []string{workload, l.What, number(theirs.median), number(ours.median), number(ratio.median),
			number(ratio.low) + "-" + number(ratio.high), l.Unit, goal.judge(ratio, ours), fmt.Sprint(len(l.ours)), fmt.Sprint(l.noisy)})
	}
	_, err := io.WriteString(w, render(cells))
	return err
}

// render aligns cells; the first row is the head.
func render(cells [][]string) string {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var out strings.Builder
	for n, row := range cells {
		for i, c := range row {
			out.WriteString("| " + c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+1))
		}
		out.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				out.WriteString("|" + strings.Repeat("-", width+2))
			}
			out.WriteString("|\n")
		}
	}
	return out.String()
}

// number shows three digits that mean something.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}

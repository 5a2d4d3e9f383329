package metrics

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	dashboard = "../../contrib/grafana/barnabas.json"
	alerts    = "../../contrib/prometheus/alerts.yml"
	operate   = "../../docs/operate.md"
)

var metricName = regexp.MustCompile(`\b(?:kafka|barnabas|process|go|node)_[a-z0-9_]+`)

// others are metrics of the Go runtime, the process and node_exporter.
var others = map[string]bool{
	"process_resident_memory_bytes": true, "process_cpu_seconds_total": true, "go_memstats_heap_inuse_bytes": true,
	"node_filesystem_avail_bytes": true,
}

// served says whether /metrics has a metric of that name.
func served(name string) bool {
	if others[name] {
		return true
	}
	for _, m := range Table() {
		if m.Name == name {
			return true
		}
		if base, ok := strings.CutPrefix(name, m.Name); ok && m.Kind == Histogram && (base == "_bucket" || base == "_sum" || base == "_count") {
			return true
		}
	}
	return false
}

// TestDashboardNamesWhatIsServed: each query of the dashboard names metrics of ours.
func TestDashboardNamesWhatIsServed(t *testing.T) {
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	queries := 0
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			queries++
			names := metricName.FindAllString(q.Expr, -1)
			if len(names) == 0 || !balanced(q.Expr) {
				t.Errorf("panel %q: query %q", p.Title, q.Expr)
			}
			for _, name := range names {
				if !served(name) {
					t.Errorf("panel %q: /metrics has no %s", p.Title, name)
				}
			}
		}
	}
	if queries < 30 {
		t.Errorf("only %d queries were found", queries)
	}
}

// TestAlertsNameWhatIsServed, and docs/operate.md says what to do about each.
func TestAlertsNameWhatIsServed(t *testing.T) {
	rules, err := os.ReadFile(alerts)
	if err != nil {
		t.Fatal(err)
	}
	advice, err := os.ReadFile(operate)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(rules)) {
		key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- ")), ": ")
		switch key {
		case "alert":
			count++
			if !strings.Contains(string(advice), "`"+value+"`") {
				t.Errorf("docs/operate.md does not say what to do about %s", value)
			}
		case "expr":
			names := metricName.FindAllString(value, -1)
			if len(names) == 0 || !balanced(value) {
				t.Errorf("expression %q", value)
			}
			for _, name := range names {
				if !served(name) {
					t.Errorf("/metrics has no %s", name)
				}
			}
		}
	}
	if count < 10 {
		t.Errorf("only %d alerts were found", count)
	}
	for _, name := range metricName.FindAllString(string(advice), -1) {
		if !served(name) {
			t.Errorf("docs/operate.md: /metrics has no %s", name)
		}
	}
}

// TestComposeMountsWhatIsThere: the files that the example mounts are in contrib, and
// each of its configs is defined and used.
func TestComposeMountsWhatIsThere(t *testing.T) {
	const example = "../../contrib/compose/compose.yml"
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	mounts := regexp.MustCompile(`"(\.\./[^:"]+):`).FindAllStringSubmatch(string(text), -1)
	for _, m := range mounts {
		if _, err := os.Stat(filepath.Join(filepath.Dir(example), m[1])); err != nil {
			t.Error(err)
		}
	}
	used := regexp.MustCompile(`\{source: ([a-z]+),`).FindAllStringSubmatch(string(text), -1)
	for _, m := range used {
		if !strings.Contains(string(text), "\n  "+m[1]+":\n    content: |\n") {
			t.Errorf("config %s is not defined", m[1])
		}
	}
	if len(mounts) != 2 || len(used) != 3 {
		t.Errorf("%d mounts and %d configs were found", len(mounts), len(used))
	}
}

// balanced says whether brackets and quotes of an expression close.
func balanced(expr string) bool {
	var open []rune
	pairs := map[rune]rune{')': '(', ']': '[', '}': '{'}
	quotes := 0
	for _, r := range expr {
		switch {
		case r == '"':
			quotes++
		case quotes%2 == 1:
		case strings.ContainsRune("([{", r):
			open = append(open, r)
		case pairs[r] != 0:
			if len(open) == 0 || open[len(open)-1] != pairs[r] {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0 && quotes%2 == 0
}

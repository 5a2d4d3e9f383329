package metrics

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the table into the document")

const document = "../../docs/design/metrics.md"

// page is the table as the document has it.
func page() string {
	var b strings.Builder
	b.WriteString("| Metric | Labels | Meaning | In Apache Kafka |\n|---|---|---|---|\n")
	for _, m := range Table() {
		fmt.Fprintf(&b, "| `%s` (%s) | %s | %s | %s |\n", m.Name, m.Kind, strings.Join(m.labels(), ", "), m.Help, m.MBean)
	}
	return strings.ReplaceAll(b.String(), "|  |", "| |")
}

func TestDocumentHasTheTable(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, table, _ := strings.Cut(string(text), "| Metric |")
	if want := page(); "| Metric |"+table != want {
		if !*rewrite {
			t.Fatal(document + " is not what the table says; go test ./internal/metrics -rewrite writes it")
		}
		if err := os.WriteFile(document, []byte(before+want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for id, m := range Table() {
		if m.Name == "" || m.Help == "" || m.Kind == "" {
			t.Errorf("row %d (%s) is not filled in", id, m.Name)
		}
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		if total := strings.HasSuffix(m.Name, "_total"); total != (m.Kind == Counter) {
			t.Errorf("%s is a %s", m.Name, m.Kind)
		}
		if strings.HasPrefix(m.Name, "kafka_") && m.MBean == "" {
			t.Errorf("%s has Kafka's name and no MBean", m.Name)
		}
	}
}

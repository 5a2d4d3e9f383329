package properties

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
	"time"
)

// javaVectors returns lines of testdata/java.txt: the input and what Java 17
// makes of it, "!" where it throws. Bytes are in hex, "-" is none.
func javaVectors(t *testing.T) [][2]string {
	t.Helper()
	name := "testdata/java.txt"
	if other := os.Getenv("PROPERTIES_VECTORS"); other != "" {
		name = other
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out [][2]string
	for s := bufio.NewScanner(f); s.Scan(); {
		in, want, _ := strings.Cut(s.Text(), "\t")
		out = append(out, [2]string{in, strings.TrimSpace(want)})
	}
	return out
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	if s == "-" {
		return nil
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func toHex(s string) string {
	if s == "" {
		return "-"
	}
	return hex.EncodeToString([]byte(s))
}

func TestParseDoesWhatJavaDoes(t *testing.T) {
	vectors := javaVectors(t)
	for _, v := range vectors {
		in := unhex(t, v[0])
		list, err := Parse(in)
		got := "!"
		if err == nil {
			var pairs []string
			for k, val := range Map(list) {
				pairs = append(pairs, toHex(k)+"="+toHex(val))
			}
			sort.Strings(pairs)
			got = strings.Join(pairs, " ")
		}
		want := strings.Fields(v[1])
		sort.Strings(want)
		if got != strings.Join(want, " ") {
			t.Errorf("%q: got %s, want %s", in, got, v[1])
		}
	}
	if len(vectors) < 100 {
		t.Errorf("only %d vectors", len(vectors))
	}
}

func TestParseKeepsLineNumbers(t *testing.T) {
	list, err := Parse([]byte("# top\n\na=1\r\nb = 2 \\\n   more\n!x\nc"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(list)
	if want := "[{a 1 3} {b 2 more 4} {c  7}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := Parse([]byte("a=1\nb=\\u12")); err == nil || err.Error() != `line 2: key b: Malformed \uxxxx encoding.` {
		t.Errorf("error %v", err)
	}
}

// metaProperties was written by Apache Kafka 4.4.0.
const metaProperties = `#
#Sun Nov 29 14:10:30 UTC 2026
node.id=1
directory.id=o7uGq1A1QtGVMaSu4T4AgA
version=1
cluster.id=y50IjLHk7grxWcnPZLw_Cg
`

func TestStoreWritesMetaPropertiesAsApacheDoes(t *testing.T) {
	list, err := Parse([]byte(metaProperties))
	if err != nil {
		t.Fatal(err)
	}
	got := Store(Map(list), time.Date(2026, 11, 29, 14, 10, 30, 0, time.UTC))
	if string(got) != metaProperties {
		t.Errorf("got\n%s", got)
	}
}

func TestStoreReadsBackTheSame(t *testing.T) {
	values := map[string]string{"a b": " x ", "c=:#!": `\y\`, "": "empty key", "tab\t": "\n\r\f", "many": "", "k6": "1", "k7": "2", "k8": "3", "k9": "4", "k10": "5", "k11": "6", "k12": "7", "k13": "8"}
	list, err := Parse(Store(values, time.Unix(0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if got := Map(list); fmt.Sprint(got) != fmt.Sprint(values) {
		t.Errorf("got %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(metaProperties))
	f.Add([]byte("a\\\n b=\\u0041"))
	f.Fuzz(func(t *testing.T, in []byte) {
		list, err := Parse(in)
		if err != nil {
			return
		}
		last := 0
		for _, p := range list {
			if p.Line <= last {
				t.Fatalf("line %d after %d", p.Line, last)
			}
			last = p.Line
		}
	})
}

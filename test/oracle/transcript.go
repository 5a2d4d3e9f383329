package oracle

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"
)

// Transcript is what one server answered to a sequence, as lines.
type Transcript struct {
	Lines []string
	names map[string]map[string]string // kind -> value -> name
	port  int32                        // of the server; printed as <port>
}

func newTranscript(port int) *Transcript {
	return &Transcript{names: map[string]map[string]string{}, port: int32(port)}
}

func (t *Transcript) printf(format string, args ...any) {
	t.Lines = append(t.Lines, fmt.Sprintf(format, args...))
}

// name gives value a name of its kind, the same for each appearance.
func (t *Transcript) name(kind, value string) string {
	byValue := t.names[kind]
	if byValue == nil {
		byValue = map[string]string{}
		t.names[kind] = byValue
	}
	n, ok := byValue[value]
	if !ok {
		n = fmt.Sprintf("<%s %d>", kind, len(byValue)+1)
		byValue[value] = n
	}
	return n
}

// answer writes v, a kmsg response, as lines "path = value".
func (t *Transcript) answer(v any) {
	t.walk("", reflect.Indirect(reflect.ValueOf(v)))
}

// skipped fields say nothing about behaviour: throttling depends on load.
var skipped = map[string]bool{"Version": true, "ThrottleMillis": true, "UnknownTags": true}

// named fields hold numbers that differ from run to run; the value is the kind.
var named = map[string]string{
	"SessionID": "session", "ProducerID": "pid", "BrokerEpoch": "broker epoch",
	"FinalizedFeaturesEpoch": "features epoch", "ProducerIDStart": "pid start",
}

// sortedBy lists fields whose elements come in no order that means anything.
var sortedBy = map[string]string{"SupportedFeatures": "Name", "FinalizedFeatures": "Name"}

func (t *Transcript) walk(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && !skipped[f.Name] {
				t.field(path, f.Name, v.Field(i))
			}
		}
	case reflect.Slice:
		t.slice(path, v)
	case reflect.Pointer:
		if v.IsNil() {
			t.printf("%s = null", path)
			return
		}
		t.walk(path, v.Elem())
	default:
		t.printf("%s = %s", path, t.scalar(path, v))
	}
}

func (t *Transcript) field(path, name string, v reflect.Value) {
	at := strings.TrimPrefix(path+"."+name, ".")
	if key, ok := sortedBy[name]; ok {
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(s, v)
		sort.SliceStable(s.Interface(), func(i, j int) bool {
			return s.Index(i).FieldByName(key).String() < s.Index(j).FieldByName(key).String()
		})
		v = s
	}
	if kind, ok := named[name]; ok && v.CanInt() && v.Int() > 0 {
		t.printf("%s = %s", at, t.name(kind, fmt.Sprint(v.Int())))
		return
	}
	t.walk(at, v)
}

func (t *Transcript) slice(path string, v reflect.Value) {
	switch {
	case v.IsNil():
		t.printf("%s = null", path)
	case v.Type().Elem().Kind() == reflect.Uint8:
		t.bytes(path, v.Bytes())
	case v.Len() == 0:
		t.printf("%s = []", path)
	case scalarKind(v.Type().Elem().Kind()):
		var parts []string
		for i := range v.Len() {
			parts = append(parts, t.scalar(path, v.Index(i)))
		}
		t.printf("%s = [%s]", path, strings.Join(parts, " "))
	default:
		for i := range v.Len() {
			t.walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	}
}

func scalarKind(k reflect.Kind) bool {
	return k != reflect.Struct && k != reflect.Slice && k != reflect.Pointer && k != reflect.Array
}

// bytes prints record sets batch by batch, so that a difference can be read.
func (t *Transcript) bytes(path string, b []byte) {
	if !strings.HasSuffix(path, "RecordBatches") {
		t.printf("%s = 0x%s", path, hex.EncodeToString(b))
		return
	}
	for _, line := range describeBatches(b) {
		t.printf("%s: %s", path, line)
	}
	if len(b) == 0 {
		t.printf("%s = empty", path)
	}
}

func (t *Transcript) scalar(path string, v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Array && v.Len() == 16:
		return t.uuid(v)
	case v.Kind() == reflect.String:
		return fmt.Sprintf("%q", t.text(v.String()))
	case v.CanInt():
		return t.number(path, v.Int())
	}
	return fmt.Sprint(v.Interface())
}

func (t *Transcript) uuid(v reflect.Value) string {
	var b []byte
	for i := range v.Len() {
		b = append(b, byte(v.Index(i).Uint()))
	}
	if !slices.ContainsFunc(b[:15], func(c byte) bool { return c != 0 }) {
		return fmt.Sprintf("reserved id %d", b[15])
	}
	return t.name("id", base64.RawURLEncoding.EncodeToString(b))
}

// number names times close to now and the server's port.
func (t *Transcript) number(path string, n int64) string {
	if d := time.Since(time.UnixMilli(n)); n > 1e12 && d > -time.Hour && d < time.Hour {
		return "<now>"
	}
	if strings.HasSuffix(path, "Port") && int32(n) == t.port {
		return "<port>"
	}
	return fmt.Sprint(n)
}

// text names ids that stand inside of messages.
func (t *Transcript) text(s string) string {
	for value, name := range t.names["id"] {
		s = strings.ReplaceAll(s, value, name)
	}
	return s
}

// Diff lists the lines that differ, with the step they belong to. Steps are
// lines that begin with ">".
func Diff(apache, ours []string) []Difference {
	var out []Difference
	a, o := steps(apache), steps(ours)
	for i := range max(len(a), len(o)) {
		var x, y step
		if i < len(a) {
			x = a[i]
		}
		if i < len(o) {
			y = o[i]
		}
		if x.head != y.head || !slices.Equal(x.body, y.body) {
			onlyA, onlyO := without(x.body, y.body), without(y.body, x.body)
			out = append(out, Difference{Step: i, Request: x.head, Apache: onlyA, Ours: onlyO})
		}
	}
	return out
}

// Difference is one step whose answers are not the same.
type Difference struct {
	Step    int
	Request string
	Apache  []string // lines that only Apache answered
	Ours    []string // lines that only we answered
}

type step struct {
	head string
	body []string
}

func steps(lines []string) []step {
	var out []step
	for _, l := range lines {
		if strings.HasPrefix(l, ">") || len(out) == 0 {
			out = append(out, step{head: l})
			continue
		}
		out[len(out)-1].body = append(out[len(out)-1].body, l)
	}
	return out
}

func without(lines, others []string) []string {
	var out []string
	for _, l := range lines {
		if !slices.Contains(others, l) {
			out = append(out, l)
		}
	}
	return out
}

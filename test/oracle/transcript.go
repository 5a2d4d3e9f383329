package oracle

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Transcript is what one server answered to a sequence, as lines.
type Transcript struct {
	Lines []string
	names map[string]map[string]string // kind -> value -> name
	ports map[int64]string             // of the server's listeners -> how they are printed
	texts *strings.Replacer            // of the server's own texts
}

func newTranscript() *Transcript {
	return &Transcript{names: map[string]map[string]string{}, ports: map[int64]string{}, texts: strings.NewReplacer()}
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
// Negative ones mean something and are printed.
var named = map[string]string{
	"BrokerEpoch": "broker epoch", "FinalizedFeaturesEpoch": "features epoch", "ProducerIDStart": "pid start",
}

// unordered lists types whose elements come in no order that means anything, with
// the fields by which they are sorted before they are printed.
var unordered = map[string][]string{
	"ApiVersionsResponseSupportedFeature":                   {"Name"},
	"ApiVersionsResponseFinalizedFeature":                   {"Name"},
	"AlterConfigsResponseResource":                          {"ResourceType", "ResourceName"},
	"AssignmentTopicPartition":                              {"Topic"},
	"ConsumerGroupDescribeResponseGroupMember":              {"MemberID"},
	"ConsumerGroupHeartbeatResponseAssignmentTopic":         {"TopicID"},
	"CreatePartitionsResponseTopic":                         {"Topic", "ErrorCode"},
	"CreateTopicsResponseTopic":                             {"Topic", "ErrorCode"},
	"DeleteTopicsResponseTopic":                             {"Topic", "ErrorCode", "TopicID"},
	"DescribeConfigsResponseResourceConfig":                 {"Name"},
	"DescribeProducersResponseTopic":                        {"Topic"},
	"DescribeProducersResponseTopicPartition":               {"Partition"},
	"DescribeProducersResponseTopicPartitionActiveProducer": {"ProducerID"},
	"IncrementalAlterConfigsResponseResource":               {"ResourceType", "ResourceName"},
	"ListConfigResourcesResponseConfigResource":             {"Type", "Name"},
	"ListOffsetsResponseTopic":                              {"Topic"},
	"ListOffsetsResponseTopicPartition":                     {"Partition"},
	"MetadataResponseTopic":                                 {"Topic", "ErrorCode", "TopicID"},
	"OffsetForLeaderEpochResponseTopic":                     {"Topic"},
	"OffsetForLeaderEpochResponseTopicPartition":            {"Partition"},
	"ProduceResponseTopic":                                  {"Topic", "TopicID"},
	"ProduceResponseTopicPartition":                         {"Partition"},

	"AddPartitionsToTxnResponseTopic":                     {"Topic"},
	"AddPartitionsToTxnResponseTopicPartition":            {"Partition"},
	"AddPartitionsToTxnResponseTransaction":               {"TransactionalID"},
	"AddPartitionsToTxnResponseTransactionTopic":          {"Topic"},
	"AddPartitionsToTxnResponseTransactionTopicPartition": {"Partition"},
	"DescribeTransactionsResponseTransactionStateTopic":   {"Topic"},
	"ListTransactionsResponseTransactionState":            {"TransactionalID"},
	"WriteTxnMarkersResponseMarker":                       {"ProducerID"},
	"WriteTxnMarkersResponseMarkerTopic":                  {"Topic"},
	"WriteTxnMarkersResponseMarkerTopicPartition":         {"Partition"},
}

// unorderedFields are lists of scalars whose order means nothing: sets of Java's.
var unorderedFields = map[string]bool{
	"AssignmentTopicPartition.Partitions":                       true, // of ConsumerGroupDescribe
	"ConsumerGroupDescribeResponseGroupMember.SubscribedTopics": true,
	"ConsumerGroupHeartbeatResponseAssignmentTopic.Partitions":  true,
}

func (t *Transcript) walk(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case !f.IsExported() || skipped[f.Name]:
			case unorderedFields[v.Type().Name()+"."+f.Name]:
				t.field(path, f.Name, t.arranged(v.Field(i)))
			default:
				t.field(path, f.Name, v.Field(i))
			}
		}
	case reflect.Slice:
		t.slice(path, t.sorted(v))
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

// sorted is a slice in the order in which it is printed.
func (t *Transcript) sorted(v reflect.Value) reflect.Value {
	keys, ok := unordered[v.Type().Elem().Name()]
	if !ok || v.IsNil() {
		return v
	}
	return t.arranged(v, keys...)
}

// arranged is a copy of a slice, sorted by some fields or by the elements themselves.
func (t *Transcript) arranged(v reflect.Value, keys ...string) reflect.Value {
	if v.IsNil() {
		return v
	}
	s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(s, v)
	sort.SliceStable(s.Interface(), func(i, j int) bool {
		if len(keys) == 0 {
			return t.compare(s.Index(i), s.Index(j)) < 0
		}
		for _, key := range keys {
			if c := t.compare(s.Index(i).FieldByName(key), s.Index(j).FieldByName(key)); c != 0 {
				return c < 0
			}
		}
		return false
	})
	return s
}

// compare orders values; ids by the names they have.
func (t *Transcript) compare(a, b reflect.Value) int {
	switch {
	case a.Kind() == reflect.Pointer && (a.IsNil() || b.IsNil()):
		return cmp.Compare(fmt.Sprint(b.IsNil()), fmt.Sprint(a.IsNil()))
	case a.Kind() == reflect.Pointer:
		return t.compare(a.Elem(), b.Elem())
	case a.Kind() == reflect.Array:
		return cmp.Compare(t.names["id"][idText(a)], t.names["id"][idText(b)])
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.Kind() == reflect.String:
		return cmp.Compare(t.knownMembers(a.String()), t.knownMembers(b.String()))
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func (t *Transcript) field(path, name string, v reflect.Value) {
	at := strings.TrimPrefix(path+"."+name, ".")
	if kind, ok := named[name]; ok && v.CanInt() && v.Int() >= 0 {
		t.printf("%s = %s", at, t.name(kind, fmt.Sprint(v.Int())))
		return
	}
	switch {
	case name == "SessionID" && v.Int() > 0: // 0: no session
		t.printf("%s = %s", at, t.name("session", fmt.Sprint(v.Int())))
	case at == "ProducerID" && v.Int() >= 0: // of InitProducerId
		t.printf("%s = %s", at, t.name("pid", fmt.Sprint(v.Int())))
	case name == "ProducerID":
		t.printf("%s = %s", at, t.pid(v.Int()))
	default:
		t.walk(at, v)
	}
}

// pid is a producer id: by name if it was given by the server.
func (t *Transcript) pid(id int64) string {
	if name, ok := t.names["pid"][fmt.Sprint(id)]; ok {
		return name
	}
	return fmt.Sprint(id)
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
		if strings.HasPrefix(path, "TransactionStates[") {
			slices.Sort(parts) // partitions come in no order
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
	for _, line := range t.describeBatches(b) {
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
	b := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(b), v)
	if !slices.ContainsFunc(b[:15], func(c byte) bool { return c != 0 }) {
		return fmt.Sprintf("reserved id %d", b[15])
	}
	return t.name("id", idText(v))
}

// idText is a 16-byte array as Kafka prints ids.
func idText(v reflect.Value) string {
	b := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(b), v)
	return base64.RawURLEncoding.EncodeToString(b)
}

// number names times close to now and the server's ports.
func (t *Transcript) number(path string, n int64) string {
	if name, ok := t.ports[n]; ok && strings.HasSuffix(path, "Port") {
		return name
	}
	return timeOr(n)
}

// timeOr is a number as it is, or, if it can only be a time of this year, as hours
// from now.
func timeOr(n int64) string {
	d := time.Since(time.UnixMilli(n))
	if d.Abs() > 365*24*time.Hour {
		return fmt.Sprint(n)
	}
	if h := -d.Round(time.Hour) / time.Hour; h != 0 {
		return fmt.Sprintf("<now%+dh>", h)
	}
	return "<now>"
}

// javaUUID is what ids of members end with.
var javaUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// knownMembers names what has been named before.
func (t *Transcript) knownMembers(s string) string {
	return javaUUID.ReplaceAllStringFunc(s, func(id string) string { return cmp.Or(t.names["member"][id], id) })
}

var longNumber = regexp.MustCompile(`-?\b\d{13,19}\b`)

// text names ids, times and the server's own texts inside of messages.
func (t *Transcript) text(s string) string {
	s = t.texts.Replace(s)
	for value, name := range t.names["id"] {
		s = strings.ReplaceAll(s, value, name)
	}
	s = javaUUID.ReplaceAllStringFunc(s, func(id string) string { return t.name("member", id) })
	return longNumber.ReplaceAllStringFunc(s, func(digits string) string {
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return digits
		}
		// Limits of timestamps are now - 2^63 - 1 by default.
		if early := timeOr(n + math.MaxInt64); n < 0 && early[0] == '<' {
			return early + "-max"
		}
		return timeOr(n)
	})
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

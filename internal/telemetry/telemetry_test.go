package telemetry

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"testing"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// message writes a field of a protobuf message.
func message(id int, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	out := binary.AppendUvarint(nil, uint64(id<<3|wireBytes))
	return append(binary.AppendUvarint(out, uint64(len(body))), body...)
}

func varint(id int, n uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(id<<3|wireVarint)), n)
}

func fixed(id int, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(nil, uint64(id<<3|wireFixed64)), n)
}

func attribute(key, value string) []byte {
	return message(7, message(1, []byte(key)), message(2, message(1, []byte(value))))
}

// metrics is a MetricsData message of a gauge of 1.5 and of a sum of 7, by deltas.
func metrics() []byte {
	gauge := message(2, message(1, []byte("org.apache.kafka.gauge")), message(5, message(1, fixed(4, math.Float64bits(1.5)), attribute("topic", "t"), attribute("a", "b"))))
	sum := message(2, message(1, []byte("org.apache.kafka.sum")), message(7, message(1, fixed(6, 7)), varint(2, temporalityDelta), varint(3, 1)))
	histogram := message(2, message(1, []byte("org.apache.kafka.histogram")), message(9, message(1, fixed(4, 1))))
	return message(1, message(1), message(2, gauge, sum, histogram))
}

func TestNumbersOfAMessage(t *testing.T) {
	var got []string
	if err := readMetrics(metrics(), func(p point) {
		got = append(got, fmt.Sprintf("%s{%s} %g %v", p.metric, p.attributes, p.value, p.delta))
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"org.apache.kafka.gauge{a=b,topic=t} 1.5 false", "org.apache.kafka.sum{} 7 true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	whole := metrics()
	for cut := 1; cut < len(whole); cut++ {
		if err := readMetrics(whole[:cut], func(point) {}); err == nil {
			t.Errorf("a message that is cut at %d is read", cut)
		}
	}
}

func FuzzMetrics(f *testing.F) {
	f.Add(metrics())
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := readMetrics(b, func(p point) {
			if len(p.metric) > 3*maxText || len(p.attributes) > 3*maxText {
				t.Error("a text is too long")
			}
		}); err != nil && len(b) == 0 {
			t.Error(err)
		}
	})
}

// world is a Manager with a clock and subscriptions to play with.
type world struct {
	*Manager
	now       time.Time
	resources []Resource
	limit     int
	ids       byte
}

func newWorld() *world {
	w := &world{now: time.UnixMilli(1e12), limit: 1000, resources: []Resource{{Metrics: []string{"org.apache.kafka."}, Interval: time.Second}}}
	w.Manager = New(Options{Resources: func() []Resource { return w.resources }, MaxBytes: func() int { return w.limit },
		NewID: func() (kafka.UUID, error) { w.ids++; return kafka.UUID{1, w.ids}, nil }})
	return w
}

// ask is Subscribe of a client that exists.
func (w *world) ask(t *testing.T, c Client) Subscription {
	t.Helper()
	s, code := w.Subscribe(w.now, c)
	if code != kafka.ErrNone {
		t.Fatal(code)
	}
	return s
}

func TestRulesOfPushes(t *testing.T) {
	w := newWorld()
	c := Client{ID: "me"}
	s := w.ask(t, c)
	if s.InstanceID.Reserved() || s.Interval != time.Second || !slices.Equal(s.Metrics, []string{"org.apache.kafka."}) {
		t.Fatalf("%+v", s)
	}
	c.InstanceID = s.InstanceID
	push := Push{SubscriptionID: s.ID, Metrics: metrics()}
	expect := func(what string, p Push, want kafka.ErrorCode) {
		t.Helper()
		if got := w.Push(w.now, c, p); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	if code := w.Push(w.now, Client{}, push); code != kafka.ErrInvalidRequest {
		t.Errorf("without an id: %v", code)
	}
	w.now = w.now.Add(time.Millisecond)
	expect("the first push may come at any time", push, kafka.ErrNone)
	expect("a second at once", push, kafka.ErrThrottlingQuotaExceeded)
	if _, code := w.Subscribe(w.now, c); code != kafka.ErrThrottlingQuotaExceeded {
		t.Errorf("asking again at once: %v", code)
	}
	w.now = w.now.Add(time.Second)
	expect("of another subscription", Push{SubscriptionID: s.ID + 1}, kafka.ErrUnknownSubscriptionID)
	if again := w.ask(t, c); again.ID != s.ID {
		t.Errorf("the same subscription has another id")
	}
	w.now = w.now.Add(time.Second)
	expect("a codec that is none", Push{SubscriptionID: s.ID, Compression: 9, Metrics: metrics()}, kafka.ErrUnsupportedCompressionType)
	w.now = w.now.Add(time.Second)
	expect("too large", Push{SubscriptionID: s.ID, Metrics: make([]byte, 1001)}, kafka.ErrTelemetryTooLarge)
	w.now = w.now.Add(time.Second)
	expect("no message", Push{SubscriptionID: s.ID, Metrics: []byte{0xff}}, kafka.ErrInvalidRecord)
	expect("the last may come too early", Push{SubscriptionID: s.ID, Terminating: true, Compression: int8(record.Gzip), Metrics: zipped(t, metrics())}, kafka.ErrNone)
	w.now = w.now.Add(time.Hour)
	expect("after the last", push, kafka.ErrInvalidRequest)
}

func zipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDeltasAddUpAndSilentClientsAreNotTold(t *testing.T) {
	w := newWorld()
	s := w.ask(t, Client{})
	c := Client{InstanceID: s.InstanceID, ID: "me"}
	for range 3 {
		w.now = w.now.Add(time.Second)
		if code := w.Push(w.now, c, Push{SubscriptionID: s.ID, Metrics: metrics()}); code != kafka.ErrNone {
			t.Fatal(code)
		}
	}
	got := map[string]float64{}
	w.Each(w.now, func(s Series) { got[s.Client.ID+" "+s.Metric] = s.Value })
	if len(got) != 2 || got["me org.apache.kafka.gauge"] != 1.5 || got["me org.apache.kafka.sum"] != 21 {
		t.Errorf("%v", got)
	}
	w.Each(w.now.Add(4*time.Second), func(s Series) { t.Errorf("of a silent client: %+v", s) })
}

func TestASmallPushMayNotBecomeHuge(t *testing.T) {
	w := newWorld()
	s := w.ask(t, Client{})
	bomb := zipped(t, make([]byte, 50_000))
	if len(bomb) > w.limit {
		t.Fatal("the bomb is too large itself")
	}
	if code := w.Push(w.now.Add(1), Client{InstanceID: s.InstanceID}, Push{SubscriptionID: s.ID, Compression: int8(record.Gzip), Metrics: bomb}); code != kafka.ErrInvalidRecord {
		t.Errorf("a bomb: %v", code)
	}
}

func TestClientsAndSeriesAreBounded(t *testing.T) {
	w := newWorld()
	var first kafka.UUID
	for i := range maxClients + 10 {
		id := kafka.UUID{2, byte(i >> 16), byte(i >> 8), byte(i)}
		if i == 0 {
			first = id
		}
		w.ask(t, Client{InstanceID: id})
	}
	if st := w.Stats(); st.Clients != maxClients {
		t.Errorf("%d clients", st.Clients)
	}
	if _, known := w.clients[first]; known {
		t.Error("the client that was silent longest is known")
	}
	w = newWorld()
	w.limit = 1 << 20
	s := w.ask(t, Client{})
	many := manyMetrics()
	if code := w.Push(w.now.Add(1), Client{InstanceID: s.InstanceID}, Push{SubscriptionID: s.ID, Metrics: many}); code != kafka.ErrNone {
		t.Fatal(code)
	}
	if st := w.Stats(); st.Series != maxClientSeries || st.Dropped == 0 {
		t.Errorf("%+v", st)
	}
}

// manyMetrics are more than are kept of one client.
func manyMetrics() []byte {
	var points [][]byte
	for i := range maxClientSeries + 50 {
		points = append(points, message(2, message(1, fmt.Appendf(nil, "m%d", i)), message(5, message(1, fixed(6, 1)))))
	}
	return message(1, message(2, points...))
}

func TestSilentClientsKeepNobodyOut(t *testing.T) {
	w := newWorld()
	w.limit = 1 << 20
	push := func() {
		t.Helper()
		s := w.ask(t, Client{})
		if code := w.Push(w.now.Add(1), Client{InstanceID: s.InstanceID}, Push{SubscriptionID: s.ID, Metrics: manyMetrics()}); code != kafka.ErrNone {
			t.Fatal(code)
		}
	}
	for range maxSeries/maxClientSeries + 1 {
		push()
	}
	if st := w.Stats(); st.Series != maxSeries {
		t.Fatalf("%+v", st)
	}
	w.now = w.now.Add(time.Minute)
	push()
	told := 0
	w.Each(w.now, func(Series) { told++ })
	if st := w.Stats(); st.Series != maxClientSeries || told != maxClientSeries {
		t.Errorf("%+v, %d told", st, told)
	}
}

func TestResourcesThatMatchAreJoined(t *testing.T) {
	only := func(key, value string) map[string]*regexp.Regexp {
		return map[string]*regexp.Regexp{key: regexp.MustCompile("^(?:" + value + ")$")}
	}
	c := Client{InstanceID: kafka.UUID{9}, ID: "app-1", SoftwareName: "apache-kafka-java", SoftwareVersion: "4.4.0", Address: netip.MustParseAddrPort("10.0.0.1:5000")}
	for _, r := range []struct {
		resources []Resource
		metrics   string
		interval  time.Duration
	}{
		{nil, "[]", defaultInterval},
		{[]Resource{{Metrics: []string{"b", "a"}, Interval: time.Minute}, {Metrics: []string{"a", "c"}, Interval: time.Second, Match: only("client_id", "app-.*")}}, "[a b c]", time.Second},
		{[]Resource{{Metrics: []string{"a", "*"}, Interval: time.Hour}}, "[*]", time.Hour},
		{[]Resource{{Metrics: []string{"a"}, Interval: time.Second, Match: only("client_software_version", "3.*")}}, "[]", defaultInterval},
		{[]Resource{{Metrics: []string{"a"}, Interval: time.Second, Match: only("client_source_address", "10.0.0.1")}}, "[a]", time.Second},
		{[]Resource{{Metrics: []string{"a"}, Interval: time.Second, Match: only("client_source_port", "1")}}, "[]", defaultInterval},
	} {
		if s := subscribe(r.resources, &c); fmt.Sprint(s.Metrics) != r.metrics || s.Interval != r.interval {
			t.Errorf("%+v: %v every %v", r.resources, s.Metrics, s.Interval)
		}
	}
	w := newWorld()
	s := w.ask(t, Client{})
	w.resources[0].Interval = 2 * time.Second
	if again, code := w.Subscribe(w.now, Client{InstanceID: s.InstanceID}); code != kafka.ErrNone || again.ID == s.ID {
		t.Errorf("after a change of the subscription: %v, %v", again, code)
	}
}

package wire

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// observed is what Apache Kafka 4.4.0 answered to ApiVersions: the requests of
// each listener and the size of the answer in each version.
type observed struct {
	Bytes map[string]int `json:"bytes"`
	APIs  [][]any        `json:"apis"`
}

func readObserved(t *testing.T) map[string]observed {
	t.Helper()
	data, err := os.ReadFile("testdata/apiversions-4.4.0.json")
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]observed
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// allServed is the set that a broker of Apache Kafka serves: all but telemetry.
func allServed() *Served {
	var keys []kmsg.Key
	for _, a := range All() {
		if a.Key != kmsg.GetTelemetrySubscriptions && a.Key != kmsg.PushTelemetry {
			keys = append(keys, a.Key)
		}
	}
	return NewServed(keys...)
}

func TestTableIsWhatApacheAnnounces(t *testing.T) {
	for name, o := range readObserved(t) {
		scope := map[string]Scope{"broker": Broker, "controller": Controller}[name]
		resp := (&ApiVersions{Served: allServed(), Scope: scope}).Answer(0, kmsg.NewPtrApiVersionsRequest())
		if len(resp.ApiKeys) != len(o.APIs) {
			t.Fatalf("%s: %d requests are announced, want %d", name, len(resp.ApiKeys), len(o.APIs))
		}
		for i, want := range o.APIs {
			got := resp.ApiKeys[i]
			row, ok := Lookup(got.ApiKey)
			if !ok || float64(got.ApiKey) != want[0] || row.Name != want[1] || float64(got.MinVersion) != want[2] || float64(got.MaxVersion) != want[3] {
				t.Errorf("%s: place %d holds %s %+v, want %v", name, i, row.Name, got, want)
			}
		}
	}
}

func TestTableAgreesWithTheCodec(t *testing.T) {
	for _, a := range All() {
		msg := kmsg.RequestForKey(int16(a.Key))
		if msg == nil || msg.MaxVersion() != a.Max {
			t.Errorf("%s: newest version %d is not the codec's", a.Name, a.Max)
			continue
		}
		for v := a.Min; v <= a.Max; v++ {
			if msg.SetVersion(v); msg.IsFlexible() != a.Flexible(v) {
				t.Errorf("%s %d: flexible is %v", a.Name, v, a.Flexible(v))
			}
		}
	}
}

func TestAdmission(t *testing.T) {
	s := NewServed(kmsg.Produce, kmsg.Fetch, kmsg.Metadata, kmsg.ApiVersions, kmsg.Vote)
	for _, c := range []struct {
		key, version int16
		scope        Scope
		want         error
	}{
		{0, 3, Broker, nil},
		{0, 2, Broker, ErrUnsupportedVersion}, // announced, yet refused
		{0, 14, Broker, ErrUnsupportedVersion},
		{1, 18, Broker, nil},
		{1, 18, Controller, nil},
		{3, 0, Controller, ErrUnknownKey},
		{52, 0, Broker, ErrUnknownKey},
		{52, 2, Controller, nil},
		{2, 5, Broker, ErrUnknownKey}, // exists, but is not served
		{5, 0, Broker, ErrUnknownKey}, // removed in 4.0
		{95, 0, Broker, ErrUnknownKey},
		{-1, 0, Broker, ErrUnknownKey},
		{18, 99, Broker, nil},
		{18, -1, Controller, nil},
	} {
		_, err := s.Admit(&RequestHeader{Key: c.key, Version: c.version}, c.scope)
		if !errors.Is(err, c.want) {
			t.Errorf("key %d version %d on %d: %v, want %v", c.key, c.version, c.scope, err, c.want)
		}
	}
}

// features44 are the features of a fresh Apache Kafka 4.4.0.
func features44() (s []FeatureRange, f []FeatureLevel) {
	for _, x := range []FeatureRange{
		{kafka.FeatureELR, 0, 1}, {kafka.FeatureGroup, 0, 1}, {kafka.FeatureKRaftVersion, 0, 1},
		{"metadata.version", 7, 33}, {kafka.FeatureShare, 0, 2}, {kafka.FeatureStreams, 0, 1}, {kafka.FeatureTransaction, 0, 2},
	} {
		s = append(s, x)
		f = append(f, FeatureLevel{x.Name, x.Max})
	}
	return s, append(f, FeatureLevel{"level.zero", 0})
}

func TestApiVersionsAnswersHaveApachesSize(t *testing.T) {
	for name, o := range readObserved(t) {
		a := ApiVersions{Served: allServed(), Scope: map[string]Scope{"broker": Broker, "controller": Controller}[name], FinalizedEpoch: 100}
		a.Supported, a.Finalized = features44()
		for v := int16(0); v <= 6; v++ {
			req := kmsg.NewPtrApiVersionsRequest()
			req.ClientSoftwareName, req.ClientSoftwareVersion = "test", "1.0"
			resp := a.Answer(v, req)
			body := resp.AppendTo(AppendResponseHeader(nil, 18, v, 1))
			if want := o.Bytes["v"+string(rune('0'+v))]; len(body) != want {
				t.Errorf("%s v%d: %d bytes, want %d", name, v, len(body), want)
			}
		}
	}
}

func TestApiVersionsErrors(t *testing.T) {
	str := func(s string) *string { return &s }
	for _, c := range []struct {
		what    string
		version int16
		scope   Scope
		name    string
		cluster *string
		node    int32
		want    kafka.ErrorCode
		keys    int
	}{
		{"all is well", 5, Broker, "a", str("me"), 1, kafka.ErrNone, 3},
		{"nothing expected", 5, Broker, "a", nil, -1, kafka.ErrNone, 3},
		{"another cluster", 5, Broker, "a", str("you"), 1, kafka.ErrRebootstrapRequired, 0},
		{"another node", 5, Broker, "a", str("me"), 2, kafka.ErrRebootstrapRequired, 0},
		{"another cluster at the controller", 5, Controller, "a", str("you"), 1, kafka.ErrNone, 2},
		{"node only", 5, Broker, "a", nil, 1, kafka.ErrInvalidRequest, 0},
		{"cluster only at the controller", 5, Controller, "a", str("me"), -1, kafka.ErrInvalidRequest, 0},
		{"identity before version 5", 4, Broker, "a", str("you"), 2, kafka.ErrNone, 3},
		{"bad name", 3, Broker, "a b", nil, -1, kafka.ErrInvalidRequest, 0},
		{"name ends in a dot", 3, Broker, "a.", nil, -1, kafka.ErrInvalidRequest, 0},
		{"empty name", 3, Broker, "", nil, -1, kafka.ErrInvalidRequest, 0},
		{"dots and hyphens", 3, Broker, "apache-kafka.java", nil, -1, kafka.ErrNone, 3},
		{"no name before version 3", 2, Broker, "", nil, -1, kafka.ErrNone, 3},
		{"unsupported version", 6, Broker, "", nil, -1, kafka.ErrUnsupportedVersion, 1},
	} {
		a := ApiVersions{Served: NewServed(kmsg.ApiVersions, kmsg.CreateTopics, kmsg.Produce), Scope: c.scope, ClusterID: "me", NodeID: 1}
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion, req.ClusterID, req.NodeID = c.name, "1", c.cluster, c.node
		resp := a.Answer(c.version, req)
		if kafka.ErrorCode(resp.ErrorCode) != c.want || len(resp.ApiKeys) != c.keys {
			t.Errorf("%s: %s with %d keys, want %s with %d", c.what, kafka.ErrorCode(resp.ErrorCode), len(resp.ApiKeys), c.want, c.keys)
		}
	}
}

func TestApiVersionsAnnouncesWhatTheControllerServesToo(t *testing.T) {
	a := ApiVersions{
		Served: NewServed(kmsg.CreateTopics, kmsg.DeleteTopics, kmsg.CreatePartitions, kmsg.Metadata), Scope: Broker,
		Controller: []VersionRange{{19, 4, 9}, {20, 7, 8}},
	}
	var got []kmsg.ApiVersionsResponseApiKey
	got = a.Answer(0, kmsg.NewPtrApiVersionsRequest()).ApiKeys
	if len(got) != 2 || got[0].ApiKey != 3 || got[1].ApiKey != 19 || got[1].MinVersion != 4 || got[1].MaxVersion != 7 {
		t.Errorf("announced %+v", got)
	}
}

package controller

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"barnabas/internal/base/clock"
	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entry is one record of the metadata log.
type entry struct {
	offset  kafka.Offset
	message metarec.Message
	version int16
}

// failer is a test, also one of rapid's.
type failer interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// cluster is a controller with a log that a test commits, and a second image of
// that log, made from its bytes as a broker makes it.
type cluster struct {
	t     failer
	clock *clock.Manual
	c     *Controller
	fatal error

	log       []entry
	next      kafka.Offset
	epoch     kafka.LeaderEpoch // that leads; 0: none
	self      string            // names the incarnation; "": self
	held      bool              // appends are not committed until commit
	uncommit  []image.Batch
	stream    *image.Stream
	supports  bool // the controller's registration names all features
	bootstrap []metarec.Message
	refuse    error // what Append returns
	from      int   // where the log of the running command begins
}

const clusterID = "the-cluster"

// id makes a uuid that reads as name in scripts.
func id(name string) (u kafka.UUID) {
	u[0] = 0xff
	copy(u[1:], name)
	return u
}

// allFeatures are the ranges that register sends unless told otherwise.
var allFeatures = regexp.MustCompile(`"features":\[{"name":"metadata.version","minSupportedVersion":7,"maxSupportedVersion":33}[^]]*streams.version[^]]*]`)

// names puts readable names for the ids that id made into text, and topic names
// for their ids.
func (cl *cluster) names(text string) string {
	for _, e := range cl.log {
		switch m := e.message.(type) {
		case *metarec.TopicRecord:
			text = strings.ReplaceAll(text, m.TopicID.String(), "<"+m.Name+">")
		}
	}
	text = allFeatures.ReplaceAllString(text, `"features":"all"`)
	for _, known := range []string{"a", "b", "c", "d", "d1", "d2", "d3", "d4", "x", "y", "self", "e", "f"} {
		text = strings.ReplaceAll(text, id(known).String(), "<"+known+">")
	}
	return text
}

func feature(name string, level int16) metarec.Message {
	return &metarec.FeatureLevelRecord{Name: name, FeatureLevel: level}
}

// levels are the bootstrap records of a metadata.version.
func levels(mv kafka.MetadataVersion) []metarec.Message {
	out := []metarec.Message{feature(kafka.FeatureMetadataVersion, int16(mv))}
	for _, f := range kafka.Features() {
		if l := f.DefaultLevel(mv); l > 0 && f.Name != kafka.FeatureKRaftVersion {
			out = append(out, feature(f.Name, l))
		}
	}
	return out
}

func newCluster(t failer, overrides ...string) *cluster {
	cl := &cluster{t: t, clock: clock.NewManual(time.Unix(1_000_000, 0)), stream: image.NewStream(image.Empty()), bootstrap: levels(kafka.LatestMetadataVersion)}
	cl.start(1, overrides...)
	return cl
}

// start makes a controller; the log stays.
func (cl *cluster) start(seed uint64, overrides ...string) {
	b, _, err := config.Load(config.Options{Overrides: append([]string{"log.dirs=/nowhere", "node.id=1"}, overrides...)})
	if err != nil {
		cl.t.Fatal(err)
	}
	self := metarec.NewRegisterControllerRecord()
	self.ControllerID, self.IncarnationID = 1, id(cmp.Or(cl.self, "self"))
	if cl.supports {
		self.Features = supportedFeatures()
	}
	cl.c = New(Options{
		ID: 1, ClusterID: clusterID, Self: self, Config: b,
		Bootstrap:    func() (Bootstrap, error) { return Bootstrap{Records: cl.bootstrap, Source: "a test"}, nil },
		KRaftVersion: func() int16 { return 1 },
		Log:          cl, Clock: cl.clock, Random: rand.New(rand.NewPCG(seed, 0)), Entropy: entropy(seed),
		Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) { cl.fatal = err },
	})
}

// entropy is bytes that depend on the seed alone.
func entropy(seed uint64) io.Reader {
	var key [32]byte
	key[0] = byte(seed)
	return rand.NewChaCha8(key)
}

// Append is the log's.
func (cl *cluster) Append(r Records) (kafka.Offset, error) {
	if cl.refuse != nil {
		return 0, cl.refuse
	}
	if r.Epoch != cl.epoch {
		return 0, fmt.Errorf("epoch %d does not lead", r.Epoch)
	}
	b := image.Batch{BaseOffset: cl.next, LastOffset: cl.next + kafka.Offset(len(r.Frames)) - 1, Epoch: r.Epoch}
	for _, frame := range r.Frames {
		m, version, err := metarec.Decode(frame)
		if err != nil {
			cl.t.Fatalf("a record that cannot be read was written: %v", err)
		}
		cl.log = append(cl.log, entry{cl.next, m, version})
		b.Records = append(b.Records, m)
		cl.next++
	}
	cl.uncommit = append(cl.uncommit, b)
	if !cl.held {
		cl.commit()
	}
	return b.LastOffset, nil
}

// commit commits all that was appended.
func (cl *cluster) commit() {
	if len(cl.uncommit) == 0 {
		return
	}
	if _, err := cl.stream.Apply(cl.uncommit...); err != nil {
		cl.t.Fatalf("the log cannot be replayed: %v", err)
	}
	last := cl.uncommit[len(cl.uncommit)-1].LastOffset
	cl.uncommit = nil
	cl.c.Committed(last, cl.stream.Shown())
}

// lead makes the controller the leader of the next epoch; the first record of an
// epoch is the quorum's.
func (cl *cluster) lead() {
	cl.epoch++
	cl.next++
	cl.c.BecomeLeader(Leadership{Epoch: cl.epoch, Next: cl.next, Committed: cl.stream.Shown(), OpenTransaction: cl.stream.InTransaction()})
}

// forget drops what was not committed.
func (cl *cluster) forget() {
	for _, b := range cl.uncommit {
		cl.log = cl.log[:len(cl.log)-len(b.Records)]
		cl.next -= kafka.Offset(len(b.Records))
	}
	cl.uncommit = nil
	cl.from = min(cl.from, len(cl.log))
}

// cutBack gives up what was not committed, as a full disk has the quorum do.
func (cl *cluster) cutBack() {
	cl.forget()
	cl.c.CutBack(Leadership{Epoch: cl.epoch, Next: cl.next, Committed: cl.stream.Shown(), OpenTransaction: cl.stream.InTransaction()})
}

// restart begins a new process: what was not committed is lost.
func (cl *cluster) restart(seed uint64, overrides ...string) {
	cl.c.Close()
	cl.forget()
	cl.start(seed, overrides...)
	cl.lead()
}

// image is what is committed.
func (cl *cluster) image() *image.Image { return cl.stream.Shown() }

// check holds the pending state against the log (invariant 1) and the partitions
// against invariant 5.
func (cl *cluster) check(t failer) {
	if cl.c.active == nil {
		return
	}
	pending := cl.c.active.image
	s := image.NewStream(cl.stream.Shown())
	if _, err := s.Apply(cl.uncommit...); err != nil {
		t.Fatalf("the log cannot be replayed: %v", err)
	}
	if a, b := dump(pending), dump(s.Current()); a != b {
		t.Fatalf("the pending state is not what the log gives (invariant 1):\n%s\nlog:\n%s", a, b)
	}
	for topic := range pending.Topics.All() {
		for n, p := range topic.All() {
			if why := broken(pending, p); why != "" {
				t.Fatalf("partition %s-%d %+v: %s (invariant 5)", topic.Name, n, *p, why)
			}
		}
	}
}

func dump(m *image.Image) string {
	var b strings.Builder
	if m.Features.MetadataVersion == 0 {
		return ""
	}
	err := m.Records(m.Features.MetadataVersion, func(group []metarec.Versioned) error {
		for _, r := range group {
			b.Write(metarec.AppendJSON(nil, r.Message, r.Version))
			b.WriteByte('\n')
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return b.String()
}

// broken says which rule a partition breaks, or "".
func broken(m *image.Image, p *image.Partition) string {
	in := func(list []kafka.BrokerID, id kafka.BrokerID) bool {
		for _, x := range list {
			if x == id {
				return true
			}
		}
		return false
	}
	for _, x := range p.ISR {
		if !in(p.Replicas, x) {
			return "an ISR member is no replica"
		}
		if in(p.ELR(), x) {
			return "ISR and ELR overlap"
		}
	}
	for _, x := range p.ELR() {
		if !in(p.Replicas, x) {
			return "an ELR member is no replica"
		}
	}
	if p.Leader >= 0 {
		if !in(p.ISR, p.Leader) {
			return "the leader is not in the ISR"
		}
		for _, x := range p.ISR {
			if b := m.Cluster.Broker(x); b == nil || !b.Active() {
				return "an ISR member is not active"
			}
		}
	}
	if len(p.ISR) == 0 && !m.Features.ELREnabled() {
		return "the ISR is empty without ELR"
	}
	return ""
}

// written are the records of the running command, a line each.
func (cl *cluster) written() string {
	var b bytes.Buffer
	for _, e := range cl.log[cl.from:] {
		fmt.Fprintf(&b, "%d %s v%d %s\n", e.offset, e.message.Type(), e.version, e.message.AppendJSON(nil, e.version))
	}
	return cl.names(b.String())
}

// supportedFeatures are all that this release knows.
func supportedFeatures() []metarec.SupportedFeature {
	out := []metarec.SupportedFeature{{Name: kafka.FeatureMetadataVersion, MinSupportedVersion: 7, MaxSupportedVersion: 33}}
	for _, f := range kafka.Features() {
		out = append(out, metarec.SupportedFeature{Name: f.Name, MaxSupportedVersion: f.Max()})
	}
	return out
}

package server

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"
)

const patience30s = 30 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handlerFunc is a Handler.
type handlerFunc func(c *Conn, run []*Request)

func (f handlerFunc) Serve(c *Conn, run []*Request) { f(c, run) }

// logLines collects what a server logs.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// testServer is a server with one listener, and what it logged.
type testServer struct {
	*Server
	log *logLines
}

func served() *wire.Served {
	return wire.NewServed(kmsg.Produce, kmsg.Fetch, kmsg.Metadata, kmsg.ApiVersions, kmsg.SyncGroup, kmsg.OffsetFetch,
		kmsg.SASLHandshake, kmsg.SASLAuthenticate)
}

// start serves h; change may alter the options.
func start(t testing.TB, h handlerFunc, change func(*Options)) *testServer {
	t.Helper()
	log := &logLines{}
	o := Options{
		Listeners: []Listener{{Name: "TEST", Address: "127.0.0.1:0", Scope: wire.Broker, Handler: h, Served: served()}},
		Logger:    slog.New(slog.NewTextHandler(log, nil)),
	}
	if change != nil {
		change(&o)
	}
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	ts := &testServer{s, log}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, l := range s.listeners {
			if used := l.options.Budget.Used(); used != 0 && !t.Failed() {
				t.Errorf("%d bytes of the budget are not returned", used)
			}
		}
	})
	return ts
}

// client is a raw connection to a server.
type client struct {
	net.Conn
	t testing.TB
}

func (s *testServer) dial(t testing.TB) *client {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr("TEST").String())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(patience30s)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &client{conn, t}
}

// frame is a request as a client writes it.
func frame(correlationID int32, msg kmsg.Request) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, msg, correlationID)
}

func (c *client) send(b []byte) {
	c.t.Helper()
	if _, err := c.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// receive reads one answer: its correlation id and what follows.
func (c *client) receive() (int32, []byte) {
	c.t.Helper()
	id, body, err := c.tryReceive()
	if err != nil {
		c.t.Fatal(err)
	}
	return id, body
}

func (c *client) tryReceive() (int32, []byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:])-4)
	_, err := io.ReadFull(c, body)
	return int32(binary.BigEndian.Uint32(head[4:])), body, err
}

// closed checks that the server ends the connection without another byte.
func (c *client) closed() {
	c.t.Helper()
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
		c.t.Fatal("the connection goes on")
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		c.t.Fatal("the connection is not closed")
	}
}

func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience30s); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not seen: %s", what)
		}
	}
}

// metadata is a small request with a small answer.
func metadata() kmsg.Request {
	m := kmsg.NewPtrMetadataRequest()
	m.Version = 12
	return m
}

func produce(size int) *kmsg.ProduceRequest {
	m := kmsg.NewPtrProduceRequest()
	m.Version = 9
	m.Acks = -1
	m.Topics = []kmsg.ProduceRequestTopic{{Topic: "a-topic", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: make([]byte, size)}}}}
	return m
}

// echo answers with the correlation id as body.
func echo(r *Request) {
	r.Reply(Piece{Bytes: binary.BigEndian.AppendUint32(nil, uint32(r.Header.CorrelationID))})
}

func echoAll(_ *Conn, run []*Request) {
	for _, r := range run {
		echo(r)
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

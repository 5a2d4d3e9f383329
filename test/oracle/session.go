package oracle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// answerTimeout is how long a server may take for one answer; a request that
// isn't answered by then counts as never answered.
const answerTimeout = 20 * time.Second

// Session is one run of a sequence against one server.
type Session struct {
	address string
	Name    string // of the sequence; topics made by Topic carry it
	out     *Transcript
	conns   []*Conn
}

// Conn is one client connection of a session.
type Conn struct {
	s           *Session
	c           net.Conn
	label       string
	correlation int32
	closed      bool
}

// failure stops a sequence: something in the harness, not in an answer.
type failure struct{ err error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Conn opens a connection. Labels name it in the transcript.
func (s *Session) Conn(label string) *Conn {
	nc, err := net.DialTimeout("tcp", s.address, 10*time.Second)
	check(err)
	c := &Conn{s: s, c: nc, label: label}
	s.conns = append(s.conns, c)
	return c
}

// Topic is a topic name that belongs to this sequence alone.
func (s *Session) Topic(suffix string) string { return s.Name + "." + suffix }

// Note writes a remark into the transcript.
func (s *Session) Note(format string, args ...any) { s.out.printf("> # "+format, args...) }

func (s *Session) close() {
	for _, c := range s.conns {
		c.c.Close()
	}
}

// frame is the request with its header, ready to send.
func frame(req kmsg.Request, correlation int32) []byte {
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID("oracle"))
	return f.AppendRequest(nil, req, correlation)
}

// At sets the version of a request and returns it.
func At[R kmsg.Request](version int16, req R) R {
	req.SetVersion(version)
	return req
}

// Send sends req, writes the answer into the transcript and returns it. If the
// server closes the connection instead, the transcript says so and the answer
// is an empty response.
func (c *Conn) Send(req kmsg.Request) kmsg.Response {
	c.s.out.printf("> %s %s v%d %s", c.label, kmsg.NameForKey(req.Key()), req.GetVersion(), summary(req))
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if !c.write(frame(req, c.next())) {
		return resp
	}
	body, ok := c.read()
	if !ok {
		return resp
	}
	c.decode(req, resp, body)
	return resp
}

// Post sends req and expects no answer (acks=0).
func (c *Conn) Post(req kmsg.Request) {
	c.s.out.printf("> %s %s v%d %s, no answer expected", c.label, kmsg.NameForKey(req.Key()), req.GetVersion(), summary(req))
	c.write(frame(req, c.next()))
}

// Ask is Send without a trace in the transcript, for preparations whose answer
// is compared elsewhere or not at all.
func (c *Conn) Ask(req kmsg.Request) kmsg.Response {
	keep := c.s.out
	c.s.out = newTranscript(0)
	defer func() { c.s.out = keep }()
	return c.Send(req)
}

// Raw sends bytes as one frame (the length is put in front) and writes down the
// bytes of the answer, or that the connection was closed.
func (c *Conn) Raw(what string, body []byte) {
	c.s.out.printf("> %s raw %s", c.label, what)
	if !c.write(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body) {
		return
	}
	if answer, ok := c.read(); ok {
		c.s.out.printf("answer 0x%x", answer)
	}
}

// Bytes sends bytes as they are, without a length, and waits for an answer or
// the end of the connection.
func (c *Conn) Bytes(what string, b []byte) {
	c.s.out.printf("> %s bytes %s", c.label, what)
	if !c.write(b) {
		return
	}
	if answer, ok := c.read(); ok {
		c.s.out.printf("answer 0x%x", answer)
	}
}

func (c *Conn) next() int32 {
	c.correlation++
	return c.correlation
}

func (c *Conn) write(parts ...[]byte) bool {
	for _, p := range parts {
		if _, err := c.c.Write(p); err != nil {
			c.ended()
			return false
		}
	}
	return true
}

// read returns the next answer without its length; ok is false if the server
// closed the connection or gave no answer.
func (c *Conn) read() (body []byte, ok bool) {
	check(c.c.SetReadDeadline(time.Now().Add(answerTimeout)))
	var length [4]byte
	_, err := io.ReadFull(c.c, length[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.s.out.printf("never answered")
		return nil, false
	}
	if err != nil {
		c.ended()
		return nil, false
	}
	body = make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err = io.ReadFull(c.c, body)
	check(err)
	return body, true
}

func (c *Conn) ended() {
	if !c.closed {
		c.closed = true
		c.s.out.printf("connection closed by the server")
	}
}

func (c *Conn) decode(req kmsg.Request, resp kmsg.Response, body []byte) {
	if got := int32(binary.BigEndian.Uint32(body)); got != c.correlation {
		c.s.out.printf("answer to correlation id %d", got-c.correlation)
		return
	}
	body = body[4:]
	apiVersions := req.Key() == int16(kmsg.ApiVersions)
	if resp.IsFlexible() && !apiVersions {
		if body[0] != 0 {
			c.s.out.printf("answer header has tags")
			return
		}
		body = body[1:]
	}
	if apiVersions && len(body) >= 2 && binary.BigEndian.Uint16(body) == 35 {
		resp.SetVersion(0) // the form for clients that are too new
	}
	if err := resp.ReadFrom(body); err != nil {
		c.s.out.printf("answer cannot be read: %v: 0x%x", err, body)
		return
	}
	if size := len(resp.AppendTo(nil)); size != len(body) {
		c.s.out.printf("answer has %d bytes, its content %d", len(body), size)
	}
	c.s.out.answer(resp)
}

// summary says in a few words what a request asks, for the transcript's reader.
func summary(req kmsg.Request) string {
	v := reflect.Indirect(reflect.ValueOf(req)).FieldByName("Topics")
	if v.IsValid() && v.Kind() == reflect.Slice {
		return fmt.Sprintf("(%d topics)", v.Len())
	}
	return ""
}

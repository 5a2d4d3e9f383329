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
	address    string // of the listener for clients
	controller string // of the controller listener
	Name       string // of the sequence; topics made by Topic carry it
	out        *Transcript
	conns      []*Conn
}

// Conn is one client connection of a session.
type Conn struct {
	s           *Session
	c           net.Conn
	label       string
	correlation int32
	closed      bool
	clientID    string
	remark      string        // about the next request, see Say
	patience    time.Duration // how long it waits for an answer
}

// failure stops a sequence: something in the harness, not in an answer.
type failure struct{ err error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Conn opens a connection. Labels name it in the transcript.
func (s *Session) Conn(label string) *Conn { return s.dial(label, s.address) }

// Controller opens a connection to the controller listener.
func (s *Session) Controller(label string) *Conn { return s.dial(label, s.controller) }

func (s *Session) dial(label, address string) *Conn {
	nc, err := net.DialTimeout("tcp", address, 10*time.Second)
	check(err)
	c := &Conn{s: s, c: nc, label: label, clientID: "oracle", patience: answerTimeout}
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

// At sets the version of a request and returns it.
func At[R kmsg.Request](version int16, req R) R {
	req.SetVersion(version)
	return req
}

// frame is the request with its header, ready to send.
func (c *Conn) frame(req kmsg.Request) []byte {
	c.correlation++
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID(c.clientID))
	return f.AppendRequest(nil, req, c.correlation)
}

// Send sends req, writes the answer into the transcript and returns it. If the
// server closes the connection instead, the transcript says so and the answer
// is an empty response.
func (c *Conn) Send(req kmsg.Request) kmsg.Response { return c.Begin(req)() }

// Say puts a remark behind the next request's line of the transcript.
func (c *Conn) Say(format string, args ...any) *Conn {
	c.remark = ": " + fmt.Sprintf(format, args...)
	return c
}

// step begins a step of the transcript.
func (c *Conn) step(what string) {
	c.s.out.printf("> %s %s%s", c.label, what, c.remark)
	c.remark = ""
}

// Begin sends req. What it returns waits for the answer and is what Send is after
// that; the transcript has both together.
func (c *Conn) Begin(req kmsg.Request) (end func() kmsg.Response) {
	sent := c.write(c.frame(req))
	correlation := c.correlation
	return func() kmsg.Response {
		c.step(describeRequest(req))
		return c.receive(req, correlation, sent)
	}
}

// Pipeline sends all requests with one write and then waits for the answers (none
// comes to Produce with acks=0).
func (c *Conn) Pipeline(reqs ...kmsg.Request) {
	var all []byte
	first := c.correlation + 1
	for _, req := range reqs {
		all = append(all, c.frame(req)...)
	}
	sent := c.write(all)
	for i, req := range reqs {
		c.step("pipelined " + describeRequest(req))
		if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == 0 {
			continue
		}
		c.receive(req, first+int32(i), sent)
	}
}

// receive reads the answer to req.
func (c *Conn) receive(req kmsg.Request, correlation int32, sent bool) kmsg.Response {
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if !sent {
		c.ended()
		return resp
	}
	if body, ok := c.read(); ok {
		c.decode(req, resp, correlation, body)
	}
	return resp
}

// Post sends req and expects no answer (acks=0).
func (c *Conn) Post(req kmsg.Request) {
	c.step(describeRequest(req) + ", no answer expected")
	if !c.write(c.frame(req)) {
		c.ended()
	}
}

// Ask is Send without a trace in the transcript, for preparations whose answer
// is compared elsewhere or not at all.
func (c *Conn) Ask(req kmsg.Request) kmsg.Response {
	keep := c.s.out
	c.s.out = newTranscript()
	defer func() { c.s.out = keep }()
	return c.Send(req)
}

// Raw sends bytes as one frame (the length is put in front) and writes down the
// bytes of the answer, or that the connection was closed.
func (c *Conn) Raw(what string, body []byte) {
	c.Bytes("raw "+what, append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
}

// Bytes sends bytes as they are, without a length, and waits for an answer or
// the end of the connection.
func (c *Conn) Bytes(what string, b []byte) {
	c.step(what)
	if !c.write(b) {
		c.ended()
		return
	}
	if answer, ok := c.read(); ok {
		c.s.out.printf("answer 0x%x", answer)
	}
}

// Body sends a request of req's key and version whose body is given as bytes, and
// writes down the answer like Send.
func (c *Conn) Body(what string, req kmsg.Request, body []byte) kmsg.Response {
	c.Say("%s", what).step(describeRequest(req))
	c.correlation++
	h := requestHeader(req.Key(), req.GetVersion(), c.correlation, c.clientID)
	if req.IsFlexible() {
		h = append(h, 0) // no tags
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(h)+len(body)))
	return c.receive(req, c.correlation, c.write(append(append(frame, h...), body...)))
}

// requestHeader is a request header without its tags.
func requestHeader(key, version int16, correlation int32, clientID string) []byte {
	h := binary.BigEndian.AppendUint16(nil, uint16(key))
	h = binary.BigEndian.AppendUint16(h, uint16(version))
	h = binary.BigEndian.AppendUint32(h, uint32(correlation))
	h = binary.BigEndian.AppendUint16(h, uint16(len(clientID)))
	return append(h, clientID...)
}

func (c *Conn) write(b []byte) bool {
	_, err := c.c.Write(b)
	return err == nil
}

// read returns the next answer without its length; ok is false if the server
// closed the connection or gave no answer.
func (c *Conn) read() (body []byte, ok bool) {
	check(c.c.SetReadDeadline(time.Now().Add(c.patience)))
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

func (c *Conn) decode(req kmsg.Request, resp kmsg.Response, correlation int32, body []byte) {
	if got := int32(binary.BigEndian.Uint32(body)); got != correlation {
		c.s.out.printf("answer to another request: correlation id %+d", got-correlation)
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

// describeRequest says in a few words what a request asks, for the transcript's
// reader.
func describeRequest(req kmsg.Request) string {
	out := fmt.Sprintf("%s v%d", kmsg.NameForKey(req.Key()), req.GetVersion())
	v := reflect.Indirect(reflect.ValueOf(req)).FieldByName("Topics")
	if v.IsValid() && v.Kind() == reflect.Slice {
		out += fmt.Sprintf(" (%d topics)", v.Len())
	}
	return out
}

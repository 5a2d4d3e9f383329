package load

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience bounds every wait for an answer.
const patience = 2 * time.Minute

const correlationID = 7 // of every request: answers come in order

// formatter writes request headers.
var formatter = kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench"))

// Conn is a connection that sends one request at a time.
type Conn struct{ c net.Conn }

// Dial opens a connection.
func Dial(address string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", address, patience)
	return &Conn{c}, err
}

// Close closes the connection.
func (c *Conn) Close() error { return c.c.Close() }

// ask sends a request and decodes its answer.
func (c *Conn) ask(req kmsg.Request) (kmsg.Response, error) {
	if err := c.c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := c.c.Write(formatter.AppendRequest(nil, req, correlationID)); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(c.c, length[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(c.c, body); err != nil {
		return nil, err
	}
	header := 4 // correlation id
	if req.IsFlexible() {
		header++ // no tags
	}
	if len(body) < header {
		return nil, fmt.Errorf("an answer of %d bytes", len(body))
	}
	resp := req.ResponseKind()
	return resp, resp.ReadFrom(body[header:])
}

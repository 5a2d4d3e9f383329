package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What is charged for a request beside what decoding it allocates: its own state,
// and, for each element of its arrays, a share of the answer and of what a handler
// notes while it works (a partition of a Produce request takes the most, some 300
// bytes with what appending to lists leaves behind).
const (
	requestOverhead = 512
	elementOverhead = 256
)

// A request may cost more than the budget, for it is served alone then. But a
// frame that costs many times its size as well is no request that somebody needs:
// 100 MiB of empty elements or unknown tags would be ten gigabytes. Apache Kafka
// answers a Metadata request of 1,000,000 names, which costs 330 MB; a fetch of
// 200,000 partitions costs 70.
const (
	fairCost   = 512 << 20
	fairFactor = 8
)

// tooCostly says so of a charge for a frame of that size.
func tooCostly(charge int64, size int, budget int64) bool {
	return charge > max(budget, fairCost) && charge > fairFactor*int64(size)
}

// errShort is returned by parse when the memory for a request is not there now.
var errShort = errors.New("memory is short")

// nextRun makes a run of the complete frames that are there: one request, or
// neighbours of one key where the table says Batch. A bad frame ends a run and is
// an error when its turn comes.
func (c *Conn) nextRun() ([]*Request, error) {
	c.run = c.run[:0]
	if err := c.unstash(); err != nil {
		return nil, err
	}
	for len(c.run) < c.room {
		frame, ok, err := c.in.frame(c.frameLimit())
		if !ok || err != nil {
			return c.run, c.unlessRun(err)
		}
		if len(c.run) > 0 && !c.sameKey(frame) {
			break
		}
		r, err := c.parse(frame)
		if err == errShort && len(c.run) == 0 {
			r, err = c.parseWaiting(frame)
		}
		if err != nil {
			return c.run, c.unlessRun(err)
		}
		c.in.pass(frame)
		c.run = append(c.run, r)
		if !r.API.Batch {
			break
		}
	}
	return c.run, nil
}

// unstash brings requests that were kept aside back into a buffer.
func (c *Conn) unstash() error {
	size := c.in.frameSize()
	if c.in.buffer != nil || size == 0 || size > len(c.in.stash) || c.in.makeRoom(c.account.TryTake, plenty) {
		return nil
	}
	if !c.park() {
		return net.ErrClosed
	}
	defer c.unpark()
	if !c.in.makeRoom(c.takeWaiting, scarce) {
		return net.ErrClosed
	}
	return nil
}

// unlessRun puts an error off until the run before it has been served.
func (c *Conn) unlessRun(err error) error {
	if len(c.run) > 0 {
		return nil
	}
	return err
}

func (c *Conn) sameKey(frame []byte) bool {
	return len(frame) >= 2 && int16(binary.BigEndian.Uint16(frame)) == c.run[0].Header.Key
}

// frameLimit is the largest frame that may come next. Before authentication it
// depends on the key, as soon as that has arrived.
func (c *Conn) frameLimit() int {
	if c.authenticated {
		return c.server.options.MaxFrame
	}
	p := c.in.pending()
	if len(p) < wire.LengthBytes+2 {
		return c.server.options.MaxFrameAuth
	}
	a, ok := wire.Lookup(int16(binary.BigEndian.Uint16(p[wire.LengthBytes:])))
	if !ok || a.BeforeAuth == wire.ConfiguredLimit {
		return c.server.options.MaxFrameAuth
	}
	return int(a.BeforeAuth)
}

// parse makes a request of a frame. What it takes from the budget is given back
// by release.
func (c *Conn) parse(frame []byte) (*Request, error) {
	return c.parseWith(frame, c.account.TryTake)
}

// parseWaiting is parse for the time when memory is short: what can be written
// leaves first.
func (c *Conn) parseWaiting(frame []byte) (*Request, error) {
	if !c.park() {
		return nil, net.ErrClosed
	}
	defer c.unpark()
	r, err := c.parseWith(frame, c.takeWaiting)
	if err == errShort { // only when the connection ended
		err = net.ErrClosed
	}
	return r, err
}

func (c *Conn) parseWith(frame []byte, take func(int64) bool) (*Request, error) {
	h, body, err := wire.ParseRequestHeader(frame, c.clientID)
	if err != nil {
		return nil, err
	}
	api, err := c.listener.options.Served.Admit(&h, c.listener.options.Scope)
	if err != nil {
		return nil, err
	}
	if !c.authenticated && api.BeforeAuth == 0 {
		return nil, fmt.Errorf("%s before authentication", api.Name)
	}
	m, err := c.listener.options.Served.Measure(&h, body)
	if err != nil {
		return nil, err
	}
	r := &Request{Header: h, API: api, Arrived: c.in.arrived, Size: len(frame), conn: c, drain: c.drain}
	r.charge = m.Memory + requestOverhead + m.Elements*elementOverhead
	if m.Aliases && !api.Batch {
		r.charge += int64(len(body))
	}
	if tooCostly(r.charge, len(frame), c.listener.options.Budget.Limit()) {
		return nil, fmt.Errorf("%w: %s of %d bytes would take %d bytes of memory", wire.ErrTooMany, api.Name, len(frame), r.charge)
	}
	if !take(r.charge) {
		return nil, errShort
	}
	switch {
	case api.Batch:
		r.buffer = c.in.buffer
		r.buffer.Hold()
	case m.Aliases:
		body = bytes.Clone(body)
	}
	r.body = body
	if r.Msg, err = wire.Decode(&h, body); err != nil {
		r.release()
		return nil, err
	}
	c.clientID = h.ClientID
	return r, nil
}

// serveRun puts a run into the queue and gives it to the handler.
func (c *Conn) serveRun(run []*Request) {
	c.yield()
	expected := c.server.expect(run[0])
	if !c.takeExpected(expected) {
		for _, r := range run {
			r.release()
		}
		return
	}
	defer c.returnExpected(expected)
	at := c.server.options.Now()
	for _, r := range run {
		r.served = at
		st := &c.server.stats.Requests[r.Header.Key]
		st.Count.Add(1)
		st.Bytes.Add(int64(r.Size))
	}
	if !c.enqueue(run) {
		for _, r := range run {
			r.release()
		}
		return
	}
	if c.authenticated || kmsg.Key(run[0].Header.Key) == kmsg.ApiVersions {
		c.listener.options.Handler.Serve(c, run)
	} else {
		c.listener.options.Authenticator.Authenticate(c, run[0])
		c.authenticated = c.Principal() != ""
	}
	clear(run)
}

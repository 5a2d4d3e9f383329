package api_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/node"
	"barnabas/internal/security"
	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience is how long a test waits for something that has to come.
const patience = 30 * time.Second

// fixture is a node in this process.
type fixture struct {
	*node.Node
	t *testing.T
}

// start starts a node with an empty folder and waits until it serves.
func start(t *testing.T, authorizer security.Authorizer, overrides ...string) *fixture {
	t.Helper()
	dir := t.TempDir()
	c, _, err := config.Load(config.Options{Environ: []string{"HOME=" + dir}, Overrides: append([]string{
		"log.dirs=" + dir, "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0", "barnabas.admin.listener=none"}, overrides...)})
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.Start(node.Options{Config: c, AutoFormat: true, Log: slog.New(slog.DiscardHandler), Level: new(slog.LevelVar), Authorizer: authorizer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := n.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-n.Serving():
	case <-n.Failed():
		t.Fatal(n.Failure())
	case <-time.After(patience):
		t.Fatal("not serving")
	}
	return &fixture{n, t}
}

// conn is a connection that shows the bytes of answers.
type conn struct {
	net.Conn
	t *testing.T
}

func dial(t *testing.T, to netip.AddrPort) *conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", to.String(), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &conn{c, t}
}

// conn opens a connection to a listener.
func (f *fixture) conn(listener string) *conn {
	f.t.Helper()
	return dial(f.t, f.Address(listener))
}

// exchange sends req and gives the answer, and its bytes without the header.
func (c *conn) exchange(req kmsg.Request) (kmsg.Response, []byte) {
	c.t.Helper()
	const correlation = 4711
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, req, correlation)
	if _, err := c.Write(frame); err != nil {
		c.t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	what := kmsg.NameForKey(req.Key())
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		c.t.Fatalf("%s %d: %v", what, req.GetVersion(), err)
	}
	b := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		c.t.Fatalf("%s %d: %v", what, req.GetVersion(), err)
	}
	header := wire.AppendResponseHeader(nil, req.Key(), req.GetVersion(), correlation)
	if len(b) < len(header) || string(b[:len(header)]) != string(header) {
		c.t.Fatalf("%s %d: header of %x, want %x", what, req.GetVersion(), b, header)
	}
	b = b[len(header):]
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if err := resp.ReadFrom(b); err != nil {
		c.t.Fatalf("%s %d: %v", what, req.GetVersion(), err)
	}
	return resp, b
}

// ask is exchange for who does not care about bytes.
func ask[R kmsg.Response](c *conn, req kmsg.Request) R {
	c.t.Helper()
	resp, _ := c.exchange(req)
	return resp.(R)
}

// at sets the version of a request.
func at[R kmsg.Request](version int16, req R) R {
	req.SetVersion(version)
	return req
}

// create makes a topic and waits until it can be used.
func (c *conn) create(name string, partitions int32) kafka.UUID {
	c.t.Helper()
	r := at(7, kmsg.NewPtrCreateTopicsRequest())
	r.TimeoutMillis = 30_000
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, partitions, 1
	r.Topics = append(r.Topics, rt)
	resp := ask[*kmsg.CreateTopicsResponse](c, r)
	if len(resp.Topics) != 1 || resp.Topics[0].ErrorCode != 0 {
		c.t.Fatalf("create %s: %+v", name, resp.Topics)
	}
	return resp.Topics[0].TopicID
}

// metadata asks for topics by name.
func metadata(version int16, names ...string) *kmsg.MetadataRequest {
	r := at(version, kmsg.NewPtrMetadataRequest())
	r.Topics = []kmsg.MetadataRequestTopic{}
	for i := range names {
		r.Topics = append(r.Topics, kmsg.MetadataRequestTopic{Topic: &names[i]})
	}
	return r
}

// awaitEnd waits until the node ends the connection, without an answer.
func (c *conn) awaitEnd() {
	c.t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("%d bytes, %v; the connection should end", n, err)
	}
}

func addrPort(host string, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(host), port)
}

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after %v: %s", patience, what)
		}
	}
}

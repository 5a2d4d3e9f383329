package soak

import (
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var connections = flag.Int("connections", 10_000, "idle connections")

// bytesPerIdleConnection is the bound on anonymous memory.
const bytesPerIdleConnection = 5 << 10

func TestIdleConnectionsAreSmall(t *testing.T) {
	node := newSoakNode(t, buildBarnabas(t), filepath.Join(t.TempDir(), "node"))
	// One client first, so that what is made once isn't counted.
	warm, err := openIdle(node.Address(), 50)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(warm)
	before, err := anonymousMemory(node.PID(), node.Admin)
	if err != nil {
		t.Fatal(err)
	}
	conns, err := openIdle(node.Address(), *connections)
	defer closeAll(conns)
	if err != nil {
		t.Fatal(err)
	}
	// A connection lets its goroutine go when it has been idle for a second, and
	// the memory goes back to the system behind that.
	after, deadline := int64(0), time.Now().Add(30*time.Second)
	for each := int64(bytesPerIdleConnection + 1); each > bytesPerIdleConnection; {
		if after, err = anonymousMemory(node.PID(), node.Admin); err != nil {
			t.Fatal(err)
		}
		each = (after - before) / int64(*connections)
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes per idle connection, at most %d are allowed (%d to %d KiB)", each, bytesPerIdleConnection, before>>10, after>>10)
		}
	}
	t.Logf("%d connections: %d bytes each (%d to %d KiB)", *connections, (after-before)/int64(*connections), before>>10, after>>10)
}

// openIdle opens n connections and has one Metadata request answered on each.
func openIdle(address string, n int) ([]net.Conn, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(12)
	req.Topics = []kmsg.MetadataRequestTopic{}
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("idle")).AppendRequest(nil, req, 1)
	conns := make([]net.Conn, n)
	errs := make([]error, 8)
	var workers sync.WaitGroup
	for w := range errs {
		workers.Go(func() {
			for i := w; i < n && errs[w] == nil; i += len(errs) {
				conns[i], errs[w] = askOnce(address, frame)
			}
		})
	}
	workers.Wait()
	return conns, errors.Join(errs...)
}

func askOnce(address string, frame []byte) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	_, err = exchange(c, frame)
	return c, err
}

// exchange sends a frame and returns the answer's frame without its length.
func exchange(c net.Conn, frame []byte) ([]byte, error) {
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := c.Write(frame); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(c, body)
	return body, err
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		if c != nil {
			c.Close()
		}
	}
}

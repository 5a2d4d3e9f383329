package soak

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var frames = flag.Int("frames", 10_000, "mutated frames sent to the live port")

// memorySlack is how much more memory the server may have at the end than after
// the first tenth of the frames.
const memorySlack = 64 << 20

func TestMutatedFramesDoNoHarm(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 2))
	node := newSoakNode(t, buildBarnabas(t), filepath.Join(t.TempDir(), "node"))
	if err := createTopics(node.Address(), nil); err != nil {
		t.Fatal(err)
	}
	healthy := startHealthyClient(t, node.Address())
	var after int64
	for i := range *frames {
		sendMutated(t, node.Address(), rng)
		if i == *frames/10 {
			m, err := anonymousMemory(node.PID(), node.Admin)
			if err != nil {
				t.Fatal(err)
			}
			after = m
		}
	}
	end, err := anonymousMemory(node.PID(), node.Admin)
	if err != nil {
		t.Fatal(err)
	}
	written := healthy.stop(t)
	t.Logf("%d frames; memory %d KiB after a tenth, %d KiB at the end; the healthy client wrote %d records", *frames, after>>10, end>>10, written)
	if end > after+memorySlack {
		t.Errorf("memory grew by %d KiB", (end-after)>>10)
	}
}

// sendMutated sends one broken frame on a connection of its own and waits for an
// answer, the end of the connection, or a moment in which neither comes.
func sendMutated(t *testing.T, address string, rng *rand.Rand) {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		t.Fatalf("the server does not accept any more: %v", err)
	}
	defer c.Close()
	if _, err := c.Write(mutatedFrame(rng)); err != nil {
		return // closed while we wrote
	}
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err = io.CopyN(io.Discard, c, 4)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, io.EOF) {
		var op *net.OpError
		if !errors.As(err, &op) {
			t.Fatal(err)
		}
	}
}

// mutatedFrame is a request of any kind, mostly valid, then damaged.
func mutatedFrame(rng *rand.Rand) []byte {
	req := kmsg.RequestForKey(int16(rng.IntN(95)))
	for req == nil {
		req = kmsg.RequestForKey(int16(rng.IntN(95)))
	}
	req.SetVersion(int16(rng.IntN(int(req.MaxVersion()) + 1)))
	req.(interface{ Default() }).Default()
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID("mutant")).AppendRequest(nil, req, rng.Int32())
	switch rng.IntN(6) {
	case 0: // a length that lies
		binary.BigEndian.PutUint32(f, rng.Uint32()>>uint(rng.IntN(32)))
	case 1: // cut off
		f = f[:rng.IntN(len(f))]
	case 2: // noise at the end, inside of the frame
		noise := make([]byte, rng.IntN(3000))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		f = append(f, noise...)
		binary.BigEndian.PutUint32(f, uint32(len(f)-4))
	default: // bytes changed
		for range 1 + rng.IntN(8) {
			if i := 4 + rng.IntN(len(f)); i < len(f) {
				f[i] = byte(rng.Uint32())
			}
		}
	}
	return f
}

// healthyClient writes and reads beside the mutants and must see no error.
type healthyClient struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	n      int
	err    error
}

func startHealthyClient(t *testing.T, address string) *healthyClient {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(soakTopics[0]), kgo.RequestRetries(0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &healthyClient{cancel: cancel}
	h.done.Go(func() {
		defer cl.Close()
		for ctx.Err() == nil {
			if err := cl.ProduceSync(context.Background(), kgo.StringRecord("healthy")).FirstErr(); err != nil {
				h.err = err
				return
			}
			h.n++
		}
	})
	return h
}

func (h *healthyClient) stop(t *testing.T) int {
	t.Helper()
	h.cancel()
	h.done.Wait()
	if h.err != nil {
		t.Errorf("the healthy client saw: %v", h.err)
	}
	return h.n
}

package soak

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	producerConnections = 4
	inFlight            = 5
	requestsEach        = 3000
	batchBytes          = 16 << 10
	maxCallsPerRequest  = 4.0
)

func TestProduceRequestCostsFewSystemCalls(t *testing.T) {
	node := newSoakNode(t, buildBarnabas(t), filepath.Join(t.TempDir(), "node"))
	if err := createTopics(node.Address(), nil); err != nil {
		t.Fatal(err)
	}
	if err := pump(node.Address(), 200); err != nil { // files are opened, buffers are there
		t.Fatal(err)
	}
	summary := filepath.Join(t.TempDir(), "strace.txt")
	strace := exec.Command("strace", "-f", "-c", "-o", summary, "-p", strconv.Itoa(node.PID()))
	stderr, err := strace.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := strace.Start(); err != nil {
		t.Fatalf("strace is needed: %v", err)
	}
	if _, err := io.ReadAtLeast(stderr, make([]byte, 64), 8); err != nil { // "strace: Process N attached"
		t.Fatalf("strace does not attach: %v", err)
	}
	go io.Copy(io.Discard, stderr)
	if err := pump(node.Address(), requestsEach); err != nil {
		t.Fatal(err)
	}
	if err := strace.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	strace.Wait() // ends by the signal
	text, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := totalCalls(string(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	perRequest := float64(calls) / (producerConnections * requestsEach)
	t.Logf("%.2f system calls per request of %d bytes\n%s", perRequest, batchBytes, text)
	if perRequest > maxCallsPerRequest {
		t.Errorf("%.2f system calls per request, at most %.1f are allowed", perRequest, maxCallsPerRequest)
	}
}

// totalCalls reads the line "100.00 seconds usecs calls errors total".
func totalCalls(summary string) (int, error) {
	for line := range strings.Lines(summary) {
		f := strings.Fields(line)
		if len(f) >= 4 && f[len(f)-1] == "total" {
			return strconv.Atoi(f[3])
		}
	}
	return 0, errors.New("strace printed no total")
}

// pump sends n produce requests on each of the connections, a few in flight.
func pump(address string, n int) error {
	errs := make([]error, producerConnections)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = pumpOne(address, int32(i%soakPartitions), n) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func pumpOne(address string, partition int32, n int) error {
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	frame := produceFrame(partition)
	slots := make(chan struct{}, inFlight)
	failed := make(chan error, 1)
	go func() {
		var length [4]byte
		for range n {
			if _, err := io.ReadFull(c, length[:]); err != nil {
				failed <- err
				return
			}
			if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(length[:]))); err != nil {
				failed <- err
				return
			}
			<-slots
		}
		failed <- nil
	}()
	for range n {
		slots <- struct{}{}
		if _, err := c.Write(frame); err != nil {
			return err
		}
	}
	return <-failed
}

// produceFrame is an acks=1 request with one batch of 16 KiB.
func produceFrame(partition int32) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.SetVersion(11)
	req.Acks, req.TimeoutMillis = 1, 30_000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = soakTopics[0]
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Partition, rp.Records = partition, bigBatch()
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("pump")).AppendRequest(nil, req, 7)
}

// bigBatch is a batch of 100-byte records with the time of now.
func bigBatch() []byte {
	var body []byte
	count := int32(0)
	for ; len(body) < batchBytes-61; count++ {
		rec := []byte{0, 0}
		rec = binary.AppendVarint(rec, int64(count))
		rec = binary.AppendVarint(rec, -1)
		rec = binary.AppendVarint(rec, 100)
		rec = append(rec, make([]byte, 100)...)
		rec = binary.AppendVarint(rec, 0)
		body = binary.AppendVarint(body, int64(len(rec)))
		body = append(body, rec...)
	}
	b := make([]byte, 61, 61+len(body))
	now := uint64(time.Now().UnixMilli())
	binary.BigEndian.PutUint32(b[8:], uint32(49+len(body)))
	b[16] = 2
	binary.BigEndian.PutUint32(b[23:], uint32(count-1))
	binary.BigEndian.PutUint64(b[27:], now)
	binary.BigEndian.PutUint64(b[35:], now)
	for i := 43; i < 57; i++ {
		b[i] = 0xff
	}
	binary.BigEndian.PutUint32(b[57:], uint32(count))
	b = append(b, body...)
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

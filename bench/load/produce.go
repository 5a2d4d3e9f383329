package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Produce is a closed loop of Produce requests, each with one batch.
type Produce struct {
	Address     string
	Topic       Topic
	Connections int
	InFlight    int // requests of a connection that wait for an answer
	Requests    int // in all
	BatchBytes  int
	RecordBytes int
	Acks        int16
}

// Result is what a load did.
type Result struct {
	Requests  int64
	Bytes     int64 // of batches
	Records   int64
	Wall      time.Duration
	Latencies Latencies
}

// Run runs the load to its end.
func (l Produce) Run() (Result, error) {
	batch, records := encodeBatch(l.BatchBytes, l.RecordBytes)
	each := max(1, l.Requests/l.Connections)
	producers := make([]*producer, l.Connections)
	for i := range producers {
		c, err := net.DialTimeout("tcp", l.Address, patience)
		if err != nil {
			return Result{}, err
		}
		defer c.Close()
		producers[i] = newProducer(c, produceFrame(l.Topic, int32(i)%l.Topic.Partitions, l.Acks, batch), l.InFlight)
	}
	began := time.Now()
	errs := make([]error, len(producers))
	var all sync.WaitGroup
	for i, p := range producers {
		all.Go(func() { errs[i] = p.run(each) })
	}
	all.Wait()
	n := int64(each * l.Connections)
	result := Result{Requests: n, Bytes: n * int64(len(batch)), Records: n * int64(records), Wall: time.Since(began)}
	for _, p := range producers {
		result.Latencies = append(result.Latencies, p.latencies...)
	}
	return result, errors.Join(errs...)
}

// producer is one connection of the closed loop. One goroutine reads and writes:
// whatever answers a read brings, as many requests leave with one write.
type producer struct {
	c         net.Conn
	frames    []byte // the request, inFlight times in a row
	frame     int    // bytes of one request
	inFlight  int
	answers   []byte // bytes of answers that were read, the last one in part
	sent      []time.Time
	latencies Latencies
}

func newProducer(c net.Conn, frame []byte, inFlight int) *producer {
	p := &producer{c: c, frame: len(frame), inFlight: inFlight, answers: make([]byte, 0, 16<<10)}
	for range inFlight {
		p.frames = append(p.frames, frame...)
	}
	return p
}

func (p *producer) run(n int) error {
	p.sent = make([]time.Time, 0, n)
	p.latencies = make(Latencies, 0, n)
	if err := p.c.SetDeadline(time.Now().Add(2*patience + time.Duration(n)*time.Millisecond)); err != nil {
		return err
	}
	if err := p.send(min(n, p.inFlight)); err != nil {
		return err
	}
	for len(p.latencies) < n {
		k, err := p.receive()
		if err != nil {
			return err
		}
		if err := p.send(min(k, n-len(p.sent))); err != nil {
			return err
		}
	}
	return nil
}

func (p *producer) send(k int) error {
	now := time.Now()
	for range k {
		p.sent = append(p.sent, now)
	}
	_, err := p.c.Write(p.frames[:k*p.frame])
	return err
}

// receive reads once and returns how many answers are complete with that.
func (p *producer) receive() (int, error) {
	n, err := p.c.Read(p.answers[len(p.answers):cap(p.answers)])
	if err != nil {
		return 0, fmt.Errorf("after %d answers: %w", len(p.latencies), err)
	}
	now := time.Now()
	p.answers = p.answers[:len(p.answers)+n]
	k, rest := 0, p.answers
	for {
		answer, after, ok := cutFrame(rest)
		if !ok {
			break
		}
		if err := checkProduced(answer); err != nil {
			return 0, err
		}
		p.latencies = append(p.latencies, now.Sub(p.sent[len(p.latencies)]))
		k, rest = k+1, after
	}
	p.answers = p.answers[:copy(p.answers, rest)]
	return k, nil
}

// cutFrame cuts the first whole frame, length included, off b.
func cutFrame(b []byte) (frame, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, b, false
	}
	n := 4 + int(binary.BigEndian.Uint32(b))
	if len(b) < n {
		return nil, b, false
	}
	return b[:n], b[n:], true
}

func checkProduced(answer []byte) error {
	if len(answer) < produceErrorAt+2 {
		return fmt.Errorf("an answer of %d bytes", len(answer))
	}
	if code := int16(binary.BigEndian.Uint16(answer[produceErrorAt:])); code != 0 {
		return fmt.Errorf("produce: error code %d", code)
	}
	return nil
}

package load

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Paced is an open loop of Produce requests at a fixed rate, spread in turn over
// the connections.
type Paced struct {
	Address     string
	Topic       Topic
	Connections int
	Rate        int // requests a second
	Duration    time.Duration
	BatchBytes  int
	RecordBytes int
	Acks        int16
}

// PacedResult has the latencies from the intended times, the first tenth left
// out.
type PacedResult struct {
	Result
	Late     Latencies // how late requests left: the client's own part
	Achieved float64   // answered requests a second over Rate
}

// Run runs the load to its end. The schedule is absolute: request i is due at
// start + i/rate, whatever happened to those before.
func (l Paced) Run() (PacedResult, error) {
	batch, records := encodeBatch(l.BatchBytes, l.RecordBytes)
	each := max(1, int(float64(l.Rate)*l.Duration.Seconds())/l.Connections)
	n := each * l.Connections
	frames := make([][]byte, l.Connections)
	sockets := make([]int, l.Connections)
	for i := range sockets {
		frames[i] = produceFrame(l.Topic, int32(i)%l.Topic.Partitions, l.Acks, batch)
		fd, err := connect(l.Address)
		if err != nil {
			return PacedResult{}, err
		}
		defer unix.Close(fd)
		sockets[i] = fd
	}
	schedule := schedule{start: time.Now().Add(50 * time.Millisecond), interval: time.Second / time.Duration(l.Rate)}
	latencies, late := make(Latencies, n), make(Latencies, n)
	errs := make([]error, l.Connections+1)
	var all sync.WaitGroup
	for i, fd := range sockets {
		all.Go(func() {
			errs[i] = receivePaced(fd, each, func(k int, now time.Time) {
				request := k*l.Connections + i
				latencies[request] = now.Sub(schedule.due(request))
			})
		})
	}
	all.Go(func() { errs[l.Connections] = sendPaced(sockets, frames, schedule, late) })
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return PacedResult{}, err
	}
	last := schedule.due(n - 1).Add(latencies[n-1]).Sub(schedule.start)
	r := PacedResult{Late: late[n/10:], Achieved: float64(n-1) / float64(l.Rate) / last.Seconds()}
	r.Result = Result{Requests: int64(n), Bytes: int64(n * len(batch)), Records: int64(n * records), Wall: last, Latencies: latencies[n/10:]}
	return r, nil
}

type schedule struct {
	start    time.Time
	interval time.Duration
}

func (s schedule) due(request int) time.Time {
	return s.start.Add(time.Duration(request) * s.interval)
}

// sendPaced sends all requests from one thread of its own, which sleeps in the
// kernel: a timer of the runtime would be late by up to a millisecond.
func sendPaced(sockets []int, frames [][]byte, s schedule, late Latencies) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range late {
		for wait := time.Until(s.due(i)); wait > 0; wait = time.Until(s.due(i)) { // a signal ends a sleep
			ts := unix.NsecToTimespec(wait.Nanoseconds())
			if err := unix.Nanosleep(&ts, nil); err != nil && !errors.Is(err, unix.EINTR) {
				return err
			}
		}
		late[i] = max(0, time.Since(s.due(i)))
		if err := writeAll(sockets[i%len(sockets)], frames[i%len(sockets)]); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	return nil
}

// receivePaced reads n answers in a thread of its own.
func receivePaced(fd, n int, answered func(k int, now time.Time)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	buffer := make([]byte, 0, 16<<10)
	for k := 0; k < n; {
		m, err := unix.Read(fd, buffer[len(buffer):cap(buffer)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && m == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("after %d answers: %w", k, err)
		}
		now := time.Now()
		buffer = buffer[:len(buffer)+m]
		rest := buffer
		for {
			answer, after, ok := cutFrame(rest)
			if !ok {
				break
			}
			if err := checkProduced(answer); err != nil {
				return err
			}
			answered(k, now)
			k, rest = k+1, after
		}
		buffer = buffer[:copy(buffer, rest)]
	}
	return nil
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		b = b[max(0, n):]
	}
	return nil
}

// connect opens a blocking socket to an IPv4 address, with a limit to how long a
// read or write of it may take.
func connect(address string) (int, error) {
	a, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	limit := unix.NsecToTimeval(patience.Nanoseconds())
	to := &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())}
	err = errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		unix.Connect(fd, to))
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

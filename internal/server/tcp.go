package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tcp is plain TCP on a non-blocking socket. The runtime's poller parks the
// goroutine that waits; the calls themselves are ours, so that a buffer is lent
// only when there is something to read, and a write sends what fits.
type tcp struct {
	conn *net.TCPConn
	raw  syscall.RawConn

	// owned by the reader
	reader  func(fd uintptr) bool
	lender  lender
	readN   int
	readErr error

	// owned by the writer
	writer  func(fd uintptr) bool
	bufs    [][]byte // to write, if file is not in use
	flags   int
	file    fileRange
	patient patience
	wroteN  int64
	eof     bool
	wrtErr  error
}

type fileRange struct {
	use    bool
	fd     int
	off, n int64
}

func newTCP(conn *net.TCPConn) (*tcp, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	t := &tcp{conn: conn, raw: raw}
	t.reader, t.writer = t.tryRead, t.tryWrite
	return t, nil
}

func (t *tcp) read(l lender) (int, error) {
	t.lender, t.readN, t.readErr = l, 0, nil
	err := t.raw.Read(t.reader)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err = t.conn.SetReadDeadline(time.Time{}); err == nil {
			err = errInterrupted
		}
	}
	if err != nil {
		return 0, err
	}
	return t.readN, t.readErr
}

func (t *tcp) interrupt() error { return t.conn.SetReadDeadline(time.Unix(1, 0)) }

func (t *tcp) watch(do func(fd int) error) error {
	var doErr error
	if err := t.raw.Control(func(fd uintptr) { doErr = do(int(fd)) }); err != nil {
		return err
	}
	return doErr
}

// tryRead is called when the socket may be readable, first of all at once; false
// parks the goroutine.
func (t *tcp) tryRead(fd uintptr) bool {
	buf := t.lender.lend()
	if buf == nil {
		t.readErr = errNoMemory
		return true
	}
	for {
		n, err := unix.Read(int(fd), buf)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			t.lender.idle()
			return false
		case err != nil:
			t.readErr = err
		case n == 0:
			t.readErr = io.EOF
		default:
			t.readN = n
		}
		return true
	}
}

func (t *tcp) write(bufs [][]byte, more bool, p patience) (int, error) {
	t.bufs, t.file.use, t.flags = bufs, false, sendFlags(more)
	err := t.runWriter(p)
	t.bufs = nil
	return int(t.wroteN), err
}

func (t *tcp) sendFile(fd int, off, n int64, p patience) (int64, bool, bool, error) {
	if !canSendFile {
		return 0, false, false, nil
	}
	t.file = fileRange{use: true, fd: fd, off: off, n: n}
	err := t.runWriter(p)
	return t.wroteN, t.eof, true, err
}

func (t *tcp) runWriter(p patience) error {
	t.patient, t.wroteN, t.eof, t.wrtErr = p, 0, false, nil
	if err := t.raw.Write(t.writer); err != nil {
		return err
	}
	return t.wrtErr
}

func (t *tcp) tryWrite(fd uintptr) bool {
	for {
		n, err := t.writeOnce(int(fd))
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return t.patient == now
		case err != nil:
			t.wrtErr = err
		case n == 0 && t.file.use:
			t.eof = true
		default:
			t.wroteN = n
		}
		return true
	}
}

func (t *tcp) writeOnce(fd int) (int64, error) {
	if t.file.use {
		return sendFile(fd, t.file.fd, t.file.off, t.file.n)
	}
	var n int
	var err error
	if len(t.bufs) == 1 {
		n, err = unix.SendmsgN(fd, t.bufs[0], nil, nil, t.flags)
	} else {
		n, err = unix.SendmsgBuffers(fd, t.bufs, nil, nil, t.flags)
	}
	return int64(n), err
}

func (t *tcp) local() netip.AddrPort  { return addrPort(t.conn.LocalAddr()) }
func (t *tcp) remote() netip.AddrPort { return addrPort(t.conn.RemoteAddr()) }
func (t *tcp) close() error           { return t.conn.Close() }

func addrPort(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		ap := t.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return netip.AddrPort{}
}

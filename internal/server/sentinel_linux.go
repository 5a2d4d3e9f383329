package server

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// sentinel watches the sockets of connections that sleep: one epoll instance,
// which the runtime's poller watches in turn, so that it costs one goroutine and
// no thread.
type sentinel struct {
	epoll *os.File
	wg    sync.WaitGroup
}

// newSentinel starts a sentinel that calls wake with the id of a connection, once
// for each add.
func newSentinel(wake func(id uint64)) (*sentinel, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // lets the runtime poll it
		return nil, errors.Join(err, unix.Close(fd))
	}
	s := &sentinel{epoll: os.NewFile(uintptr(fd), "epoll")}
	raw, err := s.epoll.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, s.epoll.Close())
	}
	s.wg.Go(func() {
		events := make([]unix.EpollEvent, 128)
		for {
			n := 0
			err := raw.Read(func(fd uintptr) bool {
				n, err = unix.EpollWait(int(fd), events, 0)
				return n > 0
			})
			if err != nil {
				return // closed
			}
			for _, e := range events[:n] {
				wake(uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32)
			}
		}
	})
	return s, nil
}

// add watches a socket until it has something to read, or ends.
func (s *sentinel) add(fd int, id uint64) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: int32(uint32(id)), Pad: int32(uint32(id >> 32))}
	raw, err := s.epoll.SyscallConn()
	if err != nil {
		return err
	}
	var ctlErr error
	err = raw.Control(func(epoll uintptr) {
		ctlErr = unix.EpollCtl(int(epoll), unix.EPOLL_CTL_ADD, fd, &e)
		if ctlErr == unix.EEXIST {
			ctlErr = unix.EpollCtl(int(epoll), unix.EPOLL_CTL_MOD, fd, &e)
		}
	})
	return errors.Join(err, ctlErr)
}

func (s *sentinel) close() error {
	err := s.epoll.Close()
	s.wg.Wait()
	return err
}

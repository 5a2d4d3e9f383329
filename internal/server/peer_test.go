package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// pendingBytes is how much a client has sent that its server's kernel has not
// taken yet.
func pendingBytes(c *client) int {
	raw, err := c.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		c.t.Fatal(err)
	}
	n := -1
	if err := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), syscall.TIOCOUTQ) }); err != nil {
		c.t.Fatal(err)
	}
	return n
}

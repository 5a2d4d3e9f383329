package client

import (
	"context"
	"errors"
	"net"

	"github.com/twmb/franz-go/pkg/kgo"
)

// socketBuffers dials with buffers of so many bytes; 0 leaves the size to the
// operating system.
func socketBuffers(receive, send int) kgo.Opt {
	return kgo.Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return conn, nil
		}
		var failed error
		if receive > 0 {
			failed = tcp.SetReadBuffer(receive)
		}
		if send > 0 {
			failed = errors.Join(failed, tcp.SetWriteBuffer(send))
		}
		if failed != nil {
			return nil, errors.Join(failed, conn.Close())
		}
		return conn, nil
	})
}

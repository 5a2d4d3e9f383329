package run

import (
	"fmt"
	"net"
)

// What a service manager is told (sd_notify(3)).
const (
	notifyReady    = "READY=1"
	notifyStopping = "STOPPING=1"
)

// notify tells the service manager whose socket NOTIFY_SOCKET names. Without one there
// is nobody to tell.
func notify(environ []string, state string) error {
	address := lookup(environ, "NOTIFY_SOCKET")
	if address == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	if _, err := conn.Write([]byte(state)); err != nil {
		conn.Close()
		return fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	return conn.Close()
}

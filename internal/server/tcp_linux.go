package server

import "golang.org/x/sys/unix"

const canSendFile = true

// maxSendFile bounds one sendfile call; larger ones gain nothing.
const maxSendFile = 1 << 20

func sendFlags(more bool) int {
	if more {
		return unix.MSG_NOSIGNAL | unix.MSG_MORE
	}
	return unix.MSG_NOSIGNAL
}

// sendFile copies from a file at an explicit offset, so that one descriptor
// serves many answers at once.
func sendFile(socket, file int, off, n int64) (int64, error) {
	sent, err := unix.Sendfile(socket, file, &off, int(min(n, maxSendFile)))
	return int64(sent), err
}

//go:build !linux

package server

import "golang.org/x/sys/unix"

const canSendFile = false

func sendFlags(bool) int { return 0 }

func sendFile(_, _ int, _, _ int64) (int64, error) { return 0, unix.ENOTSUP }

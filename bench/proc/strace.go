package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// ErrNoStrace says that strace is not installed.
var ErrNoStrace = errors.New("strace is not installed")

// CountCalls runs work while strace counts the system calls of all threads of the
// process. The process is slowed down by far, so only counts mean something.
func CountCalls(pid int, work func() error) (int64, error) {
	if _, err := exec.LookPath("strace"); err != nil {
		return 0, ErrNoStrace
	}
	summary, err := os.CreateTemp("", "strace-*.txt")
	if err != nil {
		return 0, err
	}
	defer os.Remove(summary.Name())
	defer summary.Close()
	cmd := exec.Command("strace", "-f", "-c", "-o", summary.Name(), "-p", strconv.Itoa(pid))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start strace: %w", err)
	}
	// strace says "Process N attached" once it has all threads.
	_, attachErr := io.ReadAtLeast(stderr, make([]byte, 64), 8)
	go io.Copy(io.Discard, stderr)
	var workErr error
	if attachErr == nil {
		workErr = work()
	}
	signalErr := cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait() // ends by the signal, which is no error here
	if err := errors.Join(attachErr, workErr, signalErr); err != nil {
		return 0, err
	}
	text, err := io.ReadAll(summary)
	if err != nil {
		return 0, err
	}
	return totalCalls(text)
}

// totalCalls reads the line "100.00 seconds usecs calls errors total".
func totalCalls(summary []byte) (int64, error) {
	for line := range bytes.Lines(summary) {
		f := strings.Fields(string(line))
		if len(f) >= 4 && f[len(f)-1] == "total" {
			return strconv.ParseInt(f[3], 10, 64)
		}
	}
	return 0, fmt.Errorf("strace printed no total:\n%s", summary)
}

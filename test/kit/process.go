package kit

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Patience is how long the kit waits for a condition before it gives up.
const Patience = 3 * time.Minute

// Process is a child process whose output goes to a file.
type Process struct {
	cmd     *exec.Cmd
	logFile string
	done    chan struct{} // closed when the process has ended

	mu  sync.Mutex
	err error // guarded by mu; of Wait
}

// startProcess runs name with its output appended to logFile. The child stays in
// the caller's process group, so whoever ends the group ends it too.
func startProcess(logFile, name string, env []string, args ...string) (*Process, error) {
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{cmd: cmd, logFile: logFile, done: make(chan struct{})}
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(p.done)
	}()
	return p, nil
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.done }

// Signal sends sig and waits until the process has ended.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(Patience):
		return fmt.Errorf("process %d did not end in %v after %v; see %s", p.PID(), Patience, sig, p.logFile)
	}
}

// waitPort returns when something listens on addr or the process has ended.
func (p *Process) waitPort(addr string) error {
	deadline := time.Now().Add(Patience)
	for time.Now().Before(deadline) {
		select {
		case <-p.done:
			return fmt.Errorf("process ended before it listened on %s: %v\n%s", addr, p.err, tail(p.logFile))
		default:
		}
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			return c.Close()
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("nothing listens on %s after %v\n%s", addr, Patience, tail(p.logFile))
}

// tail returns the last part of a log file for an error text.
func tail(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	if len(b) > 4000 {
		b = b[len(b)-4000:]
	}
	return string(b)
}

package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"barnabas/test/kit"
)

// javaProgram is a Java program that ends when its standard input does.
type javaProgram struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr string        // file
	ended  chan struct{} // closed when the process has ended
	failed error         // set before ended is closed
}

// newJavaProgram is a program that dies with the test, and whose complaints are shown if
// the test has failed.
func newJavaProgram(t *testing.T, cmd *exec.Cmd) *javaProgram {
	p := &javaProgram{cmd: cmd, stderr: filepath.Join(t.TempDir(), "stderr"), ended: make(chan struct{})}
	t.Cleanup(func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
			<-p.ended
		}
		if b, err := os.ReadFile(p.stderr); t.Failed() && err == nil {
			t.Logf("%s complains:\n%s", cmd.Args[len(cmd.Args)-1], b[max(0, len(b)-20_000):])
		}
	})
	return p
}

// start starts the program; each line that it writes is given to line.
func (p *javaProgram) start(line func([]byte) error) error {
	stderr, err := os.OpenFile(p.stderr, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer stderr.Close()
	p.cmd.Stderr = stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(p.ended)
		read := eachLine(stdout, line)
		if read != nil {
			_ = p.cmd.Process.Kill() // what it says is of no use
		}
		p.failed = errors.Join(read, p.cmd.Wait())
	}()
	return nil
}

func eachLine(r io.Reader, do func([]byte) error) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(line); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
	}
}

// end tells the program to end, and waits until it has.
func (p *javaProgram) end() error {
	p.stdin.Close()
	select {
	case <-p.ended:
		return p.failed
	case <-time.After(kit.Patience):
		return fmt.Errorf("it does not end, %v after its standard input did", kit.Patience)
	}
}

// signal ends a program that listens to signals, and waits until it has ended.
func (p *javaProgram) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(kit.Patience):
		return fmt.Errorf("it does not end, %v after %v", kit.Patience, s)
	}
}

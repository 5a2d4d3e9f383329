package kit

import (
	"bytes"
	"errors"
	"os/exec"
)

// Output is what a command printed and its exit code.
type Output struct {
	Stdout, Stderr string
	Exit           int
}

// Run runs cmd to its end. A non-zero exit is not an error.
func Run(cmd *exec.Cmd) (Output, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	o := Output{Stdout: stdout.String(), Stderr: stderr.String()}
	if cmd.ProcessState != nil {
		o.Exit = cmd.ProcessState.ExitCode()
	}
	return o, err
}

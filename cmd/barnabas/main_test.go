package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// hangAfterSignal, in the environment, has the test binary be a program that says
// when its context has ended, and does not end itself.
const hangAfterSignal = "BARNABAS_TEST_HANG_AFTER_SIGNAL"

func TestSecondSignalEndsTheProcess(t *testing.T) {
	if os.Getenv(hangAfterSignal) != "" {
		ctx := untilSignal(context.Background())
		fmt.Println("waiting")
		<-ctx.Done()
		fmt.Println("ended")
		select {}
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSecondSignalEndsTheProcess$")
		cmd.Env = append(os.Environ(), hangAfterSignal+"=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for _, want := range []string{"waiting", "ended"} {
			if !lines.Scan() || lines.Text() != want {
				t.Fatalf("the program says %q, want %q", lines.Text(), want)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != sig {
			t.Errorf("after the second %v the process ended with %v", sig, err)
		}
	}
}

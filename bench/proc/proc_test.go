package proc

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestWindowSeesTheTimeOfAChild lets a child burn CPU in a process of its
// own and compares with what the kernel says once the child is reaped.
func TestWindowSeesTheTimeOfAChild(t *testing.T) {
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; read line")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := Open(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for last := time.Duration(-1); ; time.Sleep(20 * time.Millisecond) { // until it waits for its line
		cpu, err := cpuTime(cmd.Process.Pid)
		if err != nil || time.Now().After(deadline) {
			t.Fatal(cpu, err)
		}
		if cpu == last {
			break
		}
		last = cpu
	}
	cost, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	cmd.Wait() // the shell fails to read its line
	truth := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if cost.Server < truth/2 || cost.Server > truth+20*time.Millisecond {
		t.Errorf("window says %v, the kernel %v", cost.Server, truth)
	}
}

func TestMemoryOfThisProcess(t *testing.T) {
	m, err := ReadMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if m.Anon <= 0 || m.RSS < m.Anon || m.Peak < m.RSS {
		t.Errorf("%+v", m)
	}
}

func TestTotalCalls(t *testing.T) {
	text := "% time seconds usecs/call calls errors syscall\n100.00 0.5 7 1234 56 total\n"
	if n, err := totalCalls([]byte(text)); n != 1234 || err != nil {
		t.Error(n, err)
	}
	if _, err := totalCalls(nil); err == nil {
		t.Error("no total is no error")
	}
}

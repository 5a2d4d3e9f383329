//go:build linux

package logdir

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"barnabas/internal/base/vfs"
)

// TestMain makes the test binary a second process that holds a lock, in one of
// two ways, until its standard input ends.
func TestMain(m *testing.M) {
	switch path := os.Getenv("LOGDIR_LOCK"); os.Getenv("LOGDIR_HOW") {
	case "":
		os.Exit(m.Run())
	case "java": // FileChannel.tryLock: a record lock of the process
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT, 0o644)
		if err == nil {
			err = unix.FcntlFlock(uintptr(fd), unix.F_SETLK, wholeFile())
		}
		hold(err)
	case "ours":
		_, err := Acquire(vfs.NewOS(nil), filepath.Dir(path))
		hold(err)
	}
}

func hold(err error) {
	fmt.Println(errText(err))
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	os.Exit(0)
}

// startHolder starts a process that locks dir and returns it, and what it says.
func startHolder(t *testing.T, how, dir string) (cmd *exec.Cmd, says string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOGDIR_HOW="+how, "LOGDIR_LOCK="+filepath.Join(dir, LockFile))
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	return cmd, line[:len(line)-1]
}

func TestADirectoryInUseNamesTheProcess(t *testing.T) {
	for _, how := range []string{"java", "ours"} {
		dir := t.TempDir()
		cmd, says := startHolder(t, how, dir)
		if says != "ok" {
			t.Fatalf("%s: the holder says %s", how, says)
		}
		_, err := Acquire(vfs.NewOS(nil), dir)
		var inUse *InUseError
		if !errors.As(err, &inUse) || inUse.PID != cmd.Process.Pid {
			t.Errorf("%s: %v, want pid %d", how, err, cmd.Process.Pid)
		}
	}
}

func TestOurLockStandsAgainstOthers(t *testing.T) {
	dir := t.TempDir()
	fsys := vfs.NewOS(nil)
	lock, err := Acquire(fsys, dir)
	must(t, err)
	if _, err := Acquire(fsys, dir); !errors.As(err, new(*InUseError)) {
		t.Errorf("a second lock in this process: %v", err)
	}
	if _, says := startHolder(t, "java", dir); says != unix.EAGAIN.Error() {
		t.Errorf("Java's lock: %s", says)
	}
	want := fmt.Sprintf("log directory %s is in use by pid %d: its .lock is locked", dir, os.Getpid())
	if _, says := startHolder(t, "ours", dir); says != want {
		t.Errorf("another process of ours: %s", says)
	}
	must(t, lock.Release())
	if ok, err := vfs.Exists(fsys, filepath.Join(dir, LockFile)); ok || err != nil {
		t.Errorf(".lock is there after a clean stop: %v, %v", ok, err)
	}
	lock, err = Acquire(fsys, dir)
	must(t, err)
	must(t, lock.Abandon())
	lock, err = Acquire(fsys, dir) // the file that a crash leaves means nothing
	must(t, err)
	must(t, lock.Release())
}

func TestTheLockOfAFileWithoutANameIsNoLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LockFile)
	f, err := vfs.NewOS(nil).Open(path, vfs.Create)
	must(t, err)
	defer func() { must(t, f.Close()) }()
	fd, _ := f.Fd()
	must(t, os.Remove(path)) // a node stopped since we opened the file
	if named, err := lockFile(fd, path); named || err != nil {
		t.Errorf("removed: %v, %v", named, err)
	}
	must(t, os.WriteFile(path, nil, 0o644)) // and another one started
	if named, err := lockFile(fd, path); named || err != nil {
		t.Errorf("replaced: %v, %v", named, err)
	}
}

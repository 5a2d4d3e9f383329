package soak

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"barnabas/test/kit"
)

var cuts = flag.Int("cuts", 5, "how often the power is cut")

// Numbers of the shutdown call of ext4 (fs/ext4/ext4.h).
const (
	ioctlShutdown   = 0x8004587d // EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32)
	withoutLogFlush = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH: the journal in memory is lost too
)

// disk is an ext4 file system of its own on a loop device.
type disk struct{ image, mount, device string }

// newDisk needs root, mkfs.ext4 and loop devices; without them the test fails.
func newDisk(t *testing.T) *disk {
	t.Helper()
	dir := t.TempDir()
	d := &disk{image: filepath.Join(dir, "disk.img"), mount: filepath.Join(dir, "mount")}
	if err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, 2<<30), os.Mkdir(d.mount, 0o755)); err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs.ext4", "-q", "-F", d.image)
	d.device = strings.TrimSpace(command(t, "losetup", "-f", "--show", d.image))
	t.Cleanup(func() {
		exec.Command("umount", "-l", d.mount).Run() // may be unmounted already
		command(t, "losetup", "-d", d.device)
	})
	d.attach(t)
	return d
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (d *disk) attach(t *testing.T) { t.Helper(); command(t, "mount", d.device, d.mount) }

// cut makes the file system forget everything that was not synced.
func (d *disk) cut() error {
	fd, err := unix.Open(d.mount, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetPointerInt(fd, ioctlShutdown, withoutLogFlush); err != nil {
		return fmt.Errorf("shutdown of %s: %w", d.mount, err)
	}
	return nil
}

func TestPowerCutLosesNothingThatWasFlushedBeforeItsAcknowledgement(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 1))
	binary := buildBarnabas(t)
	d := newDisk(t)
	node := newSoakNode(t, binary, filepath.Join(d.mount, "node"), "log.flush.interval.messages=1")
	book := newLedger()
	if err := createTopics(node.Address(), map[string]*string{"segment.bytes": ptr("1048576")}); err != nil {
		t.Fatal(err)
	}
	for round := range *cuts {
		cutOnce(t, d, node, book, rng)
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "the recovered logs are synced and answer", func() bool { return leads(node.Address()) })
		if err := book.missing(node.Address()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	t.Logf("%d cuts, %d acknowledged records, all there", *cuts, book.len())
	if err := node.Kill(); err != nil {
		t.Fatal(err)
	}
}

func ptr(s string) *string { return &s }

func cutOnce(t *testing.T, d *disk, node *kit.Node, book *ledger, rng *rand.Rand) {
	t.Helper()
	before := book.len()
	ld, err := startLoad(node.Address(), book, rng.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "something is acknowledged", func() bool { return book.len() > before })
	<-time.After(time.Duration(rng.IntN(700)) * time.Millisecond) // the random moment itself
	book.close()
	if err := d.cut(); err != nil {
		t.Fatal(err)
	}
	if err := node.Kill(); err != nil {
		t.Fatal(err)
	}
	ld.stop()
	book.open()
	command(t, "umount", d.mount)
	d.attach(t)
}

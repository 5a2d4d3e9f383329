package storage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/cli/argparse"
	"barnabas/internal/cli/levels"
	"barnabas/internal/kafka"
)

// run is one call of the tool.
type run struct {
	stdout  io.Writer
	fsys    vfs.FS
	environ []string
	now     func() time.Time
	random  io.Reader
}

// Run is the command kafka-storage. It returns the exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	r := &run{stdout: stdout, fsys: vfs.NewOS(vfs.NewGate(1)), environ: os.Environ(), now: time.Now, random: rand.Reader}
	return r.main(args, stderr)
}

func (r *run) main(args []string, stderr io.Writer) int {
	err := r.do(args)
	var help *argparse.HelpRequest
	switch {
	case err == nil:
		return 0
	case errors.As(err, &help):
		fmt.Fprint(r.stdout, help.Text)
		return 0
	case !errors.Is(err, errReported):
		fmt.Fprintln(stderr, err)
	}
	return 1
}

// errReported ends the command with exit code 1 when all has been said.
var errReported = errors.New("reported")

func (r *run) do(args []string) error {
	parsed, err := tool().Parse(args)
	if err != nil {
		return err
	}
	switch parsed.Command {
	case "info":
		return r.info(parsed)
	case "format":
		return r.format(parsed)
	case "version-mapping":
		release, _ := parsed.Value("--release-version")
		return levels.Mapping(r.stdout, release)
	case "feature-dependencies":
		return levels.Dependencies(r.stdout, parsed.Values("--feature"))
	}
	id, err := kafka.RandomUUID(r.random)
	if err != nil {
		return err
	}
	r.printf("%s\n", id)
	return nil
}

func (r *run) printf(format string, args ...any) { fmt.Fprintf(r.stdout, format, args...) }

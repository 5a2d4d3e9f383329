package dumplog

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
)

// Run is the command kafka-dump-log. It returns the exit code. It stops when the
// context ends, and tells progress from time to time how far it is.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, progress func(string)) int {
	set := Options()
	err := set.Parse(args)
	switch {
	case len(args) == 0:
		return usage(set, stderr, about)
	case err != nil:
		return fail(stderr, err)
	case set.Has("help"):
		fmt.Fprintln(stdout, about)
		set.Usage(stdout)
		return 0
	case set.Has("version"):
		fmt.Fprintln(stdout, kafka.Release)
		return 0
	case !set.Has("files"):
		return usage(set, stderr, `Missing required argument "[files]"`)
	}
	d := &dump{ctx: ctx, progress: progress, fsys: vfs.NewOS(nil), out: bufio.NewWriter(stdout), errs: stderr}
	err = d.configure(set)
	if err == nil {
		err = d.run(strings.Split(set.Get("files"), ","))
	}
	if flushErr := d.out.Flush(); err == nil && flushErr != nil {
		err = flushErr
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return 1 // somebody stopped it
	case err != nil:
		return fail(stderr, err)
	}
	return 0
}

// fail prints an error as a Java program that does not catch it.
func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "Exception in thread \"main\" %s\n", javaError(err))
	return 1
}

func usage(set *options.Set, stderr io.Writer, why string) int {
	fmt.Fprintln(stderr, why)
	set.Usage(stderr)
	return 1
}

// dump is one call of the tool.
type dump struct {
	ctx      context.Context
	progress func(string)

	fsys vfs.FS
	out  *bufio.Writer
	errs io.Writer

	printData, deep, skipMetadata bool
	verifyOnly, sanityOnly        bool
	maxBytes, maxMessageSize      int64
	decode                        decoder

	complaints []complaint
}

// configure reads the options.
func (d *dump) configure(set *options.Set) error {
	for _, name := range []string{"remote-log-metadata-decoder", "share-group-state-decoder"} {
		if set.Has(name) {
			return &exception{"java.lang.UnsupportedOperationException", "--" + name + " is not supported by this release"}
		}
	}
	var err error
	if d.maxBytes, _, err = set.Int("max-bytes", 32); err != nil {
		return err
	}
	if d.maxMessageSize, _, err = set.Int("max-message-size", 32); err != nil {
		return err
	}
	d.printData = slices.ContainsFunc([]string{"print-data-log", "offsets-decoder", "transaction-log-decoder", "cluster-metadata-decoder", "value-decoder-class", "key-decoder-class"}, set.Has)
	d.deep = d.printData || set.Has("deep-iteration")
	d.skipMetadata = set.Has("skip-record-metadata")
	d.verifyOnly, d.sanityOnly = set.Has("verify-index-only"), set.Has("index-sanity-check")
	d.decode, err = newDecoder(set)
	return err
}

func (d *dump) run(files []string) error {
	for _, file := range files {
		d.printf("Dumping %s\n", file)
		if err := d.file(file); err != nil {
			return err
		}
	}
	return d.complain()
}

func (d *dump) file(file string) error {
	switch filepath.Ext(file) {
	case ".log", ".checkpoint":
		return d.segment(file)
	case ".index":
		return d.offsetIndex(file)
	case ".timeindex":
		return d.timeIndex(file)
	case ".snapshot":
		return d.producers(file)
	case ".txnindex":
		return d.abortedTxns(file)
	}
	return d.errorf("Ignoring unknown file %s\n", file)
}

// printf writes to standard output; the error of a full or closed output comes
// at the end.
func (d *dump) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// errorf writes to standard error, after what has been printed so far.
func (d *dump) errorf(format string, args ...any) error {
	if err := d.out.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(d.errs, format, args...)
	return err
}

// The kinds of complaints, in the order in which they are printed, with the text
// before the file and the one of each case.
const (
	indexMismatch = iota
	timestampMismatch
	timestampOrder
	offsetNotFound
	notConsecutive
)

var complaintTexts = [...]struct{ file, pair string }{
	indexMismatch:     {"Mismatches in :%s\n", "  Index offset: %d, log offset: %d\n"},
	timestampMismatch: {"Found timestamp mismatch in :%s\n", "  Index timestamp: %d, log timestamp: %d\n"},
	timestampOrder:    {"Found out of order timestamp in :%s\n", "  Index timestamp: %d, Previously indexed timestamp: %d\n"},
	offsetNotFound:    {"The following indexed offsets are not found in :%s\n", "Indexed offset: %d, found log offset: %d\n"},
	notConsecutive:    {"Non-consecutive offsets in %s\n", "  %d is followed by %d\n"},
}

// complaint is a pair of numbers that do not fit together.
type complaint struct {
	kind int
	file string // absolute
	a, b int64
}

func (d *dump) note(kind int, file string, a, b int64) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	d.complaints = append(d.complaints, complaint{kind, path, a, b})
	return nil
}

// complain prints all complaints, by kind and file.
func (d *dump) complain() error {
	slices.SortStableFunc(d.complaints, func(x, y complaint) int {
		if c := cmp.Or(x.kind-y.kind, strings.Compare(x.file, y.file)); c != 0 {
			return c
		}
		// Apache keeps these two in sorted maps, the others in lists.
		switch x.kind {
		case indexMismatch:
			return cmp.Compare(y.a, x.a)
		case notConsecutive:
			return cmp.Compare(x.a, y.a)
		}
		return 0
	})
	var errs []error
	for i, c := range d.complaints {
		if i == 0 || c.kind != d.complaints[i-1].kind || c.file != d.complaints[i-1].file {
			errs = append(errs, d.errorf(complaintTexts[c.kind].file, c.file))
		}
		if i+1 < len(d.complaints) && c.replacedBy(d.complaints[i+1]) {
			continue
		}
		errs = append(errs, d.errorf(complaintTexts[c.kind].pair, c.a, c.b))
	}
	return errors.Join(errs...)
}

// replacedBy says whether the next complaint has the same key in a map.
func (c complaint) replacedBy(next complaint) bool {
	mapped := c.kind == indexMismatch || c.kind == notConsecutive
	return mapped && next.kind == c.kind && next.file == c.file && next.a == c.a
}

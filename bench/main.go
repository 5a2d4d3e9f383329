package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"barnabas/bench/table"
)

type flags struct {
	quick   bool
	only    string
	pairs   int
	dir     string
	settle  time.Duration
	profile string
	binary  string
	against string
	tuned   bool
	list    bool
}

func main() {
	var f flags
	flag.BoolVar(&f.quick, "quick", false, "a smoke test of a few minutes: one pair, short runs, one life of each server for most workloads; Apache isn't warm")
	flag.StringVar(&f.only, "only", "", "workloads whose name begins with one of these, separated by commas")
	flag.IntVar(&f.pairs, "pairs", 0, "pairs of runs (default 7, with -quick 1)")
	flag.StringVar(&f.dir, "dir", os.TempDir(), "where the servers' folders are made")
	flag.DurationVar(&f.settle, "settle", 0, "how long to wait before each measurement for others to leave the machine alone")
	flag.StringVar(&f.profile, "profile", "", "folder for CPU profiles of Barnabas under each load, taken after the measurement")
	flag.StringVar(&f.binary, "binary", "", "the Barnabas to run (default: built from the tree)")
	flag.StringVar(&f.against, "against", "", "another build of Barnabas to run in Apache Kafka's place")
	flag.BoolVar(&f.tuned, "tuned", false, "give Apache Kafka socket buffers of the kernel's choice and as many threads as there are processors here")
	flag.BoolVar(&f.list, "list", false, "list the workloads")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) (err error) {
	chosen := choose(f.only)
	if f.list || len(chosen) == 0 {
		for _, w := range workloads() {
			fmt.Printf("%-16s %s\n", w.name, w.about)
		}
		if f.list {
			return nil
		}
		return fmt.Errorf("no workload begins with %q", f.only)
	}
	if f.pairs == 0 {
		f.pairs = 7
		if f.quick {
			f.pairs = 1
		}
	}
	root, err := os.MkdirTemp(f.dir, "barnabas-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	both, err := newSides(root, f)
	if err != nil {
		return err
	}
	// A signal kills the servers, so that the run under way fails; what was
	// measured until then is printed.
	defer context.AfterFunc(ctx, func() {
		for _, s := range both {
			s.interrupt()
		}
	})()
	results := table.Table{Theirs: both[0].name, Ours: both[1].name, NoGoals: f.against != ""}
	began := time.Now()
	runErr := runPairs(ctx, f, both, chosen, &results)
	if ctx.Err() != nil {
		runErr = errors.Join(errors.New("interrupted"), runErr)
	}
	fmt.Printf("%s\ncommand: go run . %s\nseconds: %.0f\n\n", machine(), strings.Join(os.Args[1:], " "), time.Since(began).Seconds())
	return errors.Join(runErr, results.Print(os.Stdout))
}

// runPairs goes through all workloads once per pair, so that the pairs of a
// workload are spread over the whole time.
func runPairs(ctx context.Context, f flags, both [2]*side, chosen []workload, results *table.Table) error {
	for pair := range f.pairs {
		for _, group := range groups(chosen, f.quick) {
			var outcomes [2][]outcome
			for i, s := range both {
				var err error
				if outcomes[i], err = s.runGroup(ctx, group, pair); err != nil {
					return err
				}
			}
			for i, w := range group {
				w.addTo(results, outcomes[0][i], outcomes[1][i])
			}
		}
	}
	return nil
}

// groups says which workloads share one life of a server.
func groups(chosen []workload, quick bool) [][]workload {
	var all [][]workload
	shared := -1 // index of their group
	for _, w := range chosen {
		if quick && w.shares && shared >= 0 {
			all[shared] = append(all[shared], w)
			continue
		}
		if quick && w.shares {
			shared = len(all)
		}
		all = append(all, []workload{w})
	}
	return all
}

// machine says what the figures were measured on.
func machine() string {
	model := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(b), "model name\t: "); ok {
			model, _, _ = strings.Cut(rest, "\n")
		}
		model = fmt.Sprintf("%d x %s", strings.Count(string(b), "processor\t:"), model)
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte("unknown")
	}
	congestion, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		congestion = []byte("unknown")
	}
	return fmt.Sprintf("machine: %s, Linux %s, loopback TCP with %s, %s",
		model, strings.TrimSpace(string(kernel)), strings.TrimSpace(string(congestion)), time.Now().Format(time.DateOnly))
}

// choose returns the workloads whose names begin with one of a list.
func choose(only string) []workload {
	var chosen []workload
	for _, w := range workloads() {
		for prefix := range strings.SplitSeq(only, ",") {
			if strings.HasPrefix(w.name, prefix) {
				chosen = append(chosen, w)
				break
			}
		}
	}
	return chosen
}

func logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// copyDir copies a folder of files.
func copyDir(from, to string) error {
	return os.CopyFS(to, os.DirFS(filepath.Clean(from)))
}

package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/node"
)

const usage = `Usage: barnabas server [server.properties] [--override key=value]... [--auto-format] [--memory SIZE]

Runs a node. Without a configuration file it is a broker and controller for this
machine, which formats its folder at the first start.

  --override key=value   a setting that goes before the file
  --auto-format          format log directories that were never formatted
  --memory SIZE          memory to keep within, such as 512M or 2G (as GOMEMLIMIT);
                         requests in service may take a quarter of it
  --version              print the version and end

BARNABAS_LOG_LEVEL in the environment is the level of the log: debug, info, warn or
error. The first SIGTERM or SIGINT stops the node cleanly, the second at once.
`

// arguments are what the command line says.
type arguments struct {
	file       string
	overrides  []string
	autoFormat bool
	memory     string
	version    bool
	help       bool
}

func parse(args []string) (arguments, error) {
	var a arguments
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--override":
			if len(args) == 0 {
				return a, fmt.Errorf("Option override requires an argument")
			}
			a.overrides, args = append(a.overrides, args[0]), args[1:]
		case strings.HasPrefix(word, "--override="):
			a.overrides = append(a.overrides, strings.TrimPrefix(word, "--override="))
		case word == "--memory":
			if len(args) == 0 {
				return a, fmt.Errorf("Option memory requires an argument")
			}
			a.memory, args = args[0], args[1:]
		case strings.HasPrefix(word, "--memory="):
			a.memory = strings.TrimPrefix(word, "--memory=")
		case word == "--auto-format":
			a.autoFormat = true
		case word == "--version":
			a.version = true
		case word == "--help" || word == "-h":
			a.help = true
		case word == "-daemon":
			return a, fmt.Errorf("-daemon is not supported: let a service manager run the server in the background")
		case strings.HasPrefix(word, "-"):
			return a, fmt.Errorf("%s is not a recognized option", strings.TrimLeft(word, "-"))
		case a.file != "":
			return a, fmt.Errorf("Found non argument parameters: %s", word)
		default:
			a.file = word
		}
	}
	return a, nil
}

// Server runs a node until ctx ends or the node fails, and returns the exit code: 0
// after a clean stop, 1 if the node could not start, failed, or could not stop
// cleanly.
func Server(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a, err := parse(args)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "%s\n\n%s", err, usage)
		return 1
	case a.help:
		fmt.Fprint(stdout, usage)
		return 0
	case a.version:
		fmt.Fprintln(stdout, kafka.Release)
		return 0
	}
	if err := run(ctx, a, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "barnabas server: %v\n", err)
		return 1
	}
	return 0
}

// run runs a node from its start to its end.
func run(ctx context.Context, a arguments, stdout, stderr io.Writer) error {
	started := time.Now()
	log, level, err := newLog(stderr, os.Environ())
	if err != nil {
		return err
	}
	if a.memory != "" {
		if err := limitMemory(a.memory); err != nil {
			return err
		}
	}
	memory := keepMemory(os.Environ())
	defer memory.close()
	c, warnings, err := config.Load(config.Options{File: a.file, Environ: os.Environ(), Overrides: a.overrides})
	for _, w := range warnings {
		log.Warn(w.Text, "key", w.Key, "origin", w.Origin)
	}
	if err != nil {
		return err
	}
	n, err := node.Start(node.Options{Config: c, AutoFormat: a.autoFormat || c.Node.FromDefaults, Log: log, Level: level})
	if err != nil {
		return err
	}
	tell := func(state string) {
		if err := notify(os.Environ(), state); err != nil {
			log.Warn("the service manager cannot be told", "state", state, "error", err)
		}
	}
	return serve(ctx, n, func() {
		fmt.Fprint(stdout, greetingOf(n, c, time.Since(started)))
		tell(notifyReady)
	}, func() { tell(notifyStopping) })
}

// stopTimeout bounds a clean stop; a controlled shutdown may take long where other
// nodes have to take over.
const stopTimeout = 5 * time.Minute

// serve greets when clients are let in, waits for the end, says farewell and stops the
// node.
func serve(ctx context.Context, n *node.Node, greet, farewell func()) error {
	select {
	case <-n.Serving():
		greet()
	case <-ctx.Done():
	case <-n.Failed():
	}
	select {
	case <-ctx.Done():
	case <-n.Failed():
	}
	farewell()
	limit, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := n.Stop(limit)
	select {
	case <-n.Failed():
		return errors.Join(n.Failure(), err)
	default:
		return err
	}
}

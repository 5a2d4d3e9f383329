package run

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/node"
)

const usage = `Usage: barnabas server [server.properties] [--override key=value]... [--auto-format]

Runs a node. Without a configuration file it is a broker and controller for this
machine, which formats its folder at the first start.

  --override key=value   a setting that goes before the file
  --auto-format          format log directories that were never formatted
  --version              print the version and end
`

// arguments are what the command line says.
type arguments struct {
	file       string
	overrides  []string
	autoFormat bool
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

// Server runs a node until ctx ends or the node fails, and returns the exit code.
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
	started := time.Now()
	log := slog.New(slog.NewTextHandler(stderr, nil))
	c, warnings, err := config.Load(config.Options{File: a.file, Environ: os.Environ(), Overrides: a.overrides})
	for _, w := range warnings {
		log.Warn(w.Text, "key", w.Key, "origin", w.Origin)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	n, err := node.Start(node.Options{Config: c, AutoFormat: a.autoFormat || c.Node.FromDefaults, Log: log})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return serve(ctx, n, c, started, stdout, log)
}

// serve waits for the end. A second signal ends the process at once: the context
// of the first has given the signal back to the system by then.
func serve(ctx context.Context, n *node.Node, c *config.Broker, started time.Time, stdout io.Writer, log *slog.Logger) int {
	select {
	case <-n.Serving():
		fmt.Fprint(stdout, welcome(n, c, time.Since(started)))
	case <-ctx.Done():
	case <-n.Failed():
	}
	select {
	case <-ctx.Done():
	case <-n.Failed():
	}
	stop, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	err := n.Stop(stop)
	if err != nil {
		log.Error("stopping failed", "error", err)
	}
	select {
	case <-n.Failed():
		return 1
	default:
	}
	if err != nil {
		return 1
	}
	return 0
}

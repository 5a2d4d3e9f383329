// Command barnabas is the whole of Barnabas: server and tools. See internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"barnabas/internal/cli"
)

func main() {
	ctx := untilSignal(context.Background())
	os.Exit(cli.Main(ctx, os.Args, cli.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}

// untilSignal gives a context that ends with the first SIGINT or SIGTERM. From then
// on the signals do what they do to any process, so that the second ends it.
func untilSignal(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := <-signals
		signal.Stop(signals) // before anyone can learn of the first
		cancel(cli.Signalled(first.(syscall.Signal)))
	}()
	return ctx
}

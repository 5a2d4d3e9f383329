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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Main(ctx, os.Args, cli.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}

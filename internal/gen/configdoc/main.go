package main

import (
	"fmt"
	"os"
)

func main() {
	if _, err := os.Stdout.WriteString(page()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	def := flag.String("def", "", "definition file to read")
	out := flag.String("out", "", "Go file to write")
	pkg := flag.String("pkg", os.Getenv("GOPACKAGE"), "package of the Go file")
	flag.Parse()
	if err := run(*def, *out, *pkg); err != nil {
		fmt.Fprintln(os.Stderr, "recordgen:", err)
		os.Exit(1)
	}
}

func run(def, out, pkg string) error {
	if def == "" || out == "" || pkg == "" {
		return fmt.Errorf("-def, -out and -pkg are needed")
	}
	code, err := generate(def, pkg)
	if err != nil {
		return err
	}
	return os.WriteFile(out, code, 0o644)
}

// generate returns the Go text for one definition file.
func generate(def, pkg string) ([]byte, error) {
	text, err := os.ReadFile(def)
	if err != nil {
		return nil, err
	}
	file, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", def, err)
	}
	return emit(file, def, pkg)
}

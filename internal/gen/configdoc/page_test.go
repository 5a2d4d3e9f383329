package main

import (
	"os"
	"testing"
)

func TestPageIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../../docs/configure.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page() {
		t.Error("docs/configure.md is not what the registry says: go run ./internal/gen/configdoc > docs/configure.md")
	}
}

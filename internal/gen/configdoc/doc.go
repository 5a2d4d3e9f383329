// Command configdoc writes docs/configure.md from the registry of configuration
// keys:
//
//	go run ./internal/gen/configdoc > docs/configure.md
//
// A test holds the file against the registry.
//
// # Files
//
//	main.go   the command
//	page.go   the page
package main

// Command recordgen turns a definition file of schema/ into Go: a type per message
// and struct, its codec for each version and its JSON. It is run by go generate
// and is no part of the product.
//
//	recordgen -def ../../../schema/metadata.def -out metadata.gen.go
//
// The package of the output is -pkg or, under go generate, the one that asks. The
// format of the definitions is described in schema/README.md. Same input, same
// output: a test here compares the committed files with fresh ones.
//
// Files:
//
//	main.go    flags, files
//	schema.go  the definitions as data, names, versions, sizes
//	parse.go   definition file to data
//	emit.go    types, constructors, methods, registry
//	write.go   encoders
//	read.go    decoders
//	json.go    JSON
package main

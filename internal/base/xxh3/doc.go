// Package xxh3 computes XXH3-64, the hash of the xxHash family that Apache Kafka
// takes for the metadata of groups, with seed 0 and the default secret. The
// algorithm is described in xxHash's specification (doc/xxhash_spec.md, "XXH3
// Algorithm Overview").
//
// Files:
//
//	xxh3.go    Sum64
//	secret.go  the default secret
package xxh3

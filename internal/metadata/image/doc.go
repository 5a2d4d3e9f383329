// Package image holds what the metadata log says as one immutable value, and knows
// how each record changes it. The controller decides on an image, brokers serve from
// one.
//
//	b := image.NewBuilder(base)
//	err := b.Replay(record)      // as often as needed
//	b.Current()                  // what the records so far give; not to be kept
//	img, delta := b.Build(pos)   // immutable; b may go on
//
// An image that is thrown away reverts what was built: the controller's pending state
// is an image ahead of the committed one, and dropping it is all there is to undo.
//
// Stream is a builder for the log itself: it keeps metadata transactions back until
// they end and forgets those that are aborted.
//
// The package is pure: no clock, I/O, goroutine, lock or randomness. It does not know
// who publishes images or when (package loader), nor what a value of a configuration
// means. Records are replayed as Apache Kafka's MetadataDelta does; what the image does
// not need to understand (ACLs, credentials, tokens) is kept as the record that said
// it, so that it survives snapshots and can be handed back.
//
// Invariants:
//
//  1. An image that Build or Apply returned never changes, nor does anything that can
//     be reached from it. Readers need no lock. Slices and records in it must not be
//     written to.
//  2. Image.Records, replayed on Empty, gives an equal image.
//  3. A delta names all that differs between its two images. It may name a thing that
//     was changed there and back.
//  4. An error of Replay means that the log contradicts itself or comes from something
//     newer: the builder is not to be used any more.
//  5. One change copies little: the path to it in each map, the list of the topic's
//     chunks and one chunk of at most 64 partitions.
//
// Files:
//
//	image.go       Image, Position, features and producer ids
//	cluster.go     brokers and controllers
//	topic.go       topics, chunks of partitions
//	partition.go   Partition and how a PartitionChangeRecord changes it
//	config.go      dynamic configuration
//	access.go      client quotas, credentials and their keys
//	builder.go     Builder: records in, image and delta out
//	replay*.go     what each record does
//	delta.go       Delta: what changed
//	diff.go        the delta between any two images
//	records.go     the records of a snapshot
//	stream.go      Stream: metadata transactions
package image

// Package loader turns the committed metadata log into images and shows them to an
// ordered list of publishers. It is the owner of this node's metadata image.
//
// Two sides meet in it. The feeder, the goroutine that delivers the log (the quorum's
// loop), calls Apply and LoadSnapshot in log order; decoding and replaying happen
// there, so that Loaded is exact when a call returns. The publishing side, a goroutine
// that Start begins, calls the publishers one after the other. A publisher that is
// slow, because it opens logs, delays neither the feeder nor the log: what is loaded
// meanwhile is merged into one larger delta. What waits is bounded by the size of the
// image, not by the length of the log.
//
// The first publication waits until the image has all that the quorum knows to be
// committed: publishers never see half of an old log, and their first delta begins
// with an empty image.
//
// The loader decides when a snapshot is due and writes its content through a
// SnapshotWriter; where it is kept is the quorum's affair.
//
// It does not know the quorum, nor what a publisher does with a delta.
//
// Who owns what: the stream belongs to the feeder; pending, the counters and the
// request for a snapshot are under mu, which is never held while a publisher, a
// snapshot or a decoder runs; the two images are published by atomic pointers.
//
// Invariants:
//
//  1. Each publisher is given deltas without a gap: the old image of one is the new
//     image of the one before, the first begins with an empty image.
//  2. Publishers are called in their order, never two at once, and never before the
//     first image that is caught up.
//  3. Image is the last image that all publishers were given.
//  4. Nothing of an open metadata transaction is ever shown.
//  5. A snapshot is made of an image that was loaded from the log and ends at the end
//     of a batch.
//
// Files:
//
//	loader.go    Loader: options, the feeder's side
//	publish.go   the publishing side
//	snapshot.go  when a snapshot is due, and its content
package loader

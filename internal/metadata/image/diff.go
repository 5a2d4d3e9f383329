package image

import (
	"cmp"
	"slices"

	"barnabas/internal/base/immut"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// Diff is the delta between any two images. It looks at all of both, so that it is for
// snapshots and first publications; a builder knows what it changed.
func Diff(old, next *Image) *Delta {
	d := &Delta{Old: old, New: next, ProducerIDs: old.NextProducerID != next.NextProducerID}
	if old.Features.MetadataVersion != next.Features.MetadataVersion {
		d.Features = append(d.Features, kafka.FeatureMetadataVersion)
	}
	d.Features = append(d.Features, diffKeys(old.Features.Levels, next.Features.Levels, same[int16], cmp.Compare)...)
	slices.Sort(d.Features)
	d.Brokers = diffKeys(old.Cluster.Brokers, next.Cluster.Brokers, (*Broker).equal, cmp.Compare)
	d.Controllers = diffKeys(old.Cluster.Controllers, next.Cluster.Controllers, sameController, cmp.Compare)
	d.Configs = diffKeys(old.Configs.byResource, next.Configs.byResource, sameValues[string], compareResource)
	d.Quotas = diffKeys(old.Quotas, next.Quotas, func(a, b *Quota) bool { return a == b || sameValues(a.Values, b.Values) }, cmp.Compare)
	d.ACLs = diffKeys(old.ACLs, next.ACLs, sameMessage, compareUUID)
	d.SCRAM = diffKeys(old.SCRAM, next.SCRAM, sameMessage, compareSCRAMKey)
	d.Tokens = diffKeys(old.Tokens, next.Tokens, sameMessage, cmp.Compare)
	for _, id := range diffKeys(old.Topics.byID, next.Topics.byID, same[*Topic], compareUUID) {
		change := TopicChange{Old: old.Topics.ByID(id), New: next.Topics.ByID(id)}
		if change.Old != nil && change.New != nil {
			if change.numbers = diffPartitions(change.Old, change.New); len(change.numbers) == 0 {
				continue
			}
		}
		d.Topics = append(d.Topics, change)
	}
	slices.SortFunc(d.Topics, compareChanges)
	return d
}

func same[T comparable](a, b T) bool { return a == b }

func sameValues[V comparable](a, b immut.Map[string, V]) bool {
	if a.Len() != b.Len() {
		return false
	}
	for k, v := range a.All() {
		if other, ok := b.Get(k); !ok || other != v {
			return false
		}
	}
	return true
}

// sameMessage compares two records by what they are written as.
func sameMessage[M interface {
	comparable
	metarec.Message
}](a, b M) bool {
	if a == b {
		return true
	}
	x, errX := a.AppendTo(nil, 0)
	y, errY := b.AppendTo(nil, 0)
	return errX == nil && errY == nil && slices.Equal(x, y)
}

// diffKeys lists the keys that only one of the maps has or whose values differ, in
// order.
func diffKeys[K, V any](a, b immut.Map[K, V], equal func(V, V) bool, compare func(K, K) int) []K {
	var out []K
	for k, v := range b.All() {
		if old, ok := a.Get(k); !ok || !equal(old, v) {
			out = append(out, k)
		}
	}
	for k := range a.Keys() {
		if _, ok := b.Get(k); !ok {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, compare)
	return out
}

// diffPartitions lists the partitions that differ; a partition in memory that both
// share does not.
func diffPartitions(a, b *Topic) []int32 {
	var out []int32
	for i := range max(len(a.chunks), len(b.chunks)) {
		if i < len(a.chunks) && i < len(b.chunks) && a.chunks[i] == b.chunks[i] {
			continue
		}
		for j := range chunkSize {
			n := int32(i*chunkSize + j)
			p, q := a.Partition(n), b.Partition(n)
			if (p == nil) != (q == nil) || p != nil && !p.equal(q) {
				out = append(out, n)
			}
		}
	}
	return out
}

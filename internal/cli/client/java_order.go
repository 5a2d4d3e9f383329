package client

import (
	"slices"
	"unicode/utf16"

	"barnabas/internal/kafka"
)

// Apache's tools print what they keep in java.util.HashMap as it lies there, and
// scripts and eyes know that order. It follows from the hash codes, so it can be
// had without a Java machine: by bucket, and in a bucket as the keys came.

// smallestTable is the number of buckets of a java.util.HashMap that was given no
// size.
const smallestTable = 16

// asInHashMap orders keys, which come in the order of insertion, as a
// java.util.HashMap that began with the given number of buckets holds them.
func asInHashMap[K any](keys []K, hash func(K) int32, buckets int) []K {
	for len(keys)*4 > buckets*3 {
		buckets *= 2
	}
	bucket := func(k K) int {
		h := uint32(hash(k))
		return int((h ^ h>>16) & uint32(buckets-1))
	}
	out := slices.Clone(keys)
	slices.SortStableFunc(out, func(a, b K) int { return bucket(a) - bucket(b) })
	return out
}

// stringHash is java.lang.String's hash code.
func stringHash(s string) int32 {
	var h int32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(unit)
	}
	return h
}

// partitionHash is the hash code of org.apache.kafka.common.TopicPartition.
func partitionHash(p kafka.TopicPartition) int32 {
	return 31*(31+p.Partition) + stringHash(p.Topic)
}

// powerOfTwo is the number of buckets of a java.util.HashMap that was made for n
// keys.
func powerOfTwo(n int) int {
	buckets := 1
	for buckets < n {
		buckets *= 2
	}
	return buckets
}

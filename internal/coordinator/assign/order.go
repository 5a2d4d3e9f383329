package assign

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"

	"barnabas/internal/kafka"
)

// javaString is String.hashCode.
func javaString(s string) uint32 {
	var h uint32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(unit)
	}
	return h
}

// javaUUID is org.apache.kafka.common.Uuid.hashCode.
func javaUUID(u kafka.UUID) uint32 {
	x := binary.BigEndian.Uint64(u[:8]) ^ binary.BigEndian.Uint64(u[8:])
	return uint32(x>>32) ^ uint32(x)
}

func javaInt(n int32) uint32 { return uint32(n) }

// grownTable is the number of buckets of a HashMap that was made without a size and
// has had n keys at most.
func grownTable(n int) uint32 {
	slots := uint32(16)
	for n*4 > int(slots)*3 {
		slots *= 2
	}
	return slots
}

// copiedTable is the number of buckets of a HashSet that was made from a collection
// that says that it has said elements, and has n at most.
func copiedTable(said, n int) uint32 {
	want := max(uint32(float32(said)/.75)+1, 16)
	slots := uint32(1) << bits.Len32(want-1)
	for n*4 > int(slots)*3 {
		slots *= 2
	}
	return slots
}

// hashOrder sorts keys, which are in the order in which they were put, as a HashMap
// with that many buckets walks over them. Within a bucket that is the order in
// which they came. (Buckets of more than eight keys become trees and then may begin
// with another key; nothing here is so unlucky.)
func hashOrder[K any](keys []K, hash func(K) uint32, slots uint32) []K {
	type placed struct {
		slot uint32
		key  K
	}
	list := make([]placed, len(keys))
	for i, k := range keys {
		h := hash(k)
		list[i] = placed{(h ^ h>>16) & (slots - 1), k}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return int(a.slot) - int(b.slot) })
	out := make([]K, len(keys))
	for i := range list {
		out[i] = list[i].key
	}
	return out
}

// SetOfNames is the order of a set of strings that was made from a list of them.
func SetOfNames(list []string) []string {
	return hashOrder(list, javaString, copiedTable(len(list), len(list)))
}

// MapOfNames is the order of a map whose keys were put one by one.
func MapOfNames(keys []string) []string { return hashOrder(keys, javaString, grownTable(len(keys))) }

// MapOfTopics is the order of a map whose keys were put one by one.
func MapOfTopics(keys []kafka.UUID) []kafka.UUID {
	return hashOrder(keys, javaUUID, grownTable(len(keys)))
}

// TimelineOrder sorts keys, which are in the order in which they were put, as a
// TimelineHashMap of Apache's walks over them: buckets are the highest bits of a
// product, and in a bucket the newest comes first. Its table begins with
// TimelineTable(0, 0) buckets and never shrinks.
func TimelineOrder(keys []string, table uint32) []string {
	shift := 65 - bits.Len32(table)
	type placed struct {
		slot uint64
		key  string
	}
	list := make([]placed, len(keys))
	for i, k := range slices.Backward(keys) {
		list[len(keys)-1-i] = placed{uint64(int64(int32(javaString(k)))*-7046029254386353131) >> shift, k}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return int(a.slot) - int(b.slot) })
	out := make([]string, len(keys))
	for i := range list {
		out[i] = list[i].key
	}
	return out
}

// TimelineTable is the number of buckets of a TimelineHashMap that had table buckets,
// 0 if it is new, and gets its n-th key.
func TimelineTable(table uint32, n int) uint32 {
	table = max(table, 2)
	for n*3 > int(table)*4 {
		table *= 2
	}
	return table
}

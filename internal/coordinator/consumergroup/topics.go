package consumergroup

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"unicode/utf16"

	"github.com/zeebo/xxh3"

	"barnabas/internal/kafka"
)

// Topics are the topics of the cluster at one moment. What it gives does not change.
type Topics interface {
	// Version grows with each change of the metadata.
	Version() int64
	// Created is the version at which a topic came last, Changed the one at which
	// something of a topic changed last. They never shrink.
	Created() int64
	Changed() int64
	// ByName and ByID find a topic; ok is false if there is none.
	ByName(name string) (t Topic, ok bool)
	ByID(id kafka.UUID) (t Topic, ok bool)
	// Names are the names of all topics.
	Names() iter.Seq[string]
}

// Topic is a topic of the cluster.
type Topic struct {
	Name       string
	ID         kafka.UUID
	Partitions int32
	// Racks are the racks of the brokers that have a replica of a partition, in any
	// order; brokers without a rack have none.
	Racks func(partition int32) []string
	// Same is equal for two topics only if all of the above is.
	Same any
}

// Hashes remembers the hashes of topics: they are asked for again and again, and
// each takes a walk over all partitions.
type Hashes struct{ known map[string]knownHash }

type knownHash struct {
	same any
	hash uint64
}

// maxHashes bounds what is remembered; beyond, all is forgotten.
const maxHashes = 100_000

// of is the hash of a topic.
func (h *Hashes) of(t Topic) uint64 {
	if k, ok := h.known[t.Name]; ok && k.same == t.Same {
		return k.hash
	}
	hash := hashTopic(t)
	if h.known == nil || len(h.known) >= maxHashes {
		h.known = map[string]knownHash{}
	}
	h.known[t.Name] = knownHash{t.Same, hash}
	return hash
}

// Hash is the metadata hash of the topics of a group that are there (KIP-1101, class
// Utils.computeGroupHash): 0 if there are none.
func (h *Hashes) Hash(g *Group, topics Topics) int64 {
	byName := map[string]uint64{}
	for name := range g.Topics() {
		if t, ok := topics.ByName(name); ok {
			byName[name] = h.of(t)
		}
	}
	if len(byName) == 0 {
		return 0
	}
	var b []byte
	for _, name := range slices.SortedFunc(maps.Keys(byName), compareJava) {
		b = binary.LittleEndian.AppendUint64(b, byName[name])
	}
	return int64(xxh3.Hash(b))
}

// compareJava is String.compareTo. Names of topics are ASCII, where that is the order
// of bytes.
func compareJava(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// hashTopic hashes what an assignment may depend on (Utils.computeTopicHash).
func hashTopic(t Topic) uint64 {
	b := []byte{0}
	b = binary.LittleEndian.AppendUint64(b, binary.BigEndian.Uint64(t.ID[:8]))
	b = binary.LittleEndian.AppendUint64(b, binary.BigEndian.Uint64(t.ID[8:]))
	b = appendString(b, t.Name)
	b = binary.LittleEndian.AppendUint32(b, uint32(t.Partitions))
	for p := range t.Partitions {
		b = binary.LittleEndian.AppendUint32(b, uint32(p))
		racks := slices.Clone(t.Racks(p))
		slices.SortFunc(racks, compareJava)
		for _, rack := range racks {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(utf16.Encode([]rune(rack)))))
			b = appendString(b, rack)
		}
	}
	return xxh3.Hash(b)
}

// appendString appends the units of UTF-16 and then how many they are, as hash4j
// hashes a string.
func appendString(b []byte, s string) []byte {
	units := utf16.Encode([]rune(s))
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(len(units)))
}

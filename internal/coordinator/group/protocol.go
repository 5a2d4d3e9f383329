package group

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf16"
)

// choose gives the protocol of the next generation: each member votes for the first
// of its protocols that all members support. Of several with the most votes it is
// the one that comes first in Java's HashMap, so that a group that moves between
// Apache Kafka and us does not change its mind.
func (g *classicGroup) choose() string {
	votes := map[string]int{}
	var names []string // in the order of their first vote
	for m := range g.all() {
		for i := range m.protocols {
			name := m.protocols[i].Name
			if g.supported[name] != g.size() {
				continue
			}
			if votes[name]++; votes[name] == 1 {
				names = append(names, name)
			}
			break
		}
	}
	slots := uint32(16)
	for len(names)*4 > int(slots)*3 {
		slots *= 2
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), cmp.Compare(javaSlot(a, slots), javaSlot(b, slots)))
	})
	return names[0]
}

// javaSlot is where java.util.HashMap puts a string.
func javaSlot(s string, slots uint32) uint32 {
	var h uint32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(unit)
	}
	return (h ^ h>>16) & (slots - 1)
}

// readTopics adds the topics of a consumer's subscription to topics. It reads what
// all versions have in common, as Apache Kafka does: the version, the topics and
// the user data. It says whether the bytes are a subscription.
func readTopics(b []byte, topics map[string]struct{}) bool {
	if len(b) < 6 || int16(binary.BigEndian.Uint16(b)) < 0 {
		return false
	}
	count := int32(binary.BigEndian.Uint32(b[2:]))
	b = b[6:]
	if count < 0 {
		return false
	}
	for range count {
		if len(b) < 2 {
			return false
		}
		n := int(int16(binary.BigEndian.Uint16(b)))
		if b = b[2:]; n < 0 || n > len(b) {
			return false
		}
		topics[string(b[:n])] = struct{}{}
		b = b[n:]
	}
	if len(b) < 4 {
		return false
	}
	userData := int32(binary.BigEndian.Uint32(b))
	return userData >= -1 && int(userData) <= len(b)-4
}

package kafka

// CoordinatorPartition is the partition of an internal topic of n partitions in
// which a group id, a transactional id or the like lives:
// Utils.abs(id.hashCode()) % n, with Java's hash over UTF-16.
func CoordinatorPartition(id string, n int32) int32 {
	h := javaHash(id)
	switch {
	case h == -1<<31:
		h = 0 // it has no positive counterpart; Apache takes 0
	case h < 0:
		h = -h
	}
	return h % n
}

// javaHash is String.hashCode. Bytes that are no UTF-8 count as U+FFFD, which is
// what Java makes of them.
func javaHash(s string) int32 {
	var h int32
	for _, r := range s {
		if r < 0x10000 {
			h = 31*h + int32(r)
			continue
		}
		high, low := surrogates(r)
		h = 31*(31*h+high) + low
	}
	return h
}

func surrogates(r rune) (high, low int32) {
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}

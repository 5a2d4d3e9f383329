package api

// maxSame is how often a request may name one and the same thing whose answer is much
// larger than its name: a resource, a group, a partition. Apache Kafka answers as often
// as it is named, so that a request of a megabyte could make an answer of gigabytes.
// Here more are left out of the answer; no client names anything twice.
const maxSame = 8

// repeats counts how often a request names each thing.
type repeats[K comparable] map[K]int

// newRepeats is nil, which never is too often, for requests that name few things.
func newRepeats[K comparable](named int) repeats[K] {
	if named <= maxSame {
		return nil
	}
	return make(repeats[K], named)
}

// tooOften counts a thing, and says whether it is left out.
func (r repeats[K]) tooOften(k K) bool {
	if r == nil {
		return false
	}
	r[k]++
	return r[k] > maxSame
}

package assign

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"barnabas/internal/kafka"
)

// Range gives each member a contiguous range of the partitions of each topic that it
// is subscribed to. Members come in the order of their instance ids, then those
// without one in the order of their ids; the first ones get one more where the
// partitions do not divide. Where all are subscribed to the same topics with
// the same number of partitions, each has the same numbers of all of them. What
// members had before plays no part.
func Range(g *Group) ([]Assignment, error) {
	order := make([]int, len(g.Members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareMembers(&g.Members[a], &g.Members[b]) })

	quotas := map[kafka.UUID]*rangeQuota{}
	for i := range g.Members {
		for _, topic := range g.Members[i].Topics {
			q := quotas[topic]
			if q == nil {
				count := g.Count(topic)
				if count < 0 {
					return nil, errors.New("Member is subscribed to a non-existent topic")
				}
				q = &rangeQuota{count: count}
				quotas[topic] = q
			}
			q.members++
		}
	}
	out := make([]Assignment, len(g.Members))
	for _, i := range order {
		for _, topic := range g.Members[i].Topics {
			if numbers := quotas[topic].take(); len(numbers) > 0 {
				out[i] = append(out[i], Partitions{topic, numbers})
			}
		}
	}
	return out, nil
}

func compareMembers(a, b *Member) int {
	switch {
	case a.Instance != nil && b.Instance != nil:
		return compareUTF16(*a.Instance, *b.Instance)
	case a.Instance != nil:
		return -1
	case b.Instance != nil:
		return 1
	}
	return compareUTF16(a.ID, b.ID)
}

// compareUTF16 is String.compareTo: by units of UTF-16, which is the order of bytes
// but for characters beyond the first plane.
func compareUTF16(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	for i := range min(len(ra), len(rb)) {
		if ra[i] != rb[i] {
			return cmp.Compare(firstUnit(ra[i], rb[i]), firstUnit(rb[i], ra[i]))
		}
	}
	return strings.Compare(a, b)
}

// firstUnit orders r against other as their units of UTF-16 do: the surrogates
// (0xD800 and up) of the upper planes come before what is left of the first.
func firstUnit(r, other rune) rune {
	if r > 0xffff && other <= 0xffff {
		return 0xd800
	}
	return r
}

// rangeQuota hands out the partitions of a topic.
type rangeQuota struct {
	count   int32 // partitions of the topic
	members int32 // that are subscribed to it
	served  int32
	next    int32
}

// take is the range of the next member.
func (q *rangeQuota) take() []int32 {
	n := q.count / q.members
	if q.served < q.count%q.members {
		n++
	}
	q.served++
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = q.next
		q.next++
	}
	return numbers
}

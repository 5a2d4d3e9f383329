package lag

import (
	"container/heap"
	"iter"
)

// Holding is a group, and in how many partitions it has an offset.
type Holding struct {
	Group      string
	Partitions int
	Members    bool
}

// Fit chooses which groups are watched where there is room for limit partitions. A
// group is taken whole or not at all, so that a sum over its partitions is true: first
// those that have members, of these the smallest first, of equals the first by name.
// left is the number of partitions of those that are not taken.
//
// It keeps limit groups at most, of however many it is shown.
func Fit(groups iter.Seq[Holding], limit int) (taken []Holding, left int) {
	var with, without choice
	for g := range groups {
		if g.Members {
			left += with.add(g, limit)
		} else {
			left += without.add(g, limit)
		}
	}
	left += without.shrink(limit - with.partitions)
	return append(with.groups, without.groups...), left
}

// choice has the groups chosen so far, as a heap with the largest on top. What it
// drops would not fit beside the smaller ones, whatever comes.
type choice struct {
	groups     []Holding
	partitions int // of groups
}

// add returns the number of partitions of the groups that it drops.
func (c *choice) add(g Holding, limit int) (dropped int) {
	if c.partitions+g.Partitions > limit && (len(c.groups) == 0 || g.after(c.groups[0])) {
		return g.Partitions // it would be the first to go
	}
	heap.Push(c, g)
	c.partitions += g.Partitions
	return c.shrink(limit)
}

func (c *choice) shrink(limit int) (dropped int) {
	for c.partitions > limit {
		g := heap.Pop(c).(Holding)
		c.partitions -= g.Partitions
		dropped += g.Partitions
	}
	return dropped
}

func (c *choice) Len() int { return len(c.groups) }

// after says whether g is chosen after h.
func (g Holding) after(h Holding) bool {
	return g.Partitions > h.Partitions || g.Partitions == h.Partitions && g.Group > h.Group
}

func (c *choice) Less(i, j int) bool { return c.groups[i].after(c.groups[j]) }

func (c *choice) Swap(i, j int) { c.groups[i], c.groups[j] = c.groups[j], c.groups[i] }

// Push is heap.Interface's.
func (c *choice) Push(g any) { c.groups = append(c.groups, g.(Holding)) }

// Pop is heap.Interface's.
func (c *choice) Pop() any {
	last := c.groups[len(c.groups)-1]
	c.groups = c.groups[:len(c.groups)-1]
	return last
}

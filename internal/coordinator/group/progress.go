package group

import (
	"iter"
	"slices"

	"barnabas/internal/coordinator/lag"
	"barnabas/internal/kafka"
)

// Progress is an offset that a group has committed.
type Progress struct {
	Group string
	kafka.TopicPartition
	Committed kafka.Offset
	Alive     bool // the group is stable and has members
	Members   bool // the group has members
}

// Progress tells of the groups of the core, as the log has them: of all their
// offsets, in the order of partitions, if these are at most limit, else of those
// groups that lag.Fit takes. left is the number of offsets that are not told.
func (c *Core) Progress(limit int, tell func(Progress)) (left int) {
	var groups iter.Seq[lag.Holding] = c.holdings
	if c.offsets.values.LenCommitted() > limit {
		chosen, dropped := lag.Fit(groups, limit)
		left, groups = dropped, slices.Values(chosen)
	}
	for holding := range groups {
		g := c.classic(holding.Group)
		alive := g != nil && g.state == stateStable
		partitions, _ := c.offsets.partitions.GetCommitted(holding.Group)
		for tp := range partitions.Keys() {
			v, _ := c.offsets.values.GetCommitted(offsetKey{holding.Group, tp})
			tell(Progress{Group: holding.Group, TopicPartition: tp, Committed: v.offset, Alive: alive, Members: holding.Members})
		}
	}
	return left
}

// holdings are the groups that have committed an offset.
func (c *Core) holdings(yield func(lag.Holding) bool) {
	for id, partitions := range c.offsets.partitions.AllCommitted() {
		g := c.classic(id)
		if !yield(lag.Holding{Group: id, Partitions: partitions.Len(), Members: g != nil && g.size() > 0}) {
			return
		}
	}
}

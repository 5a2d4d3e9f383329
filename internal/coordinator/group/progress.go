package group

import (
	"iter"
	"slices"

	"barnabas/internal/coordinator/consumergroup"
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
		members, stable := c.membership(holding.Group)
		alive := stable && members > 0
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
		members, _ := c.membership(id)
		if !yield(lag.Holding{Group: id, Partitions: partitions.Len(), Members: members > 0}) {
			return
		}
	}
}

// membership says how many members a group has, and whether all have what they are to
// have.
func (c *Core) membership(id string) (members int, stable bool) {
	if g := c.classic(id); g != nil {
		return g.size(), g.state == stateStable
	}
	if e, ok := c.groups.GetCommitted(id); ok && e.consumer != nil {
		return e.consumer.Size(), e.consumer.State() == consumergroup.StateStable
	}
	return 0, false
}

// Membership says in which state a group of the classic or the consumer protocol is,
// and how many members it has: zeros if there is none of that name.
func (c *Core) Membership(id string) (state string, members int) {
	if g := c.classic(id); g != nil {
		return g.state.String(), g.size()
	}
	if e, ok := c.groups.GetCommitted(id); ok && e.consumer != nil {
		return e.consumer.State(), e.consumer.Size()
	}
	return "", 0
}

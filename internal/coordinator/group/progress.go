package group

import "barnabas/internal/kafka"

// Progress is an offset that a group has committed.
type Progress struct {
	Group string
	kafka.TopicPartition
	Committed kafka.Offset
	Alive     bool // the group is stable and has members
}

// Progress tells of all groups of the core, as the log has them, at most limit
// offsets.
func (c *Core) Progress(limit int, tell func(Progress)) {
	for key, v := range c.offsets.values.AllCommitted() {
		if limit--; limit < 0 {
			return
		}
		g := c.classic(key.group)
		tell(Progress{Group: key.group, TopicPartition: key.TopicPartition, Committed: v.offset, Alive: g != nil && g.state == stateStable})
	}
}

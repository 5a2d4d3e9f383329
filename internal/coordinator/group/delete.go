package group

import (
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// Delete serves one group of DeleteGroups: an empty group goes with all its offsets.
func (c *Core) Delete(group string, reply func(kafka.ErrorCode)) machine.Decision {
	e, ok := c.groups.Get(group)
	code := kafka.ErrNone
	switch {
	case !ok:
		code = kafka.ErrGroupIDNotFound
	case e.foreign != nil:
		code = e.foreign.mayDelete()
	case e.consumer != nil && e.consumer.Size() > 0:
		code = kafka.ErrNonEmptyGroup
	case e.consumer != nil:
	case e.classic.state != stateEmpty:
		code = kafka.ErrNonEmptyGroup
	}
	if code != kafka.ErrNone {
		reply(code)
		return machine.Decision{}
	}
	var records []machine.Record
	for _, key := range c.offsets.ofGroup(group) {
		records = append(records, offsetTombstone(key))
	}
	records = append(records, e.tombstones(group)...)
	return machine.Decision{Records: records, Divisible: true, Done: func(code kafka.ErrorCode) {
		if g := e.classic; g != nil && c.classic(group) != g {
			c.dissolve(g, kafka.ErrUnknownMemberID) // ids that were given away
		} else if e.consumer != nil {
			c.settleConsumer(group)
		}
		reply(answerCode(code))
	}}
}

// tombstones delete the group itself.
func (e *entry) tombstones(group string) []machine.Record {
	if e.classic != nil {
		return []machine.Record{groupTombstone(group)}
	}
	return e.emptied()
}

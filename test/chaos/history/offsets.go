package history

import "slices"

// groupPartition is what an offset is committed for.
type groupPartition struct {
	group string
	Partition
}

// committing is an offset that was committed, or may have been.
type committing struct {
	offset       int64
	begun, ended int64
	fate         fate
	client       string
	txn          string
}

// commitsByPartition gives the commits that were not refused.
func (c *checker) commitsByPartition() map[groupPartition][]committing {
	all := map[groupPartition][]committing{}
	ends := map[string]Event{}
	for _, e := range c.events {
		if e.Kind == End {
			ends[e.Txn] = e
		}
	}
	for _, e := range c.events {
		if e.Kind != Commit || e.Outcome == Failed {
			continue
		}
		x := committing{begun: e.Begun, ended: e.Ended, fate: may, client: e.Client, txn: e.Txn}
		if e.Outcome == OK {
			x.fate = must
		}
		if e.Txn != "" { // it counts when the transaction does
			switch c.txns[e.Txn].fate {
			case mustNot:
				continue
			case may:
				x.fate = may
			}
			x.begun, x.ended = ends[e.Txn].Begun, ends[e.Txn].Ended
		}
		for _, p := range e.Offsets {
			x.offset = p.Offset
			k := groupPartition{e.Group, p.Partition}
			all[k] = append(all[k], x)
		}
	}
	return all
}

// checkOffsets: a group's offset is never older than what was acknowledged before
// somebody asked, and somebody committed it.
func (c *checker) checkOffsets() {
	commits := c.commitsByPartition()
	for _, e := range c.events {
		if e.Kind != Committed || e.Outcome != OK {
			continue
		}
		for _, p := range e.Offsets {
			least, known := int64(-1), p.Offset == -1
			for _, x := range commits[groupPartition{e.Group, p.Partition}] {
				if x.fate == must && x.ended < e.Begun {
					least = max(least, x.offset)
				}
				known = known || x.offset == p.Offset && x.begun <= e.Ended
			}
			switch {
			case p.Offset < least:
				c.add(InconsistentOffsets, "%s was told that group %s is at %s; %d was acknowledged before", e.Client, e.Group, p, least)
			case !known:
				c.add(InconsistentOffsets, "%s was told that group %s is at %s, which nobody committed", e.Client, e.Group, p)
			}
		}
	}
}

// lastCommitted is what groups had committed when they were asked last.
func (c *checker) lastCommitted() map[groupPartition]int64 {
	last := map[groupPartition]int64{}
	for _, e := range c.events {
		if e.Kind == Committed && e.Outcome == OK {
			for _, p := range e.Offsets {
				last[groupPartition{e.Group, p.Partition}] = p.Offset
			}
		}
	}
	return last
}

// checkTransformations: of each input below a group's offset there is one output, of
// others none.
func (c *checker) checkTransformations() {
	groups := map[string]string{} // by the client that transforms
	for _, t := range c.txns {
		for _, e := range t.commits {
			groups[e.Client] = e.Group
		}
	}
	outputs := map[groupPartition]map[int64][]*sent{}
	for _, s := range c.order {
		if group := groups[s.client]; s.Origin != nil && group != "" && c.visible(s.ID) {
			k := groupPartition{group, s.Origin.Partition}
			if outputs[k] == nil {
				outputs[k] = map[int64][]*sent{}
			}
			outputs[k][s.Origin.Offset] = append(outputs[k][s.Origin.Offset], s)
		}
	}
	last := c.lastCommitted()
	for k, of := range outputs {
		for offset, made := range of {
			if end, known := last[k]; known && offset >= end {
				c.add(Torn, "%q was made of %s@%d, but group %s is at %d", made[0].ID, k.Partition, offset, k.group, end)
			}
			if len(made) > 1 {
				c.add(Duplicate, "%q and %q were made of %s@%d", made[0].ID, made[1].ID, k.Partition, offset)
			}
		}
	}
	transforming := map[string]bool{}
	for _, group := range groups {
		transforming[group] = true
	}
	for k, end := range last {
		if l := c.logs[k.Partition]; l != nil && transforming[k.group] {
			c.checkConsumed(k, l, end, outputs[k])
		}
	}
}

// checkConsumed: nothing below the group's offset is without an output.
func (c *checker) checkConsumed(k groupPartition, l *log, end int64, of map[int64][]*sent) {
	i := slices.IndexFunc(l.records, func(r Record) bool { return r.Offset < end && len(of[r.Offset]) == 0 })
	if i >= 0 {
		c.add(Lost, "group %s is at %d of %s, and nothing was made of %q at %d", k.group, end, k.Partition, l.records[i].ID, l.records[i].Offset)
	}
}

package history

import "sort"

// checkConsumers: a consumer is given what is there from where it stands, each record
// once, in order, with nothing left out.
func (c *checker) checkConsumers() {
	type key struct {
		client string
		Partition
	}
	next := map[key]int64{} // where a consumer stands; absent: nobody knows
	for _, e := range c.events {
		switch e.Kind {
		case Seek:
			for _, p := range e.Offsets {
				if k := (key{e.Client, p.Partition}); p.Offset >= 0 {
					next[k] = p.Offset
				} else {
					delete(next, k)
				}
			}
		case Poll:
			for _, r := range e.Records {
				k := key{e.Client, r.Partition}
				if from, known := next[k]; known {
					c.checkStep(e, from, r)
				}
				next[k] = r.Offset + 1
				c.checkPolled(e, r)
			}
		}
	}
}

// checkStep: a consumer that stood at an offset was given a record.
func (c *checker) checkStep(e Event, from int64, r Record) {
	if r.Offset < from {
		c.add(OutOfOrder, "%s was given %s when it stood at %d", e.Client, r.Position, from)
		return
	}
	l := c.logs[r.Partition]
	if l == nil {
		return
	}
	i := sort.Search(len(l.records), func(i int) bool { return l.records[i].Offset >= from })
	if i < len(l.records) && l.records[i].Offset < r.Offset {
		c.add(Skipped, "%s stood at %d of %s, was given %d, and not %q at %d", e.Client, from, r.Partition, r.Offset, l.records[i].ID, l.records[i].Offset)
	}
}

// checkPolled: what a consumer was given is what is there.
func (c *checker) checkPolled(e Event, r Record) {
	s := c.sends[r.ID]
	if s == nil || s.Partition != r.Partition {
		c.add(Phantom, "%s was given %q at %s, which was never sent there", e.Client, r.ID, r.Position)
		return
	}
	if !e.ReadCommitted {
		return // it may see what is aborted later
	}
	f := c.fate(s)
	if f == mustNot {
		c.addUnwanted(s, e.Client, r.Position)
	} else if f == may && !c.visible(r.ID) {
		c.add(Lost, "%s was given %q at %s, which is gone", e.Client, r.ID, r.Position)
	}
}

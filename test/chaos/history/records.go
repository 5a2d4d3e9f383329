package history

import "slices"

// checkSends: what has to be there is there, at the offset that was acknowledged.
func (c *checker) checkSends() {
	for _, s := range c.order {
		places := c.places[s.ID]
		switch c.fate(s) {
		case must:
			if len(places) == 0 {
				c.add(Lost, "%q of %s was acknowledged at %s", s.ID, s.client, s.Position)
			} else if !slices.Contains(places, s.Position) {
				c.add(Lost, "%q of %s was acknowledged at %s and is at %s", s.ID, s.client, s.Position, places[0])
			}
		case mustNot:
			if len(places) > 0 {
				c.addUnwanted(s, "the log", places[0])
			}
		}
		if len(places) > 1 {
			c.add(Duplicate, "%q of %s is at %s", s.ID, s.client, places)
		}
	}
}

// addUnwanted notes that somebody was shown a record that must not be there.
func (c *checker) addUnwanted(s *sent, by string, at Position) {
	if s.outcome == Failed {
		c.add(Phantom, "%s has %q at %s, which %s was refused", by, s.ID, at, s.client)
		return
	}
	c.add(AbortedRead, "%s has %q at %s of transaction %q of %s, which was not committed", by, s.ID, at, s.txn, s.client)
}

// checkLogs: nothing is there that nobody sent.
func (c *checker) checkLogs() {
	for p, l := range c.logs {
		for _, r := range l.records {
			if s := c.sends[r.ID]; s == nil || s.Partition != p {
				c.add(Phantom, "%q at %s was never sent there", r.ID, r.Position)
			}
		}
	}
}

// checkTransactions: all of a transaction is there, or nothing.
func (c *checker) checkTransactions() {
	for id, t := range c.txns {
		if t.fate == mustNot {
			continue // what is there of it is an aborted read
		}
		var there, missing []string
		for _, s := range t.sends {
			if c.visible(s.ID) {
				there = append(there, s.ID)
			} else if s.outcome == OK {
				missing = append(missing, s.ID)
			}
		}
		if len(there) > 0 && len(missing) > 0 {
			c.add(Torn, "of transaction %q the log has %q and not %q", id, there[0], missing[0])
		}
	}
}

// checkOrderOfProducers: what a client sent to a partition lies there in its order.
func (c *checker) checkOrderOfProducers() {
	type key struct {
		client string
		Partition
	}
	last := map[key]*sent{}
	for _, s := range c.order {
		places := c.places[s.ID]
		if len(places) == 0 {
			continue
		}
		k := key{s.client, s.Partition}
		if before := last[k]; before != nil && c.places[before.ID][0].Offset > places[0].Offset {
			c.add(OutOfOrder, "%s sent %q before %q; they are at %s and %s", s.client, before.ID, s.ID, c.places[before.ID][0], places[0])
		}
		last[k] = s
	}
}

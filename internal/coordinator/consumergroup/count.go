package consumergroup

import (
	"bytes"
	"cmp"
	"strings"

	"barnabas/internal/base/immut"
	"barnabas/internal/kafka"
)

// place names a partition.
type place struct {
	topic  kafka.UUID
	number int32
}

func comparePlaces(a, b place) int {
	return cmp.Or(bytes.Compare(a.topic[:], b.topic[:]), cmp.Compare(a.number, b.number))
}

// subscribers says how a topic is subscribed to: by how many members by its name, and
// by how many regular expressions.
type subscribers struct{ byName, byRegex int }

// counts are what follows from the members of a group and its regular expressions.
type counts struct {
	static    immut.Map[string, string]      // member ids by instance ids
	topics    immut.Map[string, subscribers] // by name
	regexes   immut.Map[string, int]         // members
	holders   immut.Map[place, int32]        // member epochs
	assignors immut.Map[string, int]         // members that ask for one
	classic   int                            // members that use the classic protocol
	protocols immut.Map[string, int]         // of those, how many support one
	stable    immut.Map[int32, int]          // members that are stable, by epoch
	bytes     int64                          // of what is said of the members
}

func newCounts() counts {
	return counts{
		static:    immut.New[string, string](strings.Compare),
		topics:    immut.New[string, subscribers](strings.Compare),
		regexes:   immut.New[string, int](strings.Compare),
		holders:   immut.New[place, int32](comparePlaces),
		assignors: immut.New[string, int](strings.Compare),
		protocols: immut.New[string, int](strings.Compare),
		stable:    immut.New[int32, int](cmp.Compare[int32]),
	}
}

// bump changes a number of a map; what is 0 is not in it.
func bump[K any](m *immut.Map[K, int], o *immut.Owner, key K, by int) {
	n, _ := m.Get(key)
	if n += by; n <= 0 {
		m.Delete(o, key)
		return
	}
	m.Set(o, key, n)
}

// replace counts a member anew; either may be nil.
func (c *counts) replace(o *immut.Owner, old, next *Member) {
	if old == nil || next == nil || !sameStrings(old.Topics, next.Topics) {
		c.subscribe(o, old, -1)
		c.subscribe(o, next, 1)
	}
	c.count(o, old, -1)
	c.count(o, next, 1)
	c.bytes += next.Bytes() - old.Bytes()
	if old == nil || next == nil || old.Epoch != next.Epoch || !old.Assigned.Equal(next.Assigned) || !old.Revoking.Equal(next.Revoking) {
		c.release(o, old)
		c.hold(o, next)
	}
	if old != nil && old.Instance != nil {
		if id, _ := c.static.Get(*old.Instance); id == old.ID {
			c.static.Delete(o, *old.Instance)
		}
	}
	if next != nil && next.Instance != nil {
		c.static.Set(o, *next.Instance, next.ID)
	}
}

func sameStrings(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (c *counts) subscribe(o *immut.Owner, m *Member, by int) {
	if m == nil {
		return
	}
	for _, name := range m.Topics {
		c.topic(o, name, subscribers{byName: by})
	}
}

// topic changes the counts of a topic.
func (c *counts) topic(o *immut.Owner, name string, by subscribers) {
	n, _ := c.topics.Get(name)
	n.byName, n.byRegex = max(n.byName+by.byName, 0), max(n.byRegex+by.byRegex, 0)
	if n == (subscribers{}) {
		c.topics.Delete(o, name)
		return
	}
	c.topics.Set(o, name, n)
}

// count counts what is cheap to count.
func (c *counts) count(o *immut.Owner, m *Member, by int) {
	if m == nil {
		return
	}
	if m.Regex != "" {
		bump(&c.regexes, o, m.Regex, by)
	}
	if m.Assignor != nil {
		bump(&c.assignors, o, *m.Assignor, by)
	}
	if m.State == Stable {
		bump(&c.stable, o, m.Epoch, by)
	}
	if m.Classic != nil {
		c.classic += by
		for i := range m.Classic.Protocols {
			bump(&c.protocols, o, m.Classic.Protocols[i].Name, by)
		}
	}
}

// release takes out what a member holds, where nobody holds it with another epoch.
func (c *counts) release(o *immut.Owner, m *Member) {
	if m == nil {
		return
	}
	for _, h := range []Holding{m.Assigned, m.Revoking} {
		for _, t := range h {
			for _, n := range t.Numbers {
				p := place{t.Topic, n}
				if epoch, held := c.holders.Get(p); held && epoch == m.Epoch {
					c.holders.Delete(o, p)
				}
			}
		}
	}
}

// hold notes what a member holds.
func (c *counts) hold(o *immut.Owner, m *Member) {
	if m == nil {
		return
	}
	for _, h := range []Holding{m.Assigned, m.Revoking} {
		for _, t := range h {
			for _, n := range t.Numbers {
				p := place{t.Topic, n}
				if epoch, held := c.holders.Get(p); !held || epoch < m.Epoch {
					c.holders.Set(o, p, m.Epoch)
				}
			}
		}
	}
}

// resolve counts the topics of a regular expression anew.
func (c *counts) resolve(o *immut.Owner, old, next *Resolved) {
	if old != nil {
		for _, name := range old.Topics {
			c.topic(o, name, subscribers{byRegex: -1})
		}
	}
	if next != nil {
		for _, name := range next.Topics {
			c.topic(o, name, subscribers{byRegex: 1})
		}
	}
}

// homogeneous says whether all of n members are subscribed to the same topics.
func (c *counts) homogeneous(n int) bool {
	if c.regexes.Len() > 0 {
		for _, members := range c.regexes.All() {
			if members != n {
				return false
			}
			break
		}
		for _, s := range c.topics.All() {
			if s.byRegex != 1 || s.byName > 0 {
				return false
			}
		}
		return true
	}
	for _, s := range c.topics.All() {
		if s.byName != n {
			return false
		}
	}
	return true
}

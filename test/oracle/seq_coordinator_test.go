package oracle

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// coordinatorSequences are requests for the coordinators of groups, transactional ids
// and share groups.
var coordinatorSequences = slices.Concat(
	versions("coordinator/find", 0, 6, findOneCoordinator),
	[]sequence{
		{"coordinator/kinds", findByKind},
		{"coordinator/batch", findManyCoordinators},
		{"coordinator/names", findOddNames},
		{"coordinator/share", findShareCoordinator},
		{"coordinator/transaction", findTransactionCoordinator},
	},
)

// finder asks for the coordinators of keys, in the field that the version has.
func finder(v int16, kind int8, keys ...string) *kmsg.FindCoordinatorRequest {
	r := At(v, kmsg.NewPtrFindCoordinatorRequest())
	r.CoordinatorType = kind
	if v >= 4 {
		r.CoordinatorKeys = keys
	} else {
		r.CoordinatorKey = keys[0]
	}
	return r
}

func findOneCoordinator(s *Session, v int16) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	c.Send(finder(v, 0, g))
	c.Say("the same again").Send(finder(v, 0, g))
	c.Say("a group that nobody has used").Send(finder(v, 0, s.Topic("nobody")))
}

func findByKind(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	for _, v := range []int16{1, 3, 4, 6} {
		for _, kind := range []int8{3, 127, -1} {
			c.Say("kind %d", kind).Send(finder(v, kind, g))
		}
	}
}

func findManyCoordinators(s *Session) {
	g := s.Topic("g")
	c := s.coordinator("a", g)
	for v := int16(4); v <= 6; v++ {
		c.Send(finder(v, 0, g, s.Topic("h"), s.Topic("i")))
		c.Say("one twice").Send(finder(v, 0, g, g))
		c.Say("none").Send(finder(v, 0))
	}
}

func findOddNames(s *Session) {
	c := s.coordinator("a", s.Topic("g"))
	for _, v := range []int16{0, 3, 4, 6} {
		for _, name := range []string{"", " ", "a/b:c", "größer", "\x00"} {
			c.Say("%q", name).Send(finder(v, 0, name))
		}
	}
}

func findShareCoordinator(s *Session) {
	c := s.coordinator("a", s.Topic("g"))
	for _, v := range []int16{1, 4, 5, 6} {
		for _, key := range []string{"", "g", "g:AAAAAAAAAAAAAAAAAAAAAQ:0", "g:not-an-id:0", "g:AAAAAAAAAAAAAAAAAAAAAQ:x", ":AAAAAAAAAAAAAAAAAAAAAQ:0"} {
			c.Say("%q", key).Send(finder(v, 2, key))
		}
	}
}

func findTransactionCoordinator(s *Session) {
	c := s.transactional("a", "t")
	for _, v := range []int16{0, 1, 3, 4, 6} {
		c.Say("a transactional id").Send(finder(v, 1, c.id))
		c.Say("an empty one").Send(finder(v, 1, ""))
	}
}

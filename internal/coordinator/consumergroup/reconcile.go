package consumergroup

import (
	"errors"
	"slices"

	"barnabas/internal/coordinator/assign"
	"barnabas/internal/kafka"
)

// ErrFenced is the error for a member whose state a later release has written: it
// has to let go of all and begin anew.
var ErrFenced = errors.New("The consumer group member is in a unknown state. The member must abandon all its partitions and rejoin.")

// Reported are the partitions that a member says it has; nil: it does not say.
type Reported []assign.Partitions

// Within says whether all that is reported is in a holding. What is not reported
// is in none.
func (r Reported) Within(h Holding) bool {
	if r == nil {
		return false
	}
	for _, t := range r {
		held := h.Of(t.Topic)
		if len(held.Numbers) == 0 {
			return false
		}
		for _, n := range t.Numbers {
			if _, is := slices.BinarySearch(held.Numbers, n); !is {
				return false
			}
		}
	}
	return true
}

// touches says whether something of a holding is reported. What is not reported may
// be all.
func (r Reported) touches(h Holding) bool {
	if r == nil {
		return true
	}
	for _, t := range r {
		held := h.Of(t.Topic)
		for _, n := range t.Numbers {
			if _, is := slices.BinarySearch(held.Numbers, n); is {
				return true
			}
		}
	}
	return false
}

// Reconcile takes a member a step towards what it is to have, and gives the member as
// it is then; it is m itself if no step can be taken. changed says that the member
// has just changed its subscription: it has to let go of topics that it is not
// subscribed to any more even if there is no target for that yet.
func (g *Group) Reconcile(m *Member, epoch int32, target assign.Assignment, reported Reported, changed bool, topics Topics) (*Member, error) {
	s := step{g: g, m: m, epoch: epoch, target: target, reported: reported, subscribed: g.subscription(m, topics)}
	switch m.State {
	case Stable:
		if m.Epoch != epoch {
			return s.next(m.Epoch), nil
		}
		if changed {
			return s.shrink(), nil
		}
		return m, nil
	case Unrevoked:
		if reported.touches(m.Revoking) {
			if changed {
				return s.shrink(), nil
			}
			return m, nil
		}
		return s.next(m.Epoch), nil
	case Unreleased:
		return s.next(m.Epoch), nil
	}
	if len(reported) > 0 || reported == nil {
		return nil, ErrFenced
	}
	return s.next(epoch), nil
}

// step is what is known when a member takes a step.
type step struct {
	g          *Group
	m          *Member
	epoch      int32
	target     assign.Assignment
	reported   Reported
	subscribed func(kafka.UUID) bool
}

// subscription says which topics a member is subscribed to. A regular expression that
// is not resolved matches nothing.
func (g *Group) subscription(m *Member, topics Topics) func(kafka.UUID) bool {
	var matched []string
	if r := g.Regex(m.Regex); m.Regex != "" && r != nil {
		matched = r.Topics
	}
	return func(id kafka.UUID) bool {
		t, ok := topics.ByID(id)
		if !ok {
			return false
		}
		_, named := slices.BinarySearch(m.Topics, t.Name)
		_, matches := slices.BinarySearch(matched, t.Name)
		return named || matches
	}
}

// shrink takes topics from the member that it is not subscribed to any more.
func (s *step) shrink() *Member {
	m := s.m
	kept, revoking := Holding(nil), m.Revoking
	for _, t := range m.Assigned {
		if s.subscribed(t.Topic) {
			kept = append(kept, t)
		} else {
			revoking = revoking.put(t)
		}
	}
	switch {
	case len(kept) == len(m.Assigned):
		return m
	case len(revoking) > 0 && s.reported.touches(revoking):
		return m.advance(m.Epoch, Unrevoked, kept, revoking)
	}
	return m.advance(m.Epoch, m.State, kept, m.Revoking)
}

// next keeps what the member has and is to have, revokes what it has and is not to
// have, and gives what nobody holds. While it has to let go of something it stays in
// its epoch.
func (s *step) next(memberEpoch int32) *Member {
	m := s.m
	var kept, revoked, given []Held
	waits := false
	for _, topic := range s.topics() {
		var target []int32
		if s.subscribed(topic) {
			target = s.target.Of(topic)
		}
		keep, rest := m.Assigned.Of(topic).split(func(n int32) bool {
			_, is := slices.BinarySearch(target, n)
			return is
		})
		free, blocked := s.free(topic, target, keep)
		waits = waits || blocked
		kept, revoked, given = append(kept, keep), append(revoked, rest), append(given, free)
	}
	assigned, revoking := gather(kept), gather(revoked)
	if len(revoking) > 0 && s.reported.touches(revoking) {
		return m.advance(memberEpoch, Unrevoked, assigned, revoking)
	}
	state := Stable
	if waits {
		state = Unreleased
	}
	return m.advance(s.epoch, state, gather(append(kept, given...)), nil)
}

// topics are those of the target and those that the member has.
func (s *step) topics() []kafka.UUID {
	var list []kafka.UUID
	for i := range s.target {
		list = append(list, s.target[i].Topic)
	}
	for i := range s.m.Assigned {
		if s.target.Of(s.m.Assigned[i].Topic) == nil {
			list = append(list, s.m.Assigned[i].Topic)
		}
	}
	return list
}

// free are the partitions of the target that the member has not and that it can have
// now; blocked says that there are others. What the member itself has to let go of
// is not in its way.
func (s *step) free(topic kafka.UUID, target []int32, kept Held) (free Held, blocked bool) {
	free.Topic = topic
	for _, n := range target {
		if _, has := slices.BinarySearch(kept.Numbers, n); has {
			continue
		}
		if _, held := s.g.Holder(topic, n); held {
			if _, own := s.m.Revoking.Epoch(topic, n); !own {
				blocked = true
				continue
			}
		}
		free.Numbers, free.Epochs = append(free.Numbers, n), append(free.Epochs, s.epoch)
	}
	return free, blocked
}

// Depart is the static member as it is while it is away for a while: it keeps what it
// has, under an epoch that is none.
func (m *Member) Depart() *Member {
	return m.With(func(n *Member) {
		n.Epoch, n.Revoking, n.Assigned = EpochStaticLeave, nil, m.Assigned.sinceZero()
	})
}

package election

// completeReassignment ends a reassignment that the wanted ISR allows to end: all
// added replicas are in sync, and something is in sync without the removed ones.
// When more replicas go than come, all that stay must be in sync.
func (t *target) completeReassignment() {
	if len(t.removing) == 0 && len(t.adding) == 0 {
		return
	}
	isr, replicas := Without(t.isr, t.removing...), Without(t.replicas, t.removing...)
	switch {
	case len(t.removing) > 0 && (len(isr) == 0 || len(replicas) == 0):
		return
	case !containsAll(isr, t.adding):
		return
	case len(t.adding) < len(t.removing) && !containsAll(isr, replicas):
		return
	}
	t.isr, t.replicas, t.removing, t.adding = isr, replicas, nil, nil
}

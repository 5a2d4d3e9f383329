package group

import (
	"iter"
	"maps"
	"slices"

	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/kafka"
)

// cluster has the topics of a test.
type cluster struct{ view *topicsView }

// topicsView is a consumergroup.Topics.
type topicsView struct {
	version, created, changed int64
	byName                    map[string]*consumergroup.Topic
}

func newCluster() *cluster {
	return &cluster{&topicsView{version: 1, created: 1, changed: 1, byName: map[string]*consumergroup.Topic{}}}
}

func (c *cluster) now() consumergroup.Topics { return c.view }

// set gives a topic a number of partitions; 0 deletes it.
func (c *cluster) set(name string, id kafka.UUID, partitions int32) {
	next := &topicsView{version: c.view.version + 1, created: c.view.created, byName: maps.Clone(c.view.byName)}
	next.changed = next.version
	old := c.view.byName[name]
	if partitions == 0 {
		delete(next.byName, name)
	} else {
		t := &consumergroup.Topic{Name: name, ID: id, Partitions: partitions, Racks: func(int32) []string { return nil }}
		t.Same = t
		next.byName[name] = t
		if old == nil || old.ID != id {
			next.created = next.version
		}
	}
	c.view = next
}

func (v *topicsView) Version() int64 { return v.version }
func (v *topicsView) Created() int64 { return v.created }
func (v *topicsView) Changed() int64 { return v.changed }

func (v *topicsView) ByName(name string) (t consumergroup.Topic, ok bool) {
	if found := v.byName[name]; found != nil {
		return *found, true
	}
	return t, false
}

func (v *topicsView) ByID(id kafka.UUID) (t consumergroup.Topic, ok bool) {
	for _, found := range v.byName {
		if found.ID == id {
			return *found, true
		}
	}
	return t, false
}

func (v *topicsView) Names() iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(v.byName)))
}

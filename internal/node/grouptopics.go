package node

import (
	"iter"
	"slices"
	"time"

	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
)

// groupTopics are the topics of an image as consumer groups see them.
type groupTopics struct {
	img *image.Image
	// created, changed and racked are the positions of the last images in which a topic
	// came, something of a topic changed, and a broker got another rack.
	created, changed, racked int64
}

// next is what an image makes of it.
func (t *groupTopics) next(d *image.Delta) *groupTopics {
	at := int64(d.New.Position.Offset)
	if t == nil {
		return &groupTopics{img: d.New, created: at, changed: at, racked: at}
	}
	next := &groupTopics{img: d.New, created: t.created, changed: t.changed, racked: t.racked}
	if len(d.Topics) > 0 {
		next.changed = at
	}
	if slices.ContainsFunc(d.Topics, func(c image.TopicChange) bool { return c.Old == nil }) {
		next.created = at
	}
	if slices.ContainsFunc(d.Brokers, func(id kafka.BrokerID) bool { return rackOf(d.Old, id) != rackOf(d.New, id) }) {
		next.changed, next.racked = at, at
	}
	return next
}

// rackOf is the rack of a broker, "" if it has none or is not there.
func rackOf(img *image.Image, id kafka.BrokerID) string {
	if b, ok := img.Cluster.Brokers.Get(id); ok && b.Rack != nil {
		return *b.Rack
	}
	return ""
}

func (t *groupTopics) Version() int64 { return int64(t.img.Position.Offset) }
func (t *groupTopics) Created() int64 { return t.created }
func (t *groupTopics) Changed() int64 { return t.changed }

func (t *groupTopics) ByName(name string) (consumergroup.Topic, bool) {
	return t.topic(t.img.Topics.ByName(name))
}

func (t *groupTopics) ByID(id kafka.UUID) (consumergroup.Topic, bool) {
	return t.topic(t.img.Topics.ByID(id))
}

func (t *groupTopics) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for topic := range t.img.Topics.All() {
			if !yield(topic.Name) {
				return
			}
		}
	}
}

func (t *groupTopics) topic(topic *image.Topic) (of consumergroup.Topic, ok bool) {
	if topic == nil {
		return of, false
	}
	type same struct {
		topic  *image.Topic
		racked int64
	}
	return consumergroup.Topic{
		Name: topic.Name, ID: topic.ID, Partitions: int32(topic.Len()), Same: same{topic, t.racked},
		Racks: func(partition int32) (racks []string) {
			p := topic.Partition(partition)
			if p == nil {
				return nil
			}
			for _, id := range p.Replicas {
				if b, ok := t.img.Cluster.Brokers.Get(id); ok && b.Rack != nil {
					racks = append(racks, *b.Rack)
				}
			}
			return racks
		},
	}, true
}

// maxResolutions bounds the questions about regular expressions that wait. What finds
// no place is asked again by its group, after a minute.
const maxResolutions = 1000

// askLater takes a question of a coordinator.
func (n *Node) askLater(q group.Resolution) {
	select {
	case n.resolutions <- q:
	default:
	}
}

// resolve answers questions, one after the other, until the node stops.
func (n *Node) resolve() {
	stopped := func() bool {
		select {
		case <-n.stop:
			return true
		default:
			return false
		}
	}
	for {
		select {
		case <-n.stop:
			return
		case q := <-n.resolutions:
			answer, ok := q.Run(stopped)
			if partitions := n.offsetsPartitions(); ok && partitions > 0 {
				n.groups.Do(kafka.CoordinatorPartition(q.Group, int32(partitions)), func(core *group.Core, now time.Time) machine.Decision {
					return core.Resolved(now, answer)
				}, func(kafka.ErrorCode) {})
			}
		}
	}
}

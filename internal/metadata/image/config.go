package image

import (
	"cmp"
	"iter"

	"barnabas/internal/base/immut"
)

// ResourceType is the kind of thing that has a configuration, by Kafka's numbers.
type ResourceType int8

// The resource types that stand in the metadata log.
const (
	TopicResource         ResourceType = 2
	BrokerResource        ResourceType = 4
	ClientMetricsResource ResourceType = 16
	GroupResource         ResourceType = 32
)

// ConfigResource names what has a configuration. A BrokerResource without a name is
// the default of all brokers.
type ConfigResource struct {
	Type ResourceType
	Name string
}

// ConfigValues are the values that are set on a resource, by key.
type ConfigValues = immut.Map[string, string]

// Configs are the dynamic configurations of the cluster.
type Configs struct {
	byResource immut.Map[ConfigResource, ConfigValues]
}

// Of returns what is set on the resource itself; defaults of its kind are not in it.
func (c *Configs) Of(r ConfigResource) ConfigValues {
	v, _ := c.byResource.Get(r)
	return v
}

// Value returns the value of a key that is set on the resource itself.
func (c *Configs) Value(r ConfigResource, key string) (string, bool) {
	return c.Of(r).Get(key)
}

// All goes over the resources that have values, in order of type and name.
func (c *Configs) All() iter.Seq2[ConfigResource, ConfigValues] { return c.byResource.All() }

// Len is the number of resources that have values.
func (c *Configs) Len() int { return c.byResource.Len() }

func compareResource(a, b ConfigResource) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
}

package config

import "sync"

// Set is the keys of one kind of resource. It is immutable.
type Set struct {
	keys   []Key
	byName map[string]*Key
}

func newSet(lists ...[]Key) *Set {
	s := &Set{}
	for _, l := range lists {
		s.keys = append(s.keys, l...)
	}
	s.byName = make(map[string]*Key, len(s.keys))
	for i := range s.keys {
		k := &s.keys[i]
		if s.byName[k.Name] != nil {
			panic("BUG: configuration key " + k.Name + " is declared twice")
		}
		s.byName[k.Name] = k
	}
	return s
}

// Keys lists the keys in the order in which they are checked.
func (s *Set) Keys() []Key { return append([]Key(nil), s.keys...) }

// Lookup returns the key of that name, or nil.
func (s *Set) Lookup(name string) *Key { return s.byName[name] }

// The sets are built when first needed: most commands need none.
var (
	brokerSet        = sync.OnceValue(func() *Set { return newSet(nodeKeys(), logKeys(), groupCoordinatorKeys(), securityKeys()) })
	otherSet         = sync.OnceValue(func() *Set { return newSet(ownKeys(), pluginKeys(), dynamicOnlyKeys()) })
	topicSet         = sync.OnceValue(func() *Set { return newSet(topicKeys()) })
	groupSet         = sync.OnceValue(func() *Set { return newSet(groupKeys()) })
	clientMetricsSet = sync.OnceValue(func() *Set { return newSet(clientMetricsKeys()) })
)

// BrokerKeys are the keys that Apache's broker declares.
func BrokerKeys() *Set { return brokerSet() }

// OtherKeys are keys of a node outside of Apache's declarations: our own, those
// of plugins, and those that can be set on a running broker only.
func OtherKeys() *Set { return otherSet() }

// TopicKeys are the keys of topics.
func TopicKeys() *Set { return topicSet() }

// GroupKeys are the keys of groups.
func GroupKeys() *Set { return groupSet() }

// ClientMetricsKeys are the keys of client-metrics resources.
func ClientMetricsKeys() *Set { return clientMetricsSet() }

// lookupNode returns the key of a node, whichever set it is in.
func lookupNode(name string) *Key {
	if k := brokerSet().Lookup(name); k != nil {
		return k
	}
	return otherSet().Lookup(name)
}

// NoKeys is the empty set.
func NoKeys() *Set { return &Set{} }

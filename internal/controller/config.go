package controller

import (
	"strconv"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
)

// Keys of topics that elections depend on.
const (
	minInsyncReplicas = "min.insync.replicas"
	uncleanElection   = "unclean.leader.election.enable"
)

// topicRules are what a topic's configuration says about elections.
type topicRules struct {
	minISR  int
	unclean bool
}

// resolved is this node's configuration with the dynamic values of the cluster,
// and what it says of a topic on which nothing is set. It is worked out anew after
// a record that changes it.
func (a *active) resolved() (*config.Broker, topicRules) {
	if a.config == nil {
		// What breaks a rule counts as not set; whoever serves configuration says so.
		a.config, _ = a.o.Config.With(config.Dynamic{
			Broker:  asMap(a.image.Configs.Of(image.ConfigResource{Type: image.BrokerResource, Name: strconv.Itoa(int(a.o.ID))})),
			Default: asMap(a.image.Configs.Of(image.ConfigResource{Type: image.BrokerResource})),
		})
		t, _ := a.config.Topic(nil) // without overrides there is nothing to be wrong
		a.defaults = topicRules{minISR: t.MinInsyncReplicas, unclean: t.UncleanLeaderElectionEnable}
	}
	return a.config, a.defaults
}

func asMap(values image.ConfigValues) map[string]string {
	out := make(map[string]string, values.Len())
	for k, v := range values.All() {
		out[k] = v
	}
	return out
}

// staticMinISR is min.insync.replicas of this node's own configuration.
func (c *Controller) staticMinISR() int {
	t, _ := c.o.Config.Topic(nil)
	return t.MinInsyncReplicas
}

// rulesOf returns what the topic's configuration says; min.insync.replicas counts
// up to the number of replicas.
func (a *active) rulesOf(topic *image.Topic) topicRules {
	_, rules := a.resolved()
	set := a.image.Configs.Of(image.ConfigResource{Type: image.TopicResource, Name: topic.Name})
	if text, ok := set.Get(minInsyncReplicas); ok {
		if n, err := strconv.Atoi(text); err == nil {
			rules.minISR = n
		}
	}
	if text, ok := set.Get(uncleanElection); ok {
		rules.unclean = text == "true"
	}
	if first := topic.Partition(0); first != nil {
		rules.minISR = min(rules.minISR, len(first.Replicas))
	}
	return rules
}

// collisionKey is the same for names that collide in metrics; ok is false for a
// name that collides with none.
func collisionKey(name string) (key string, ok bool) {
	for i := range len(name) {
		if name[i] == '.' || name[i] == '_' {
			return kafka.TopicNameCollisionKey(name), true
		}
	}
	return "", false
}

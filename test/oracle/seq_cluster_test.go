package oracle

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// clusterSequences are requests about the cluster and the brokers, and
// configurations as they are described.
var clusterSequences = []sequence{
	{"cluster/describe", func(s *Session) {
		c := s.Conn("a")
		for version := int16(0); version <= 2; version++ {
			for _, operations := range []bool{false, true} {
				for _, fenced := range []bool{false, true} {
					c.Say("operations %v, fenced %v", operations, fenced).Send(describeCluster(version, 1, operations, fenced))
				}
			}
		}
	}},
	{"cluster/endpoint-types", func(s *Session) {
		c := s.Conn("a")
		for version := int16(0); version <= 2; version++ {
			for _, endpoint := range []int8{0, 1, 2, 3, -1, 127} {
				c.Say("type %d", endpoint).Send(describeCluster(version, endpoint, true, true))
			}
		}
	}},
	{"cluster/unregister-unknown", func(s *Session) {
		c := s.Conn("a")
		for _, id := range []int32{42, 0, -1, 2147483647} {
			r := At(0, kmsg.NewPtrUnregisterBrokerRequest())
			r.BrokerID = id
			c.Say("broker %d", id).Send(r)
		}
	}},

	{"configs/topic", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for version := int16(1); version <= 4; version++ {
			c.Send(describeConfigs(version, configResource(kmsg.ConfigResourceTypeTopic, t.name)))
		}
	}},
	{"configs/topic-with-its-own", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1, "retention.ms", "5000", "cleanup.policy", "compact,delete", "max.message.bytes", "1048588", "segment.bytes", "2000000",
			"min.cleanable.dirty.ratio", "0.25", "compression.type", "zstd", "flush.messages", "7")
		for version := int16(1); version <= 4; version++ {
			for _, synonyms := range []bool{false, true} {
				r := describeConfigs(version, configResource(kmsg.ConfigResourceTypeTopic, t.name))
				r.IncludeSynonyms = synonyms
				c.Say("synonyms %v", synonyms).Send(r)
			}
		}
	}},
	{"configs/documentation", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for version := int16(3); version <= 4; version++ {
			r := describeConfigs(version, configResource(kmsg.ConfigResourceTypeTopic, t.name, "retention.ms"))
			r.IncludeDocumentation = true
			c.Send(r)
		}
	}},
	{"configs/keys", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1, "retention.ms", "5000")
		for _, version := range []int16{1, 4} {
			for _, keys := range [][]string{{}, {"retention.ms"}, {"retention.ms", "retention.ms"}, {"nosuch"}, {"segment.ms", "nosuch", "cleanup.policy"}, {""}, {"Retention.ms"}} {
				r := describeConfigs(version, configResource(kmsg.ConfigResourceTypeTopic, t.name))
				r.Resources[0].ConfigNames = keys
				c.Say("%q", keys).Send(r)
			}
		}
	}},
	{"configs/unknown-topics", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{1, 4} {
			for _, name := range append([]string{s.Topic("nosuch")}, invalidNames...) {
				c.Say("%.20q", name).Send(describeConfigs(version, configResource(kmsg.ConfigResourceTypeTopic, name)))
			}
		}
	}},
	{"configs/broker", func(s *Session) {
		c := s.Conn("a")
		for version := int16(1); version <= 4; version++ {
			r := describeConfigs(version, configResource(kmsg.ConfigResourceTypeBroker, "1", c.kafkaKeys()...))
			r.IncludeSynonyms = version == 4
			c.Send(r)
		}
	}},
	{"configs/brokers-by-name", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{1, 4} {
			for _, name := range []string{"", "2", "x", "-1", "01", " 1", "1.0", "2147483648"} {
				c.Say("%q", name).Send(describeConfigs(version, configResource(kmsg.ConfigResourceTypeBroker, name, "log.retention.ms", "num.partitions")))
			}
		}
	}},
	{"configs/several-resources", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		topicResource := configResource(kmsg.ConfigResourceTypeTopic, t.name, "retention.ms")
		c.Send(describeConfigs(4, topicResource, configResource(kmsg.ConfigResourceTypeBroker, "1", "num.partitions"),
			configResource(kmsg.ConfigResourceTypeTopic, s.Topic("nosuch"))))
		c.Say("twice").Send(describeConfigs(4, topicResource, topicResource))
		c.Say("none").Send(describeConfigs(4))
	}},
	{"configs/other-resource-types", func(s *Session) {
		c := s.Conn("a")
		for _, kind := range []kmsg.ConfigResourceType{0, 1, 3, 8, 16, 32, 99, -1} {
			c.Say("type %d", kind).Send(describeConfigs(4, configResource(kind, "x", "nosuch")))
		}
	}},
}

// kafkaKeys are the configurations of a broker but those of Barnabas alone.
func (c *Conn) kafkaKeys() []string {
	r := c.Ask(describeConfigs(4, configResource(kmsg.ConfigResourceTypeBroker, "1"))).(*kmsg.DescribeConfigsResponse)
	var keys []string
	for _, config := range r.Resources[0].Configs {
		if !strings.HasPrefix(config.Name, "barnabas.") {
			keys = append(keys, config.Name)
		}
	}
	return keys
}

func describeCluster(version int16, endpoint int8, operations, fenced bool) *kmsg.DescribeClusterRequest {
	r := At(version, kmsg.NewPtrDescribeClusterRequest())
	r.EndpointType, r.IncludeClusterAuthorizedOperations, r.IncludeFencedBrokers = endpoint, operations, fenced
	return r
}

func describeConfigs(version int16, resources ...kmsg.DescribeConfigsRequestResource) *kmsg.DescribeConfigsRequest {
	r := At(version, kmsg.NewPtrDescribeConfigsRequest())
	r.Resources = resources
	return r
}

// configResource asks for keys of a resource; without keys for all.
func configResource(kind kmsg.ConfigResourceType, name string, keys ...string) kmsg.DescribeConfigsRequestResource {
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, keys
	return r
}

package oracle

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// featureSequences are requests about levels of features, and about the quorum
// that keeps them. What succeeds is only tried, since both servers serve other
// sequences too.
var featureSequences = []sequence{
	{"features/refused", func(s *Session) {
		b, c := s.Conn("a"), s.Controller("controller")
		for _, u := range []struct {
			feature string
			level   int16
		}{
			{"metadata.version", 34}, {"metadata.version", 6}, {"metadata.version", 0}, {"metadata.version", -1}, {"metadata.version", 30},
			{"metadata.version", 32}, {"metadata.version", 33}, {"kraft.version", 0}, {"kraft.version", 1}, {"kraft.version", 2},
			{"eligible.leader.replicas.version", 2}, {"eligible.leader.replicas.version", 1}, {"eligible.leader.replicas.version", 0},
			{"share.version", 9}, {"nosuch", 0}, {"nosuch", 1}, {"", 1},
		} {
			for kind := int8(0); kind <= 4; kind++ {
				r := updateFeatures(2, kind, u.feature, u.level)
				b.Say("kind %d", kind).Send(r)
				c.Say("kind %d", kind).Send(updateFeatures(2, kind, u.feature, u.level))
			}
		}
	}},
	{"features/versions", func(s *Session) {
		b := s.Conn("a")
		for version := int16(1); version <= 2; version++ {
			b.Say("one").Send(updateFeatures(version, 1, "eligible.leader.replicas.version", 1))
			b.Say("two").Send(updateFeatures(version, 1, "eligible.leader.replicas.version", 1, "metadata.version", 33))
			b.Say("a bad one").Send(updateFeatures(version, 1, "eligible.leader.replicas.version", 1, "nosuch", 1))
			b.Say("none").Send(updateFeatures(version, 1))
		}
		b.Say("unknown, version 0").Send(updateFeatures(0, 1, "nosuch", 1))
	}},
	{"quorum/describe", func(s *Session) {
		b, c := s.Conn("a"), s.Controller("controller")
		for version := int16(0); version <= 2; version++ {
			for _, what := range []string{"other 0", "__cluster_metadata 1", "__cluster_metadata"} {
				b.Say("%s", what).Send(describeQuorum(version, what))
				c.Say("%s", what).Send(describeQuorum(version, what))
			}
		}
	}},
	{"quorum/unregister-controller", func(s *Session) {
		b, c := s.Conn("a"), s.Controller("controller")
		for _, id := range []int32{42, -1, 1} {
			r := At(0, kmsg.NewPtrUnregisterControllerRequest())
			r.ControllerID = id
			b.Say("controller %d", id).Send(r)
			c.Say("controller %d", id).Send(r)
		}
	}},
}

// updateFeatures asks to try levels: pairs of a name and a level.
func updateFeatures(version int16, kind int8, pairs ...any) *kmsg.UpdateFeaturesRequest {
	r := At(version, kmsg.NewPtrUpdateFeaturesRequest())
	r.TimeoutMillis, r.ValidateOnly = 10_000, version > 0
	for i := 0; i < len(pairs); i += 2 {
		u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
		u.Feature, u.UpgradeType = pairs[i].(string), kind
		switch level := pairs[i+1].(type) {
		case int16:
			u.MaxVersionLevel = level
		case int:
			u.MaxVersionLevel = int16(level)
		}
		r.FeatureUpdates = append(r.FeatureUpdates, u)
	}
	return r
}

// describeQuorum asks for a partition, "topic partition", or for a topic without.
func describeQuorum(version int16, what string) *kmsg.DescribeQuorumRequest {
	r := At(version, kmsg.NewPtrDescribeQuorumRequest())
	t := kmsg.NewDescribeQuorumRequestTopic()
	topic, partition, ok := strings.Cut(what, " ")
	t.Topic = topic
	if ok {
		p := kmsg.NewDescribeQuorumRequestTopicPartition()
		p.Partition = int32(partition[0] - '0')
		t.Partitions = append(t.Partitions, p)
	}
	r.Topics = append(r.Topics, t)
	return r
}

package oracle

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var apiVersionsSequences = []sequence{
	{"apiversions/ranges", func(s *Session) {
		for version := int16(0); version <= 5; version++ {
			s.ranges(s.Conn("a"), version, brokerKeys)
			s.ranges(s.Controller("controller"), version, controllerKeys)
		}
	}},
	{"apiversions/features", func(s *Session) {
		for _, version := range []int16{3, 4, 5} {
			for _, c := range []*Conn{s.Conn("a"), s.Controller("controller")} {
				resp := c.Ask(apiVersions(version)).(*kmsg.ApiVersionsResponse)
				c.step(fmt.Sprintf("features of version %d", version))
				for _, f := range resp.SupportedFeatures {
					s.out.printf("supported %s %d to %d", f.Name, f.MinVersion, f.MaxVersion)
				}
				for _, f := range resp.FinalizedFeatures {
					s.out.printf("finalized %s %d to %d", f.Name, f.MinVersionLevel, f.MaxVersionLevel)
				}
				slices.Sort(s.out.Lines[len(s.out.Lines)-len(resp.SupportedFeatures)-len(resp.FinalizedFeatures):])
			}
		}
	}},
	{"apiversions/repeated", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{0, 3, 99, 5, 4} {
			s.ranges(c, min(version, 5), brokerKeys)
			if version == 99 {
				c.Send(At(99, kmsg.NewPtrApiVersionsRequest()))
			}
		}
	}},
	{"apiversions/bodies", func(s *Session) {
		s.Conn("a").Body("nothing", apiVersions(3), nil)
		s.Conn("a").Body("nothing", At(7, apiVersions(3)), nil)
		s.Conn("a").Body("garbage", At(7, apiVersions(3)), []byte{0xff, 0xff, 0xff})
		s.Conn("a").Body("nothing", At(-1, apiVersions(3)), nil)
	}},
	{"apiversions/too-new", func(s *Session) {
		s.Conn("a").Send(At(6, kmsg.NewPtrApiVersionsRequest()))
	}},
	{"apiversions/software-names", func(s *Session) {
		for _, name := range []string{"", "-x", "x-", "a.b-c", "a b"} {
			r := At(3, kmsg.NewPtrApiVersionsRequest())
			r.ClientSoftwareName, r.ClientSoftwareVersion = name, "1.0"
			if name == "a.b-c" {
				continue // answered with the list of APIs, compared elsewhere
			}
			s.Conn("name " + name).Send(r)
		}
	}},
	{"apiversions/cluster-checks", func(s *Session) {
		for _, c := range []struct {
			cluster string
			node    int32
		}{{"other", 1}, {"other", -1}, {"", 7}} {
			r := At(5, kmsg.NewPtrApiVersionsRequest())
			r.ClientSoftwareName, r.ClientSoftwareVersion = "x", "1"
			if c.cluster != "" {
				r.ClusterID = kmsg.StringPtr(c.cluster)
			}
			r.NodeID = c.node
			s.Conn("c").Send(r)
		}
	}},
}

func apiVersions(version int16) *kmsg.ApiVersionsRequest {
	r := At(version, kmsg.NewPtrApiVersionsRequest())
	r.ClientSoftwareName, r.ClientSoftwareVersion = "x", "1"
	return r
}

// ranges writes down which versions of the given keys are announced.
func (s *Session) ranges(c *Conn, version int16, keys []span) {
	resp := c.Ask(apiVersions(version)).(*kmsg.ApiVersionsResponse)
	c.step(fmt.Sprintf("ApiVersions v%d", version))
	s.out.printf("ErrorCode = %d", resp.ErrorCode)
	for _, k := range resp.ApiKeys {
		if served, ok := find(keys, kmsg.Key(k.ApiKey)); ok {
			s.out.printf("%s: %d to %d", served.Name(), k.MinVersion, k.MaxVersion)
		}
	}
	s.out.printf("FinalizedFeaturesEpoch = %v, of ZooKeeper %v", resp.FinalizedFeaturesEpoch >= 0, resp.ZkMigrationReady)
}

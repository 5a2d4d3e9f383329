package oracle

import "github.com/twmb/franz-go/pkg/kmsg"

var apiVersionsSequences = []sequence{
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

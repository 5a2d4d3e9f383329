package election

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"

	"pgregory.net/rapid"
)

func ids(text string) []kafka.BrokerID {
	out := []kafka.BrokerID{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(w)
		if err != nil {
			panic(err)
		}
		out = append(out, kafka.BrokerID(n))
	}
	return out
}

// merge applies a record as the replay of the metadata log does.
func merge(p Partition, r *metarec.PartitionChangeRecord) Partition {
	set := func(field *[]kafka.BrokerID, to []kafka.BrokerID) {
		if to != nil {
			*field = to
		}
	}
	set(&p.ISR, r.Isr)
	set(&p.Replicas, r.Replicas)
	set(&p.Removing, r.RemovingReplicas)
	set(&p.Adding, r.AddingReplicas)
	set(&p.ELR, r.EligibleLeaderReplicas)
	set(&p.LastKnownELR, r.LastKnownElr)
	if r.Directories != nil {
		p.Directories = r.Directories
	}
	if r.Leader != metarec.NoLeaderChange {
		p.Leader = r.Leader
	}
	if r.LeaderRecoveryState != kafka.RecoveryStateNoChange {
		p.Recovery = r.LeaderRecoveryState
	}
	return p
}

func show(r *metarec.PartitionChangeRecord) string {
	if r == nil {
		return "nothing"
	}
	var out []string
	add := func(name string, v []kafka.BrokerID) {
		if v != nil {
			out = append(out, fmt.Sprintf("%s=%v", name, v))
		}
	}
	add("isr", r.Isr)
	if r.Leader != metarec.NoLeaderChange {
		out = append(out, fmt.Sprintf("leader=%d", r.Leader))
	}
	add("replicas", r.Replicas)
	add("removing", r.RemovingReplicas)
	add("adding", r.AddingReplicas)
	add("elr", r.EligibleLeaderReplicas)
	add("lastKnown", r.LastKnownElr)
	if r.LeaderRecoveryState != kafka.RecoveryStateNoChange {
		out = append(out, fmt.Sprintf("recovery=%d", r.LeaderRecoveryState))
	}
	if r.Directories != nil {
		out = append(out, fmt.Sprintf("directories=%v", dirNumbers(r.Directories)))
	}
	return strings.Join(out, " ")
}

func dir(n byte) kafka.UUID { return kafka.UUID{0: 0xd1, 15: n} }

func dirNumbers(dirs []kafka.UUID) []int {
	out := make([]int, len(dirs))
	for i, d := range dirs {
		out[i] = int(d[15])
	}
	return out
}

// TestScripts: "partition" sets the state, "rules" the cluster's, "alive" who may
// lead; the other commands change the partition and print the record.
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		var p Partition
		rules := Rules{MetadataVersion: kafka.LatestMetadataVersion, ELR: true, MinISR: 1}
		var alive []kafka.BrokerID
		return func(c script.Command) string {
			change := New(kafka.UUID{15: 9}, 0, p, rules, func(id kafka.BrokerID) bool { return slices.Contains(alive, id) })
			if c.Has("preferred") {
				change.Kind = Preferred
			}
			if c.Has("unclean") {
				change.Kind = Unclean
			}
			switch c.Name {
			case "partition":
				p = Partition{Replicas: ids(c.Args["replicas"]), ISR: ids(c.Args["isr"]), ELR: ids(c.Args["elr"]), LastKnownELR: ids(c.Args["lastKnown"]),
					Removing: ids(c.Args["removing"]), Adding: ids(c.Args["adding"]), Leader: kafka.BrokerID(c.Int("leader", -1)), Recovery: kafka.LeaderRecoveryState(c.Int("recovery", 0))}
				for _, r := range p.Replicas {
					p.Directories = append(p.Directories, dir(byte(10*r)))
				}
				return ""
			case "rules":
				rules = Rules{MetadataVersion: kafka.MetadataVersion(c.Int("mv", 33)), ELR: !c.Has("no-elr"), MinISR: int(c.Int("min", 1))}
				return ""
			case "alive":
				alive = nil
				if len(c.Words) > 0 {
					alive = ids(c.Word(0))
				}
				return ""
			case "remove": // a broker is fenced, shuts down or is unregistered
				change.ISR = Without(p.ISR, ids(c.Word(0))...)
			case "lost": // a broker came back after an unclean stop
				change.UncleanShutdown = ids(c.Word(0))[0]
				change.ISR = Without(p.ISR, change.UncleanShutdown)
			case "isr": // the leader told its ISR
				change.ISR = ids(c.Word(0))
				change.Recovery = kafka.LeaderRecoveryState(c.Int("recovery", 0))
			case "move":
				change.MovedBroker, change.MovedTo = ids(c.Word(0))[0], dir(byte(c.Int("to", 0)))
			case "elect":
			default:
				t.Fatalf("unknown command %q", c.Name)
			}
			r := change.Record()
			if r != nil {
				p = merge(p, r)
			}
			return show(r)
		}
	})
}

// TestInvariants walks partitions through random changes.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "replicas")
		var p Partition
		for i := range n {
			p.Replicas = append(p.Replicas, kafka.BrokerID(i+1))
			p.Directories = append(p.Directories, dir(byte(i)))
		}
		p.ISR, p.Leader = slices.Clone(p.Replicas), 1
		rules := Rules{
			MetadataVersion: kafka.MetadataVersion(rapid.SampledFrom([]int{7, 12, 17, 23, 33}).Draw(t, "mv")),
			MinISR:          rapid.IntRange(1, n).Draw(t, "min"),
		}
		rules.ELR = rules.MetadataVersion >= kafka.MetadataVersionELR && rapid.Bool().Draw(t, "elr")
		unclean := rapid.Bool().Draw(t, "unclean")
		alive := slices.Clone(p.Replicas)
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { checkInvariants(t, p, rules) },
			"step": func(t *rapid.T) {
				acceptable := func(id kafka.BrokerID) bool { return slices.Contains(alive, id) }
				c := New(kafka.UUID{}, 0, p, rules, acceptable)
				if unclean {
					c.Kind = Unclean
				}
				id := rapid.SampledFrom(p.Replicas).Draw(t, "broker")
				switch rapid.SampledFrom([]string{"fence", "unfence", "lost", "alter", "preferred"}).Draw(t, "what") {
				case "fence":
					alive = Without(alive, id)
					c.ISR = Without(p.ISR, id)
				case "unfence":
					alive = append(Without(alive, id), id)
					if p.Leader != kafka.NoBroker {
						return
					}
				case "lost":
					alive = Without(alive, id)
					c.UncleanShutdown, c.ISR = id, Without(p.ISR, id)
				case "alter":
					if p.Leader == kafka.NoBroker {
						return
					}
					c.Kind, c.Recovery = Online, kafka.Recovered
					c.ISR = []kafka.BrokerID{p.Leader}
					for _, r := range alive {
						if r != p.Leader && rapid.Bool().Draw(t, "in") {
							c.ISR = append(c.ISR, r)
						}
					}
				case "preferred":
					c.Kind = Preferred
				}
				before := p
				if r := c.Record(); r != nil {
					p = merge(p, r)
				}
				if p.Leader >= 0 && p.Leader != before.Leader && !acceptable(p.Leader) {
					t.Fatalf("%+v became %+v: the leader is not acceptable (invariant 3)", before, p)
				}
			},
		})
	})
}

func checkInvariants(t *rapid.T, p Partition, rules Rules) {
	for _, id := range slices.Concat(p.ISR, p.ELR) {
		if !slices.Contains(p.Replicas, id) {
			t.Fatalf("%+v: %d is no replica (invariant 1)", p, id)
		}
	}
	for _, id := range p.ELR {
		if slices.Contains(p.ISR, id) {
			t.Fatalf("%+v: %d is in ISR and ELR (invariant 1)", p, id)
		}
	}
	if p.Leader >= 0 && !slices.Contains(p.ISR, p.Leader) {
		t.Fatalf("%+v: the leader is not in the ISR (invariant 2)", p)
	}
	if p.Recovery == kafka.Recovering && len(p.ISR) > 1 {
		t.Fatalf("%+v: RECOVERING with an ISR of %d (invariant 4)", p, len(p.ISR))
	}
	if len(p.ELR) > 0 && (!rules.ELR || len(p.ISR) >= rules.MinISR) {
		t.Fatalf("%+v with %+v: ELR is not empty (invariant 5)", p, rules)
	}
}

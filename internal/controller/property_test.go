package controller

import (
	"fmt"
	"strings"
	"testing"

	"barnabas/internal/base/script"

	"pgregory.net/rapid"
)

// TestRandomLifeOfACluster lets brokers come and go, topics be made and leaders
// tell their ISR, with commits that lag and controllers that fail, and holds the
// state against the log and its invariants after each step.
func TestRandomLifeOfACluster(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := &dialogue{t: rt, cluster: newCluster(rt, "min.insync.replicas=2", "metadata.max.idle.interval.ms=3000"), seed: 1}
		if rapid.Bool().Draw(rt, "old") {
			d.bootstrap = levels(19)
		}
		g := &generator{rt: rt, d: d, incarnation: map[int]string{}}
		g.do("lead", nil, nil, "")
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			g.step()
			d.check(rt)
		}
		d.run(script.Command{Name: "commit"})
		for _, w := range d.waiting {
			if *w == "?" {
				rt.Fatalf("a request is not answered after the commit (invariant 3)")
			}
		}
		d.c.Close()
	})
}

type generator struct {
	rt          *rapid.T
	d           *dialogue
	incarnation map[int]string
	topics      int
}

func (g *generator) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(g.rt, label)
}

func (g *generator) do(name string, words []string, args map[string]string, input string) string {
	if args == nil {
		args = map[string]string{}
	}
	return g.d.run(script.Command{Name: name, Words: words, Args: args, Input: input})
}

func (g *generator) broker() string { return g.pick("broker", "1", "2", "3") }

func (g *generator) topic() string { return g.pick("topic", "t0", "t1", "t2", "t.3") }

func (g *generator) step() {
	id := g.broker()
	switch g.pick("what", "register", "heartbeat", "heartbeat", "heartbeat", "heartbeat", "create", "create", "alter", "alter", "alter", "grow", "delete", "assign", "advance", "jump", "hold", "commit", "restart", "producer-ids", "unregister") {
	case "register":
		args := map[string]string{"dirs": "d" + id, "previous": fmt.Sprint(g.d.epochOf(script.Command{}, number(script.Command{Words: []string{id}}, 0)))}
		if rapid.Bool().Draw(g.rt, "unclean") {
			args["previous"] = "-1"
		}
		g.do("register", []string{id, g.pick("incarnation", "a", "b", "c"), g.pick("proof", "proof", "-")}, args, "")
	case "heartbeat":
		g.do("heartbeat", []string{id, g.pick("want", "-", "-", "-", "fence", "shutdown")}, map[string]string{"offline": g.pick("offline", "", "", "d"+id)}, "")
	case "create":
		g.topics++
		g.do("create", []string{}, nil, g.topic()+g.pick("how", "", " partitions=3 replicas=2", " assign=1,2,3;3,2,1", " replicas=3 unclean.leader.election.enable=true", " replicas=3 min.insync.replicas=1"))
	case "alter":
		g.alter()
	case "grow":
		g.do("grow", []string{}, nil, g.topic()+" "+g.pick("to", "2", "4", "6"))
	case "delete":
		g.do("delete", []string{g.topic()}, nil, "")
	case "assign":
		g.do("assign", []string{id, g.pick("dir", "d"+id, "x"), g.topic(), "0,1"}, nil, "")
	case "advance":
		g.do("advance", []string{g.pick("ms", "500", "3000", "9000")}, nil, "")
	case "jump":
		g.do("jump", []string{"30000"}, nil, "")
	case "restart":
		g.d.waiting = nil // their process is gone
		g.do("restart", nil, nil, "")
	default:
		g.do(g.pick("plain", "hold", "commit", "producer-ids", "unregister"), []string{id}, nil, "")
	}
}

// alter tells an ISR from the leader of some partition, mostly one that is valid.
func (g *generator) alter() {
	topic := g.d.image().Topics.ByName(g.topic())
	if topic == nil {
		return
	}
	p := topic.Partition(0)
	isr := []string{fmt.Sprint(p.Leader)}
	for _, r := range p.Replicas {
		if r != p.Leader && rapid.Bool().Draw(g.rt, "in") {
			isr = append(isr, fmt.Sprint(r))
		}
	}
	if p.Leader < 0 {
		isr = []string{"1"}
	}
	args := map[string]string{"isr": strings.Join(isr, ",")}
	if len(isr) == 1 {
		args["recovery"] = g.pick("recovery", "0", fmt.Sprint(p.RecoveryState))
	}
	g.do("alter-partition", []string{fmt.Sprint(max(p.Leader, 1)), topic.Name, "0"}, args, "")
}

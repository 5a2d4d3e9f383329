package isr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
)

func ids(list string) []kafka.BrokerID {
	var out []kafka.BrokerID
	if list == "" {
		return nil
	}
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			panic(err)
		}
		out = append(out, kafka.BrokerID(n))
	}
	return out
}

func registration(c script.Command) Registration {
	return Registration{
		Replicas: ids(c.Args["replicas"]), ISR: ids(c.Args["isr"]),
		LeaderEpoch: kafka.LeaderEpoch(c.Int("epoch", 5)), PartitionEpoch: kafka.PartitionEpoch(c.Int("at", 7)),
		Recovery: kafka.LeaderRecoveryState(c.Int("recovery", 0)),
	}
}

// TestScripts reads testdata: node 1 leads, times are seconds, and after each
// command stands what can be seen from outside.
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		var l *Leader
		zero := time.Unix(1_000_000, 0)
		at := func(c script.Command) time.Time { return zero.Add(time.Duration(c.Int("t", 0)) * time.Second) }
		return func(c script.Command) string {
			switch c.Name {
			case "leader":
				l = NewLeader(Start{
					Local: 1, Registration: registration(c), HighWatermark: kafka.Offset(c.Int("hw", 0)),
					LogEnd: kafka.Offset(c.Int("end", 0)), EpochStart: kafka.Offset(c.Int("start", 0)),
					MinISR: int(c.Int("min", 1)), MaxLag: 30 * time.Second, Now: at(c),
				})
			case "append":
				l.LocalEnd(kafka.Offset(c.Int("end", 0)))
			case "fetch":
				if !l.Fetched(kafka.BrokerID(c.Int("from", 0)), kafka.BrokerEpoch(c.Int("epoch", -1)), kafka.Offset(c.Int("offset", 0)), at(c)) {
					return "no replica"
				}
			case "tick":
				l.Tick(at(c))
			case "broker":
				l.SetBroker(kafka.BrokerID(c.Int("id", 0)), kafka.BrokerEpoch(c.Int("epoch", -1)), c.Int("active", 1) == 1)
			case "min":
				l.SetMinISR(int(c.Int("isr", 1)))
			case "update":
				l.Update(registration(c))
			case "accepted":
				l.Accepted(registration(c))
			case "refused":
				l.Refused(kafka.PartitionEpoch(c.Int("at", 7)), kafka.ErrorCode(c.Int("code", 0)))
			default:
				t.Fatalf("unknown command %q", c.Name)
			}
			return show(l)
		}
	})
}

func show(l *Leader) string {
	s := fmt.Sprintf("hw=%d isr=%v", l.HighWatermark(), l.ISR())
	if l.BelowMinISR() {
		s += " below min"
	}
	if p, ok := l.Proposal(); ok {
		var m []string
		for _, x := range p.ISR {
			m = append(m, fmt.Sprintf("%d/%d", x.ID, x.Epoch))
		}
		s += fmt.Sprintf(" propose=%s at=%d", strings.Join(m, ","), p.PartitionEpoch)
	}
	return s
}

// TestInvariants drives a leader by random inputs, with a controller that now
// and then answers, and checks I1 to I5 after each.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := []kafka.BrokerID{1, 2, 3, 4}[:rapid.IntRange(1, 4).Draw(t, "replicas")]
		now := time.Unix(1_000_000, 0)
		reg := Registration{Replicas: replicas, ISR: replicas[:rapid.IntRange(1, len(replicas)).Draw(t, "isr")], LeaderEpoch: 3, PartitionEpoch: 9}
		l := NewLeader(Start{Local: 1, Registration: reg, MinISR: rapid.IntRange(1, 3).Draw(t, "min"), MaxLag: 30 * time.Second, Now: now})
		for _, id := range replicas {
			l.SetBroker(id, 1, true)
		}
		end, hw := kafka.Offset(0), l.HighWatermark()
		var sent *Proposal
		check := func() {
			switch {
			case l.HighWatermark() < hw:
				t.Fatalf("I1: high watermark went from %d to %d", hw, l.HighWatermark())
			case !slices.Contains(l.ISR(), 1):
				t.Fatalf("I2: the leader is not in its ISR %v", l.ISR())
			}
			moved := l.HighWatermark() > hw
			if moved && len(l.ISR()) < min(l.minISR, len(replicas)) {
				t.Fatalf("I5: high watermark moved with ISR %v", l.ISR())
			}
			for _, f := range l.followers {
				if moved && f.logEnd < l.HighWatermark() && l.inMaximalISR(f.id) {
					t.Fatalf("I3: high watermark %d, replica %d at %d", l.HighWatermark(), f.id, f.logEnd)
				}
			}
			hw = l.HighWatermark()
			if p, ok := l.Proposal(); ok {
				if sent != nil && sent.PartitionEpoch == p.PartitionEpoch && fmt.Sprint(*sent) != fmt.Sprint(p) {
					t.Fatalf("I4: %v proposed while %v is pending", p, *sent)
				}
				if !p.has(1) {
					t.Fatalf("I2: proposal %v lacks the leader", p)
				}
				sent = &p
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				end += kafka.Offset(rapid.IntRange(1, 5).Draw(t, "n"))
				l.LocalEnd(end)
				check()
			},
			"fetch": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "s")) * time.Second)
				id := rapid.SampledFrom(replicas).Draw(t, "id")
				l.Fetched(id, 1, kafka.Offset(rapid.IntRange(0, int(end)).Draw(t, "offset")), now)
				check()
			},
			"tick": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "s")) * time.Second)
				l.Tick(now)
				check()
			},
			"answer": func(t *rapid.T) {
				if sent == nil {
					t.Skip()
				}
				p := *sent
				if code := rapid.SampledFrom([]kafka.ErrorCode{kafka.ErrNone, kafka.ErrIneligibleReplica, kafka.ErrNotController, kafka.ErrInvalidUpdateVersion}).Draw(t, "code"); code != kafka.ErrNone {
					if code == kafka.ErrIneligibleReplica {
						sent = nil
					}
					l.Refused(p.PartitionEpoch, code)
					check()
					return
				}
				r := Registration{Replicas: replicas, LeaderEpoch: 3, PartitionEpoch: p.PartitionEpoch + 1}
				for _, m := range p.ISR {
					r.ISR = append(r.ISR, m.ID)
				}
				sent = nil
				l.Accepted(r)
				check()
			},
		})
	})
}

func TestAppendAllocatesNothing(t *testing.T) {
	l := NewLeader(Start{Local: 1, Registration: Registration{Replicas: []kafka.BrokerID{1}, ISR: []kafka.BrokerID{1}}, MinISR: 1})
	end := kafka.Offset(0)
	if n := testing.AllocsPerRun(100, func() { end++; l.LocalEnd(end) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
	if l.HighWatermark() != end {
		t.Fatalf("high watermark %d, want %d", l.HighWatermark(), end)
	}
}

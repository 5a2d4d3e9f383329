package raft

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"

	"pgregory.net/rapid"
)

// TestScripts runs the dialogues in testdata:
//
//	disk     sets what is persisted: epoch= leader= voted= logend= logepoch=
//	voters   sets the quorum: set=1:dir@host:port,... at=<offset or -1> kraft=
//	new      makes a machine of the node self=1:dir@host:port
//	restart  makes it again, with the election state last persisted
//	start, flushed end=, resign
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		d := driver{cfg: Config{Election: InitialElection(), VotersOffset: kafka.NoOffset}}
		return func(c script.Command) string { return d.do(t, c) }
	})
}

type driver struct {
	cfg Config
	m   *Machine
}

func (d *driver) do(t *testing.T, c script.Command) string {
	switch c.Name {
	case "disk":
		d.disk(t, c.Args)
		return ""
	case "voters":
		d.cfg.Voters = nil
		for s := range strings.SplitSeq(c.Args["set"], ",") {
			d.cfg.Voters = append(d.cfg.Voters, voter(t, s))
		}
		d.cfg.VotersOffset = kafka.Offset(number(t, c.Args["at"]))
		d.cfg.KRaftVersion = int16(number(t, c.Args["kraft"]))
		return ""
	case "new":
		d.cfg.Self = voter(t, c.Args["self"])
		return d.make()
	case "restart":
		return d.make()
	case "start":
		return d.apply(d.m.Start())
	case "flushed":
		return d.apply(d.m.Flushed(kafka.Offset(number(t, c.Args["end"]))))
	case "resign":
		return d.apply(d.m.Resign())
	}
	t.Fatalf("unknown command %q", c.Name)
	return ""
}

func (d *driver) disk(t *testing.T, args map[string]string) {
	for k, v := range args {
		switch k {
		case "epoch":
			d.cfg.Election.Epoch = kafka.LeaderEpoch(number(t, v))
		case "leader":
			d.cfg.Election.LeaderID = kafka.BrokerID(number(t, v))
		case "voted":
			d.cfg.Election.Voted = voter(t, v).ReplicaKey
		case "logend":
			d.cfg.LogEnd = kafka.Offset(number(t, v))
		case "logepoch":
			d.cfg.LastEpoch = kafka.LeaderEpoch(number(t, v))
		default:
			t.Fatalf("disk: unknown word %q", k)
		}
	}
}

func (d *driver) make() string {
	m, err := New(d.cfg)
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	d.m = m
	return d.state()
}

func (d *driver) state() string {
	return fmt.Sprintf("%s, epoch %d, leader %d, high watermark %d\n", d.m.Role(), d.m.Epoch(), d.m.LeaderID(), d.m.HighWatermark())
}

func (d *driver) apply(effects []Effect) string {
	var b strings.Builder
	for _, e := range effects {
		if p, ok := e.(Persist); ok {
			d.cfg.Election = p.State
		}
		b.WriteString(effectText(e) + "\n")
	}
	return b.String() + d.state()
}

func effectText(e Effect) string {
	switch e := e.(type) {
	case Persist:
		return fmt.Sprintf("persist epoch %d, leader %d, voted %s", e.State.Epoch, e.State.LeaderID, e.State.Voted)
	case AppendEpochStart:
		s := fmt.Sprintf("append the start of epoch %d: leader %d, voters %v, granting %v", e.Epoch, e.LeaderID, e.Voters, e.Granting)
		if e.WithVoters {
			v := e.VoterSet[0]
			s += fmt.Sprintf("; kraft.version %d; voter set %s at %v", e.KRaftVersion, e.VoterSet, v.Endpoints)
		}
		return s
	case LeaderChanged:
		return fmt.Sprintf("leader of epoch %d is %d", e.Epoch, e.LeaderID)
	case HighWatermark:
		return fmt.Sprintf("high watermark %d", e.Offset)
	}
	return fmt.Sprintf("unknown effect %T", e)
}

// voter reads id[:dir][@host:port]; dir is a number that stands for a directory.
func voter(t *testing.T, s string) Voter {
	key, at, _ := strings.Cut(s, "@")
	id, dir, _ := strings.Cut(key, ":")
	v := Voter{ReplicaKey: ReplicaKey{ID: kafka.BrokerID(number(t, id))}, MaxKRaftVersion: 1}
	if dir != "" {
		v.Directory = kafka.UUID{0: byte(number(t, dir)), 15: 9}
	}
	if host, port, ok := strings.Cut(at, ":"); ok {
		v.Endpoints = []Endpoint{{"CONTROLLER", host, uint16(number(t, port))}}
	}
	return v
}

func number(t *testing.T, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatalf("not a number: %q", s)
	}
	return n
}

// TestEpochsAreLedOnce restarts a node at random, keeping only what was persisted
// and flushed, and checks invariants R2, R3 and R4.
func TestEpochsAreLedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		self := Voter{ReplicaKey: ReplicaKey{ID: 1, Directory: kafka.UUID{1}}, MaxKRaftVersion: 1}
		cfg := Config{Self: self, KRaftVersion: 1, Voters: VoterSet{self}, VotersOffset: kafka.NoOffset, Election: InitialElection()}
		lastLed := kafka.LeaderEpoch(0)
		for range rapid.IntRange(1, 8).Draw(t, "restarts") {
			m, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			end := cfg.LogEnd
			epochStart := kafka.NoOffset
			for i, e := range m.Start() {
				switch e := e.(type) {
				case Persist:
					cfg.Election = e.State
					if i == 0 && rapid.Bool().Draw(t, "crash after the vote") {
						epochStart = kafka.NoOffset
						goto crashed
					}
				case AppendEpochStart:
					if e.Epoch <= lastLed {
						t.Fatalf("epoch %d led again after %d", e.Epoch, lastLed)
					}
					lastLed, epochStart = e.Epoch, end
					end++
				}
			}
			for range rapid.IntRange(0, 4).Draw(t, "flushes") {
				before := m.HighWatermark()
				flushed := kafka.Offset(rapid.Int64Range(int64(cfg.LogEnd), int64(end)).Draw(t, "flushed"))
				m.Flushed(flushed)
				cfg.LogEnd = flushed
				if flushed > epochStart {
					cfg.LastEpoch = m.Epoch()
				}
				end += kafka.Offset(rapid.IntRange(0, 3).Draw(t, "appended"))
				if hw := m.HighWatermark(); hw < before || hw > flushed || hw != kafka.NoOffset && hw <= epochStart {
					t.Fatalf("high watermark %d after %d, flushed %d, epoch start %d", hw, before, flushed, epochStart)
				}
			}
		crashed:
		}
	})
}

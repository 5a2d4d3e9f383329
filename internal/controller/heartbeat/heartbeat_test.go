package heartbeat

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"

	"pgregory.net/rapid"
)

func id(c script.Command) kafka.BrokerID {
	n, err := strconv.Atoi(c.Word(0))
	if err != nil {
		panic(err)
	}
	return kafka.BrokerID(n)
}

func TestLifecycle(t *testing.T) {
	b := NewBrokers()
	script.Run(t, "testdata/lifecycle.txt", func(c script.Command) string {
		switch c.Name {
		case "register":
			b.Remove(id(c))
			b.Register(id(c), c.Has("fenced"))
		case "drained":
			b.BeginShutdown(id(c), kafka.Offset(c.Int("at", 0)))
		case "heartbeat":
			h := Heartbeat{WantFence: c.Has("fence"), WantShutdown: c.Has("shutdown"), MetadataOffset: kafka.Offset(c.Int("offset", 0))}
			f := Facts{Registered: kafka.Offset(c.Int("registered", 0)), Departing: c.Has("departing"), Leads: func() bool { return c.Has("leads") }}
			current, next := b.Next(id(c), h, f)
			b.Touch(id(c), next.Fenced(), h.MetadataOffset)
			return fmt.Sprintf("%v -> %v", current, next)
		default:
			t.Fatalf("unknown command %q", c.Name)
		}
		return ""
	})
}

func TestSessions(t *testing.T) {
	epoch := time.Unix(1_000_000, 0)
	at := func(ms int64) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }
	s := NewSessions(9*time.Second, time.Second)
	expired := func(ms int64) string {
		if who, ok := s.Expired(at(ms)); ok {
			return fmt.Sprintf("broker %d at %d", who.ID, ms)
		}
		return "none"
	}
	script.Run(t, "testdata/sessions.txt", func(c script.Command) string {
		switch c.Name {
		case "touch":
			s.Touch(Session{ID: id(c)}, at(c.Int("at", 0)))
		case "valid":
			return fmt.Sprint(s.Valid(Session{ID: id(c)}, at(c.Int("at", 0))))
		case "expired":
			return expired(c.Int("at", 0))
		case "looks":
			for ms := c.Int("from", 0); ms <= c.Int("to", 0); ms += 1000 {
				if got := expired(ms); got != "none" {
					return got
				}
			}
			return "none"
		default:
			t.Fatalf("unknown command %q", c.Name)
		}
		return ""
	})
}

// A broker that is heard of more often than the timeout never loses its session,
// whatever pauses the controller makes between its looks.
func TestLivingBrokerKeepsItsSession(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const timeout, period = 9 * time.Second, time.Second
		s := NewSessions(timeout, period)
		now := time.Unix(1_000_000, 0)
		s.Touch(Session{ID: 1}, now)
		s.Expired(now)
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			pause := time.Duration(rapid.IntRange(0, 30_000).Draw(t, "pause")) * time.Millisecond
			now = now.Add(pause)
			// A look may come before the heartbeat that was sent meanwhile.
			if who, ok := s.Expired(now); ok {
				t.Fatalf("session of %d ended after a pause of %v", who.ID, pause)
			}
			s.Touch(Session{ID: 1}, now)
		}
	})
}

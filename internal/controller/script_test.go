package controller

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestScripts runs dialogues with a controller. A command prints its answer and
// the records that were written meanwhile; "hold" keeps appends from being
// committed until "commit". Ids print as the name that made them, or as the
// topic's name.
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		d := &dialogue{t: t, cluster: newCluster(t), seed: 1}
		t.Cleanup(func() { d.c.Close() })
		return d.run
	})
}

type dialogue struct {
	*cluster
	t       failer
	waiting []*string // answers that were not there when their command ended
	deny    map[string]bool
	seed    uint64 // of the running controller: no two draw the same topic ids
}

func (d *dialogue) run(c script.Command) string {
	d.from = len(d.log)
	answer := d.command(c)
	out := ""
	if answer != nil {
		if *answer == "" {
			*answer = "?"
			d.waiting = append(d.waiting, answer)
		} else {
			out = *answer + "\n"
		}
	}
	var late []*string
	for _, w := range d.waiting {
		if *w == "?" {
			late = append(late, w)
		} else if w != answer {
			out += "earlier: " + *w + "\n"
		}
	}
	d.waiting = late
	if answer != nil && *answer == "?" {
		out += "waits\n"
	}
	if d.fatal != nil {
		out += "fatal: " + d.fatal.Error() + "\n"
		d.fatal = nil
	}
	d.check(d.t)
	return d.names(out) + d.written()
}

func (d *dialogue) ctx() Context {
	ctx := Context{Received: d.clock.Now()}
	if len(d.deny) > 0 {
		ctx.Authorize = func(op kmsg.ACLOperation, topic string) bool { return !d.deny[fmt.Sprint(op, " ", topic)] }
	}
	return ctx
}

func (d *dialogue) command(c script.Command) *string {
	switch c.Name {
	case "start": // a new process with another configuration
		d.c.Close()
		d.seed++
		var overrides []string
		for k, v := range c.Args {
			overrides = append(overrides, k+"="+v)
		}
		d.start(d.seed, overrides...)
	case "bootstrap":
		d.bootstrap = levels(kafka.MetadataVersion(c.Int("mv", 33)))
		for k, v := range c.Args {
			if k != "mv" {
				l, _ := strconv.Atoi(v)
				d.bootstrap = append(d.bootstrap, feature(k, int16(l)))
			}
		}
	case "incarnation": // a new process
		d.c.Close()
		d.seed++
		d.self = c.Word(0)
		d.start(d.seed)
	case "supports": // a new process whose registration names what it supports
		d.c.Close()
		d.seed++
		d.supports = true
		d.start(d.seed)
	case "lead":
		d.lead()
	case "restart": // a new process; what was not committed is lost
		d.seed++
		d.restart(d.seed)
	case "foreign": // a record of an older controller
		d.foreign(c.Word(0))
	case "resign":
		d.c.Resign()
	case "hold":
		d.held = true
	case "commit":
		d.held = false
		d.commit()
	case "cut-back": // the disk is full: what was not committed is given up
		d.cutBack()
	case "refuse-appends":
		d.refuse = errors.New("no")
		if c.Word(0) != "" {
			n, _ := strconv.Atoi(c.Word(0))
			d.refuse = kafka.ErrorCode(n)
		}
	case "accept-appends":
		d.refuse = nil
	case "advance":
		ms, _ := strconv.Atoi(c.Word(0))
		d.clock.Advance(time.Duration(ms) * time.Millisecond)
	case "jump":
		ms, _ := strconv.Atoi(c.Word(0))
		d.clock.Jump(time.Duration(ms) * time.Millisecond)
	case "deny":
		d.deny = map[string]bool{}
		for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
			d.deny[line] = true
		}
	case "partitions":
		return d.partitions()
	default:
		return d.request(c)
	}
	return nil
}

// foreign writes a record that an older controller left.
func (d *dialogue) foreign(name string) {
	var m metarec.Message
	switch name {
	case "begin":
		m = metarec.NewBeginTransactionRecord()
	case "topic":
		m = &metarec.TopicRecord{Name: "half", TopicID: id("x")}
	default:
		d.t.Fatalf("unknown record %q", name)
	}
	frame, err := metarec.Encode(nil, m, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.Append(Records{Epoch: d.epoch, Frames: [][]byte{frame}}); err != nil {
		d.t.Fatal(err)
	}
}

// partitions prints the committed state.
func (d *dialogue) partitions() *string {
	var b strings.Builder
	for topic := range d.image().Topics.All() {
		for n, p := range topic.All() {
			fmt.Fprintf(&b, "%s-%d leader %d epoch %d/%d replicas %v isr %v elr %v last %v recovery %d\n", topic.Name, n, p.Leader, p.LeaderEpoch, p.PartitionEpoch, p.Replicas, p.ISR, p.ELR(), p.LastKnownELR(), p.RecoveryState)
		}
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return &text
}

func ids(list string) [][16]byte {
	out := [][16]byte{}
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		u := id(name)
		if n, err := strconv.Atoi(name); err == nil { // a reserved id
			u = kafka.UUID{15: byte(n)}
		}
		out = append(out, u)
	}
	return out
}

func numbers(list string) []int32 {
	out := []int32{}
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(w)
		if err != nil {
			panic(err)
		}
		out = append(out, int32(n))
	}
	return out
}

func number(c script.Command, i int) int32 { return numbers(c.Word(i))[0] }

func message(p *string) string {
	if p == nil {
		return ""
	}
	return ": " + *p
}

func code(c int16) string { return kafka.ErrorCode(c).String() }

// epochOf is the broker epoch that a request names: the registered one unless
// epoch= says another.
func (d *dialogue) epochOf(c script.Command, broker int32) int64 {
	if _, ok := c.Args["epoch"]; ok {
		return c.Int("epoch", 0)
	}
	for i := len(d.log) - 1; i >= 0; i-- {
		if r, ok := registrationOf(d.log[i], kafka.BrokerID(broker)); ok {
			return int64(r)
		}
	}
	return -1
}

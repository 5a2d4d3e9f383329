package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// command is a line that the test writes to a member.
type command struct {
	Do        string `json:"do"` // join, commit, pause, resume, seek, position, leave
	Bootstrap string `json:"bootstrap"`
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Instance  string `json:"instance"` // "" for a dynamic member
	Assignor  string `json:"assignor"` // range or cooperative
	Reset     string `json:"reset"`    // earliest, latest or none
	AutoMs    int    `json:"auto_ms"`  // interval of automatic commits, 0 for none
	SessionMs int    `json:"session_ms"`
	Async     bool   `json:"async"` // of commit
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func (c command) session() time.Duration { return time.Duration(c.SessionMs) * time.Millisecond }

func (c command) autoCommit() time.Duration { return time.Duration(c.AutoMs) * time.Millisecond }

// heartbeat is how often members heartbeat: that often they learn of a rebalance.
const heartbeat = 400 * time.Millisecond

// output writes events, one JSON object a line.
type output struct{ mu sync.Mutex }

func (o *output) event(name string, fields map[string]any) {
	if fields == nil {
		fields = map[string]any{}
	}
	fields["event"] = name
	line, err := json.Marshal(fields)
	if err != nil {
		panic("BUG: event: " + err.Error())
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Println(string(line))
}

func (o *output) record(partition int32, offset int64, value []byte) {
	o.event("record", map[string]any{"partition": partition, "offset": offset, "value": string(value)})
}

// owns says what the member owns after a change; generation is -1 if the library does
// not tell.
func (o *output) owns(partitions []int32, generation int32) {
	slices.Sort(partitions)
	if partitions == nil {
		partitions = []int32{}
	}
	o.event("owns", map[string]any{"partitions": partitions, "generation": generation})
}

func (o *output) revoked(partitions []int32) {
	o.event("revoked", map[string]any{"partitions": partitions})
}

func (o *output) positions(next map[int32]int64) {
	o.event("position", map[string]any{"offsets": next})
}

func (o *output) failed(err error) {
	if err != nil {
		o.event("error", map[string]any{"text": err.Error()})
	}
}

// consumer is a client library as a member of a group.
type consumer interface {
	join(c command) error
	commit(async bool) error
	pause(partition int32)
	resume(partition int32)
	seek(partition int32, offset int64) error
	position() map[int32]int64
	leave() error
}

// serve obeys the commands of standard input until it ends.
func serve(o *output, m consumer) error {
	in := bufio.NewScanner(os.Stdin)
	o.event("ready", nil)
	for in.Scan() {
		var c command
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			return fmt.Errorf("command %s: %w", in.Text(), err)
		}
		var err error
		switch c.Do {
		case "join":
			err = m.join(c)
		case "commit":
			if err = m.commit(c.Async); err == nil {
				o.event("committed", nil)
			}
		case "pause":
			m.pause(c.Partition)
			o.event("paused", nil)
		case "resume":
			m.resume(c.Partition)
			o.event("resumed", nil)
		case "seek":
			if err = m.seek(c.Partition, c.Offset); err == nil {
				o.event("sought", nil)
			}
		case "position":
			o.positions(m.position())
		case "leave":
			if err = m.leave(); err == nil {
				o.event("left", nil)
			}
		default:
			err = fmt.Errorf("no command %q", c.Do)
		}
		o.failed(err)
	}
	return in.Err()
}

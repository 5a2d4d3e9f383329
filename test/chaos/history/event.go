package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Kind says what a client did.
type Kind string

const (
	// Send is one record on its way: Records has it, with the offset if the broker
	// acknowledged it.
	Send Kind = "send"
	// End ends the transaction Txn, with Commit saying how.
	End Kind = "end"
	// Poll is what a consumer was given, in its order.
	Poll Kind = "poll"
	// Seek says where a consumer reads next in the partitions of Offsets: it was
	// assigned them, or it went there. -1 is a place that it does not know.
	Seek Kind = "seek"
	// Commit commits Offsets for Group, as part of Txn if that is set.
	Commit Kind = "commit"
	// Committed is the answer to what Group has committed. -1 is no offset.
	Committed Kind = "committed"
	// Scan is a complete read of the partition in Offsets[0], from its beginning to
	// its end, after everything else is over.
	Scan Kind = "scan"
)

// Outcome is what the client learned.
type Outcome string

const (
	// OK: the broker said so.
	OK Outcome = "ok"
	// Failed: it certainly did not happen.
	Failed Outcome = "failed"
	// Unknown: a timeout, a lost connection, a client that died. It may have
	// happened, or may happen yet.
	Unknown Outcome = "unknown"
)

// Partition names a partition.
type Partition struct {
	Topic string `json:"topic"`
	Index int32  `json:"index"`
}

func (p Partition) String() string { return fmt.Sprintf("%s-%d", p.Topic, p.Index) }

// Position is a place in a partition.
type Position struct {
	Partition
	Offset int64 `json:"offset"`
}

func (p Position) String() string { return fmt.Sprintf("%s@%d", p.Partition, p.Offset) }

// Record is a record as a client sent or read it. ID is unique among all that were
// ever sent. Origin is the input that an output was made of.
type Record struct {
	Position
	ID     string    `json:"id"`
	Origin *Position `json:"origin,omitempty"`
}

// Event is a call of a client. The events of one client are in the order of its calls.
// A client that may die in the middle adds a send or an end before the call, as
// Unknown, and once more when it knows what came of it.
type Event struct {
	Kind    Kind    `json:"kind"`
	Client  string  `json:"client"`
	Begun   int64   `json:"begun"` // in nanoseconds of a clock that all clients share
	Ended   int64   `json:"ended"`
	Outcome Outcome `json:"outcome"`
	// ReadCommitted says that the consumer reads with isolation.level=read_committed.
	ReadCommitted bool       `json:"readCommitted,omitempty"`
	Txn           string     `json:"txn,omitempty"` // unique among all transactions
	Commit        bool       `json:"commit,omitempty"`
	Group         string     `json:"group,omitempty"`
	Records       []Record   `json:"records,omitempty"`
	Offsets       []Position `json:"offsets,omitempty"`
}

// History collects events. Its methods may be called at the same time.
type History struct {
	mu     sync.Mutex
	events []Event // guarded by mu
}

// Add adds an event. A client adds its own in order.
func (h *History) Add(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// Events gives what was added, in the order in which it was.
func (h *History) Events() []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Event(nil), h.events...)
}

// ReadJSON adds the events of a program, one JSON object a line, until the stream
// ends. A last line that is cut off is left out: the program was killed.
func (h *History) ReadJSON(r io.Reader) error {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("history: line %d: %w", n, err)
		}
		h.Add(e)
	}
}

// WriteJSON writes the events as ReadJSON reads them.
func (h *History) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	for _, e := range h.Events() {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

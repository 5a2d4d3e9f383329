package txn

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Describe serves one id of DescribeTransactions.
func (c *Core) Describe(id string) kmsg.DescribeTransactionsResponseTransactionState {
	out := kmsg.NewDescribeTransactionsResponseTransactionState()
	out.TransactionalID = id
	t, ok := c.ids.GetCommitted(id)
	if !ok {
		out.ErrorCode = int16(kafka.ErrTransactionalIDNotFound)
		return out
	}
	out.State, out.TimeoutMillis, out.StartTimestamp = t.state.String(), t.timeoutMs, t.startMs
	out.ProducerID, out.ProducerEpoch = int64(t.producer), int16(t.epoch)
	for _, in := range t.topics() {
		topic := kmsg.NewDescribeTransactionsResponseTransactionStateTopic()
		topic.Topic, topic.Partitions = in.Topic, in.Partitions
		out.Topics = append(out.Topics, topic)
	}
	return out
}

// Filter chooses transactional ids. The zero Filter chooses those with a transaction
// that began more than no time ago; see NewFilter.
type Filter struct {
	states    map[State]struct{}
	anyState  bool
	producers map[int64]struct{}
	// duration is how long ago the transaction began, at least; negative: no matter.
	durationMs int64
	pattern    *regexp.Regexp
	Unknown    []string // names of states that there are not
}

// NewFilter reads the filters of ListTransactions. The error is
// INVALID_REGULAR_EXPRESSION.
func NewFilter(req *kmsg.ListTransactionsRequest) (Filter, kafka.ErrorCode) {
	f := Filter{
		states: map[State]struct{}{}, anyState: len(req.StateFilters) == 0,
		producers: map[int64]struct{}{}, durationMs: req.DurationFilterMillis,
	}
	for _, name := range req.StateFilters {
		switch at := slices.Index(stateNames[:], name); {
		case at >= 0:
			f.states[State(at)] = struct{}{}
		case !slices.Contains(neverListed[:], name) && !slices.Contains(f.Unknown, name):
			f.Unknown = append(f.Unknown, name)
		}
	}
	for _, id := range req.ProducerIDFilters {
		f.producers[id] = struct{}{}
	}
	if p := req.TransactionalIDPattern; p != nil && *p != "" {
		var err error
		if f.pattern, err = regexp.Compile(`^(?:` + *p + `)$`); err != nil {
			return f, kafka.ErrInvalidRegularExpression
		}
	}
	return f, kafka.ErrNone
}

func (f *Filter) takes(t *transaction, nowMs int64) bool {
	if _, ok := f.states[t.state]; !ok && !f.anyState {
		return false
	}
	if _, ok := f.producers[int64(t.producer)]; !ok && len(f.producers) > 0 {
		return false
	}
	return (f.durationMs < 0 || nowMs-t.startMs > f.durationMs) && (f.pattern == nil || f.pattern.MatchString(t.id))
}

// List serves ListTransactions: v1 a filter of durations (KIP-994), v2 a pattern of ids
// (KIP-1152).
func (c *Core) List(now time.Time, f *Filter) []kmsg.ListTransactionsResponseTransactionState {
	var list []kmsg.ListTransactionsResponseTransactionState
	for id, t := range c.ids.AllCommitted() {
		if !f.takes(t, now.UnixMilli()) {
			continue
		}
		s := kmsg.NewListTransactionsResponseTransactionState()
		s.TransactionalID, s.ProducerID, s.TransactionState = id, int64(t.producer), t.state.String()
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b kmsg.ListTransactionsResponseTransactionState) int {
		return strings.Compare(a.TransactionalID, b.TransactionalID)
	})
	return list
}

// Census is how many transactional ids are in each state.
type Census [len(stateNames)]int

// Census counts the ids.
func (c *Core) Census() (ids Census) {
	for _, t := range c.ids.AllCommitted() {
		ids[t.state]++
	}
	return ids
}

// States are the states that Census counts, in its order.
func States() []State {
	return []State{Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort}
}

// OldestOpen is when the oldest transaction began that is under way, or whose markers
// are; the zero time if there is none.
func (c *Core) OldestOpen() (oldest time.Time) {
	for id := range c.open.AllCommitted() {
		t, _ := c.ids.GetCommitted(id)
		if since := time.UnixMilli(t.startMs); oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	return oldest
}

// Open is a transaction that is under way, or whose markers are.
type Open struct {
	TransactionalID string
	ProducerID      kafka.ProducerID
	Epoch           kafka.ProducerEpoch
	State           State
	Since           time.Time
	Timeout         time.Duration
	Partitions      int
}

// Open are the transactions that are open, the oldest first.
func (c *Core) Open() []Open {
	var list []Open
	for id := range c.open.AllCommitted() {
		t, _ := c.ids.GetCommitted(id)
		list = append(list, Open{
			TransactionalID: id, ProducerID: t.producer, Epoch: t.epoch, State: t.state, Since: time.UnixMilli(t.startMs),
			Timeout: time.Duration(t.timeoutMs) * time.Millisecond, Partitions: t.partitions.Len(),
		})
	}
	slices.SortFunc(list, func(a, b Open) int {
		if n := a.Since.Compare(b.Since); n != 0 {
			return n
		}
		return strings.Compare(a.TransactionalID, b.TransactionalID)
	})
	return list
}

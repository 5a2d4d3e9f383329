package producerid

import (
	"log/slog"
	"math"
	"sync"
	"time"

	"barnabas/internal/kafka"
)

const (
	// retryBackoff is how long after a failure no block is asked for.
	retryBackoff = 50 * time.Millisecond
	// maxWaiting bounds the requests that wait for a block; a block serves more.
	maxWaiting = 512
)

// Block is a range of ids that the controller gave to this broker.
type Block struct {
	First kafka.ProducerID
	Len   int32
}

func (b Block) last() kafka.ProducerID { return b.First + kafka.ProducerID(b.Len) - 1 }

// Allocate asks the controller for a block and calls done once, from any
// goroutine, also before it returns. It keeps a deadline of its own.
type Allocate func(done func(Block, kafka.ErrorCode))

// Options make a Manager. All are needed.
type Options struct {
	Allocate Allocate
	Now      func() time.Time
	Log      *slog.Logger
}

// Answer receives an id, or an error code and NoProducerID.
type Answer func(kafka.ProducerID, kafka.ErrorCode)

// Manager hands out producer ids. It may be used by many at once.
type Manager struct {
	allocate Allocate
	now      func() time.Time
	log      *slog.Logger

	// guarded by mu
	mu       sync.Mutex
	block    Block
	used     int32 // ids handed out of block
	next     Block // Len 0: none
	asking   bool
	retryAt  time.Time
	highest  kafka.ProducerID // of all blocks taken
	waiting  []Answer
	shutdown bool
}

// New returns a manager without ids.
func New(o Options) *Manager {
	return &Manager{allocate: o.Allocate, now: o.Now, log: o.Log, highest: kafka.NoProducerID}
}

// Prefetch asks for the first block, so that the first producer need not wait.
func (m *Manager) Prefetch() {
	m.mu.Lock()
	ask := m.block.Len == 0 && m.next.Len == 0 && m.beginAskingLocked()
	m.mu.Unlock()
	if ask {
		m.allocate(m.arrived)
	}
}

// Next calls answer once with a new id, at once if one is at hand, else when a
// block has come or failed to.
func (m *Manager) Next(answer Answer) {
	m.mu.Lock()
	id, ok := m.takeLocked()
	ask := (!ok || m.lowLocked()) && m.beginAskingLocked()
	wait := !ok && m.asking && !m.shutdown && len(m.waiting) < maxWaiting
	if wait {
		m.waiting = append(m.waiting, answer)
	}
	m.mu.Unlock()
	switch {
	case ok:
		answer(id, kafka.ErrNone)
	case !wait:
		answer(kafka.NoProducerID, kafka.ErrCoordinatorLoadInProgress)
	}
	if ask {
		m.allocate(m.arrived)
	}
}

// Close answers all that wait; later requests are answered without waiting.
func (m *Manager) Close() {
	m.mu.Lock()
	m.shutdown = true
	waiting := m.waiting
	m.waiting = nil
	m.mu.Unlock()
	refuse(waiting)
}

// takeLocked takes an id of the current block, or of the next one.
func (m *Manager) takeLocked() (kafka.ProducerID, bool) {
	if m.used == m.block.Len {
		if m.next.Len == 0 {
			return kafka.NoProducerID, false
		}
		m.block, m.next, m.used = m.next, Block{}, 0
	}
	m.used++
	return m.block.First + kafka.ProducerID(m.used-1), true
}

// lowLocked says whether it is time to ask for the next block.
func (m *Manager) lowLocked() bool {
	return m.next.Len == 0 && int64(m.used) > int64(m.block.Len)*9/10
}

func (m *Manager) beginAskingLocked() bool {
	if m.asking || m.shutdown || m.now().Before(m.retryAt) {
		return false
	}
	m.asking = true
	return true
}

// arrived takes the answer of the controller and serves those that wait.
func (m *Manager) arrived(b Block, code kafka.ErrorCode) {
	m.mu.Lock()
	m.asking = false
	problem := m.problemLocked(b, code)
	if problem == "" {
		m.next, m.highest = b, b.last()
	} else {
		m.retryAt = m.now().Add(retryBackoff)
	}
	waiting := m.waiting
	m.waiting = nil
	served := 0
	ids := make([]kafka.ProducerID, 0, len(waiting))
	for ; served < len(waiting); served++ {
		id, ok := m.takeLocked()
		if !ok {
			break
		}
		ids = append(ids, id)
	}
	ask := problem == "" && m.lowLocked() && m.beginAskingLocked()
	m.mu.Unlock()

	if problem != "" {
		m.log.Warn("no producer ids from the controller", "reason", problem, "waiting", len(waiting))
	}
	for i, id := range ids {
		waiting[i](id, kafka.ErrNone)
	}
	refuse(waiting[served:])
	if ask {
		m.allocate(m.arrived)
	}
}

// problemLocked says why a block cannot be taken, or "".
func (m *Manager) problemLocked(b Block, code kafka.ErrorCode) string {
	switch {
	case code != kafka.ErrNone:
		return code.String()
	case b.First < 0 || b.Len <= 0 || int64(b.First) > math.MaxInt64-int64(b.Len):
		return "the block's range is invalid"
	case b.First <= m.highest:
		return "the block does not lie above the one before"
	}
	return ""
}

func refuse(waiting []Answer) {
	for _, answer := range waiting {
		answer(kafka.NoProducerID, kafka.ErrCoordinatorLoadInProgress)
	}
}

package client

import (
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
)

// transaction is where a producer stands with its transactions: what Kafka's
// TransactionManager knows. It sends nothing.
type transaction struct {
	// calls is held by the call that moves the transaction on; they come one at a time.
	calls sync.Mutex

	mu    sync.Mutex
	state transactionState // guarded by mu
	err   error            // a transactionError in states failed and fatal; guarded by mu
	tried bool             // records were sent in this transaction; guarded by mu
	wrote bool             // one of them was delivered; guarded by mu
	moved bool             // offsets were added to it; guarded by mu
}

type transactionState int

const (
	notTransactional transactionState = iota
	uninitialized
	ready
	open
	failed // must be aborted
	fatal  // must be closed
)

var stateNames = [...]string{"the producer has no transactional.id", "InitTransactions was not called", "no transaction is open",
	"a transaction is open", "the transaction must be aborted", "the producer can't go on"}

func (t *transaction) init(transactional bool) {
	if transactional {
		t.state = uninitialized
	}
}

func (t *transaction) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == open || t.state == failed
}

// sendable says why a record can't be sent now, if it can't.
func (t *transaction) sendable() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.state {
	case notTransactional:
		return nil
	case open:
		t.tried = true
		return nil
	}
	return t.whyNotLocked("Send")
}

// enter checks that a call fits the state.
func (t *transaction) enter(call string, states ...transactionState) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range states {
		if t.state == s {
			return nil
		}
	}
	return t.whyNotLocked(call)
}

func (t *transaction) whyNotLocked(call string) error {
	if t.err != nil {
		return t.err
	}
	return illegal(call + ": " + stateNames[t.state])
}

// begin opens a transaction.
func (t *transaction) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state, t.err, t.tried, t.wrote, t.moved = open, nil, false, false, false
}

// become is the end of a transaction or of an initialization.
func (t *transaction) become(state transactionState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state, t.err = state, nil
}

func (t *transaction) offsetsMoved() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moved = true
}

// sides says what the open transaction consists of.
func (t *transaction) sides() (tried, wrote, moved bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tried, t.wrote, t.moved
}

// delivered notes that a record was.
func (t *transaction) delivered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrote = true
}

// sendFailed notes that a record of the open transaction will be missing: it can't be
// committed any more.
func (t *transaction) sendFailed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == open {
		t.failLocked(err)
	}
}

// fail takes the error of a call and returns it in the form that says what to do.
func (t *transaction) fail(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failLocked(err)
}

func (t *transaction) failLocked(err error) error {
	if e, ok := errors.AsType[*transactionError](err); ok && e.fatal {
		t.state, t.err = fatal, err
		return err
	}
	e := &transactionError{fatal: endsProducer(err), err: err}
	t.state, t.err = failed, e
	if e.fatal {
		t.state = fatal
	}
	return e
}

// fencedBy says whether a coordinator's answer means that another producer with the
// same transactional.id has taken over, or that the transaction has timed out and the
// coordinator has ended it; Kafka treats both the same.
func fencedBy(err error) bool {
	return errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch)
}

// coordinatorRefused turns the answer of a coordinator into what the application acts
// on.
func coordinatorRefused(err error) error {
	if errors.Is(err, kerr.InvalidProducerEpoch) {
		err = fmt.Errorf("%w: %w", ErrProducerFenced, err)
	}
	if fencedBy(err) {
		return &transactionError{fatal: true, err: err}
	}
	return err
}

// endsProducer says whether Kafka's client counts an error as fatal. A partition's
// INVALID_PRODUCER_EPOCH is not: the coordinator says at the abort which it is.
func endsProducer(err error) bool {
	for _, code := range []*kerr.Error{kerr.ProducerFenced, kerr.TransactionalIDAuthorizationFailed, kerr.ClusterAuthorizationFailed,
		kerr.InvalidProducerIDMapping, kerr.InvalidTxnState, kerr.TransactionCoordinatorFenced, kerr.UnsupportedVersion,
		kerr.UnsupportedForMessageFormat, kerr.InvalidTransactionTimeout} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

package budget

import (
	"container/list"
	"errors"
	"fmt"
	"sync"
)

// ErrCanceled is returned by Take when the caller gave up waiting.
var ErrCanceled = errors.New("budget: canceled while waiting for memory")

// Budget is a number of bytes shared by accounts. Its methods may be called
// from any goroutine.
type Budget struct {
	limit int64

	mu      sync.Mutex
	used    int64     // guarded by mu
	waiters list.List // of *waiter, guarded by mu
	debtor  *Account  // guarded by mu
}

type waiter struct {
	account *Account
	n       int64
	granted chan struct{} // closed under the budget's mu
}

// New returns a budget of limit bytes.
func New(limit int64) *Budget { return &Budget{limit: limit} }

// Limit is the number given to New.
func (b *Budget) Limit() int64 { return b.limit }

// Used is the number of bytes taken and not returned.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Waiting is the number of accounts that wait for bytes.
func (b *Budget) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiters.Len()
}

// Account is what one holder has taken from a budget. It is made by Open and
// must not be copied after its first use.
type Account struct {
	budget  *Budget
	balance int64 // guarded by budget.mu
}

// Open returns an empty account.
func (b *Budget) Open() Account { return Account{budget: b} }

// TryTake takes n bytes if that needs no waiting.
func (a *Account) TryTake(n int64) bool {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.admitsLocked(a, n) {
		return false
	}
	b.takeLocked(a, n)
	return true
}

// Take takes n bytes and waits for them if it must, until cancel is closed.
// Only one goroutine may wait for an account at a time.
func (a *Account) Take(n int64, cancel <-chan struct{}) error {
	b := a.budget
	b.mu.Lock()
	if b.admitsLocked(a, n) {
		b.takeLocked(a, n)
		b.mu.Unlock()
		return nil
	}
	w := &waiter{account: a, n: n, granted: make(chan struct{})}
	place := b.waiters.PushBack(w)
	b.serveLocked()
	b.mu.Unlock()

	select {
	case <-w.granted:
		return nil
	case <-cancel:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.granted: // it came in the same moment: hand it on
		b.returnLocked(a, n)
	default:
		b.waiters.Remove(place)
		b.serveLocked()
	}
	return ErrCanceled
}

// Return gives n bytes back.
func (a *Account) Return(n int64) {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.returnLocked(a, n)
}

// Indebted says whether a is the debtor.
func (a *Account) Indebted() bool {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.debtor == a
}

// Yield ends the privilege of a debtor; its bytes stay taken. A holder calls it
// after each piece of work, so that debtors take turns.
func (a *Account) Yield() {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.debtor == a {
		b.debtor = nil
		b.serveLocked()
	}
}

// admitsLocked says whether a may have n bytes now (invariant 3).
func (b *Budget) admitsLocked(a *Account, n int64) bool {
	return b.debtor == a || b.waiters.Len() == 0 && b.used+n <= b.limit
}

func (b *Budget) takeLocked(a *Account, n int64) {
	if n < 0 {
		panic(fmt.Sprintf("BUG: budget: take of %d bytes", n))
	}
	b.used += n
	a.balance += n
}

func (b *Budget) returnLocked(a *Account, n int64) {
	if n < 0 || n > a.balance {
		panic(fmt.Sprintf("BUG: budget: return of %d bytes to a balance of %d", n, a.balance))
	}
	b.used -= n
	a.balance -= n
	if d := b.debtor; d != nil && (d.balance == 0 || b.used <= b.limit) {
		b.debtor = nil
	}
	b.serveLocked()
}

// serveLocked grants to the head of the line what fits, and makes the first that
// does not fit the debtor when there is none.
func (b *Budget) serveLocked() {
	for e := b.waiters.Front(); e != nil; e = b.waiters.Front() {
		w := e.Value.(*waiter)
		if b.used+w.n > b.limit {
			if b.debtor != nil {
				return
			}
			b.debtor = w.account
		}
		b.waiters.Remove(e)
		b.takeLocked(w.account, w.n)
		close(w.granted)
	}
}

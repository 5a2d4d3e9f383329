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
	limit, reserve, share int64

	mu      sync.Mutex
	used    int64     // guarded by mu, as is all below; without what is of the reserve
	spare   int64     // used of the reserve
	waiters list.List // of *waiter
	small   list.List // of *waiter that stay within their share
	debtor  *Account
}

type waiter struct {
	account *Account
	n       int64
	granted chan struct{} // closed under the budget's mu
}

// New returns a budget of limit bytes.
func New(limit int64) *Budget { return &Budget{limit: limit} }

// NewReserved returns a budget of limit bytes, with a reserve for accounts that hold
// no more than share.
func NewReserved(limit, reserve, share int64) *Budget {
	return &Budget{limit: limit, reserve: reserve, share: share}
}

// Limit is the number given to New.
func (b *Budget) Limit() int64 { return b.limit }

// Used is the number of bytes taken and not returned.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used + b.spare
}

// Waiting is the number of accounts that wait for bytes.
func (b *Budget) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiters.Len() + b.small.Len()
}

// Account is what one holder has taken from a budget. It is made by Open and
// must not be copied after its first use.
type Account struct {
	budget  *Budget
	balance int64 // guarded by budget.mu
	spare   int64 // of it from the reserve; guarded by budget.mu
}

// Open returns an empty account.
func (b *Budget) Open() Account { return Account{budget: b} }

// TryTake takes n bytes if that needs no waiting.
func (a *Account) TryTake(n int64) bool {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tryLocked(a, n)
}

// Charge takes n bytes that are in use already, over the limit if it must.
func (a *Account) Charge(n int64) {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takeLocked(a, n)
}

// Balance is what the account holds.
func (a *Account) Balance() int64 {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	return a.balance
}

// Take takes n bytes and waits for them if it must, until cancel is closed.
// Only one goroutine may wait for an account at a time.
func (a *Account) Take(n int64, cancel <-chan struct{}) error {
	b := a.budget
	b.mu.Lock()
	if b.tryLocked(a, n) {
		b.mu.Unlock()
		return nil
	}
	w := &waiter{account: a, n: n, granted: make(chan struct{})}
	line := &b.small
	if !b.withinShare(a, n) {
		line = &b.waiters
		b.leaveReserveLocked(a)
	}
	place := line.PushBack(w)
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
		line.Remove(place)
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

func (b *Budget) withinShare(a *Account, n int64) bool { return b.share > 0 && a.balance+n <= b.share }

// tryLocked takes n bytes if a may have them now (invariant 3).
func (b *Budget) tryLocked(a *Account, n int64) bool {
	small := b.withinShare(a, n)
	switch {
	case b.debtor == a:
	case small && b.small.Len() == 0:
		return b.trySmallLocked(a, n)
	case small || b.waiters.Len() > 0 || b.used+n > b.limit:
		return false
	}
	b.takeLocked(a, n)
	return true
}

// trySmallLocked takes n bytes for an account that stays within its share, from the
// reserve if the rest is taken. The reserve closes when so much is taken beyond the
// limit that all of it could not be bounded otherwise.
func (b *Budget) trySmallLocked(a *Account, n int64) bool {
	switch {
	case b.used+n <= b.limit:
		b.takeLocked(a, n)
	case b.spare+n <= b.reserve && b.used <= 2*b.limit:
		b.spare += n
		a.spare += n
		a.balance += n
	default:
		return false
	}
	return true
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
	spare := min(n, a.spare)
	a.spare -= spare
	b.spare -= spare
	b.used -= n - spare
	a.balance -= n
	if d := b.debtor; d != nil && (d.balance == 0 || b.used <= b.limit) {
		b.debtor = nil
	}
	b.serveLocked()
}

// leaveReserveLocked frees the reserve of one who turns out to want more than its share
// and is about to wait for that.
func (b *Budget) leaveReserveLocked(a *Account) {
	b.used += a.spare
	b.spare -= a.spare
	a.spare = 0
}

// serveLocked grants to the heads of the lines what fits, and makes the first that
// does not fit the debtor when there is none.
func (b *Budget) serveLocked() {
	for e := b.small.Front(); e != nil; e = b.small.Front() {
		w := e.Value.(*waiter)
		if !b.trySmallLocked(w.account, w.n) {
			break
		}
		b.small.Remove(e)
		close(w.granted)
	}
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

package budget

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

const patience = 30 * time.Second

func mustTake(t *testing.T, a *Account, n int64) {
	t.Helper()
	if !a.TryTake(n) {
		t.Fatalf("%d bytes are refused", n)
	}
}

// inLine starts a Take and returns when it waits.
func inLine(t *testing.T, b *Budget, a *Account, n int64, cancel <-chan struct{}) <-chan error {
	t.Helper()
	before := b.Waiting()
	done := make(chan error, 1)
	go func() { done <- a.Take(n, cancel) }()
	for end := time.Now().Add(patience); b.Waiting() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("Take does not wait")
		}
	}
	return done
}

func granted(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("a waiter is not served")
	}
}

func TestTakersWaitInLine(t *testing.T) {
	b := New(100)
	first, debtor, second, third := b.Open(), b.Open(), b.Open(), b.Open()
	mustTake(t, &first, 90)
	if err := debtor.Take(20, nil); err != nil || !debtor.Indebted() {
		t.Fatalf("the first in line is not the debtor: %v", err)
	}
	two := inLine(t, b, &second, 30, nil)
	three := inLine(t, b, &third, 1, nil)
	if third.TryTake(0) {
		t.Error("a taker overtakes the line")
	}
	first.Return(90)
	granted(t, two)
	granted(t, three)
	if b.Used() != 51 {
		t.Errorf("used %d, want 51", b.Used())
	}
}

func TestOneDebtorAtATimeGetsWhatItNeeds(t *testing.T) {
	b := New(100)
	holder, one, two := b.Open(), b.Open(), b.Open()
	mustTake(t, &holder, 100)
	if err := one.Take(500, nil); err != nil { // larger than the whole budget
		t.Fatal(err)
	}
	waits := inLine(t, b, &two, 10, nil)
	mustTake(t, &one, 50) // the debtor overtakes
	one.Yield()
	granted(t, waits)
	if !two.Indebted() {
		t.Error("the next in line did not become the debtor")
	}
	one.Return(550)
	holder.Return(100)
	if two.Indebted() {
		t.Error("a debt within the limit stays a debt")
	}
	two.Return(10)
	if b.Used() != 0 {
		t.Errorf("used %d at the end", b.Used())
	}
}

func TestCanceledWaiterLeavesTheLine(t *testing.T) {
	b := New(10)
	holder, debtor, gone, next := b.Open(), b.Open(), b.Open(), b.Open()
	mustTake(t, &holder, 10)
	if err := debtor.Take(1, nil); err != nil {
		t.Fatal(err)
	}
	cancel := make(chan struct{})
	left := inLine(t, b, &gone, 10, cancel)
	waits := inLine(t, b, &next, 5, nil)
	close(cancel)
	if err := <-left; !errors.Is(err, ErrCanceled) {
		t.Errorf("canceled Take says %v", err)
	}
	holder.Return(10)
	granted(t, waits)
}

// TestHoldersThatNeedMoreDoNotDeadlock lets many accounts take in steps while
// they hold, far beyond the limit in sum: all of them finish.
func TestHoldersThatNeedMoreDoNotDeadlock(t *testing.T) {
	b := New(1000)
	var wg sync.WaitGroup
	for seed := range uint64(50) {
		wg.Go(func() {
			a := b.Open()
			r := rand.New(rand.NewPCG(seed, 1))
			for range 50 {
				held := int64(0)
				for range 4 {
					n := r.Int64N(300)
					if err := a.Take(n, nil); err != nil {
						t.Error(err)
					}
					held += n
				}
				a.Yield()
				a.Return(held)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("deadlock")
	}
	if b.Used() != 0 || b.Waiting() != 0 {
		t.Errorf("used %d, waiting %d at the end", b.Used(), b.Waiting())
	}
}

// TestSmallSharesDoNotWaitBehindLargeOnes: there is a reserve for them, with a line of
// its own, and it closes when too much has been taken beyond the limit.
func TestSmallSharesDoNotWaitBehindLargeOnes(t *testing.T) {
	b := NewReserved(100, 20, 10)
	holder, debtor, large, one, two, three := b.Open(), b.Open(), b.Open(), b.Open(), b.Open(), b.Open()
	mustTake(t, &holder, 100)
	if err := debtor.Take(20, nil); err != nil {
		t.Fatal(err)
	}
	waits := inLine(t, b, &large, 30, nil)
	mustTake(t, &one, 10)
	mustTake(t, &two, 10)
	if one.TryTake(1) {
		t.Error("more than its share")
	}
	cancel := make(chan struct{})
	wantsMore := inLine(t, b, &one, 5, cancel)
	mustTake(t, &three, 10) // what one holds is no longer of the reserve
	close(cancel)
	<-wantsMore
	three.Return(10)
	mustTake(t, &three, 10)
	three.Return(10)
	four := b.Open()
	mustTake(t, &four, 10)
	if three.TryTake(5) {
		t.Error("more than the reserve")
	}
	small := inLine(t, b, &three, 5, nil)
	if b.Used() != 150 {
		t.Errorf("used %d", b.Used())
	}
	two.Return(10)
	granted(t, small)
	holder.Return(100)
	granted(t, waits)
	one.Return(10)
	four.Return(10)
	three.Charge(300)
	if b.Used() != 20+30+5+300 || three.Balance() != 305 {
		t.Errorf("used %d, balance %d", b.Used(), three.Balance())
	}
	if two.TryTake(1) {
		t.Error("the reserve is open although the limit is far away")
	}
	three.Return(305)
	mustTake(t, &two, 1)
	for _, a := range []*Account{&debtor, &large, &two} {
		a.Return(a.Balance())
	}
	if b.Used() != 0 {
		t.Errorf("used %d at the end", b.Used())
	}
}

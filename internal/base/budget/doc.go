// Package budget shares a number of bytes among accounts, first come first
// served, so that memory has a bound whatever the clients send.
//
// An account takes bytes before it allocates and returns them when they are
// free again. When too little is left, takers wait in a line. The first in line
// that cannot be served becomes the debtor: as long as it is, it gets whatever
// it asks for, over the limit if it must. There is one debtor at a time. So an
// account that waits while it holds bytes cannot block the others for ever, a
// request that is larger than the whole budget is served alone, and the bytes
// in use never exceed the limit by more than one debtor's needs.
//
// It does not know what the bytes are for, and allocates none.
//
// Invariants:
//
//  1. used is the sum of all balances.
//  2. used is greater than the limit only while there is a debtor, or after a
//     debtor yielded or was repaid with bytes still out.
//  3. Nobody overtakes a waiter but the debtor.
//
// Files:
//
//	budget.go  Budget, Account
package budget

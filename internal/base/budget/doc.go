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
// An account that holds little, its share, does not wait behind those that want
// much: there is a reserve for it when the rest is taken, and a line of its own when
// the reserve is taken too. So what is small goes on while what is large waits.
//
// It does not know what the bytes are for, and allocates none.
//
// Invariants:
//
//  1. used and spare are the sum of all balances, spare at most the reserve.
//  2. used is greater than the limit only while there is a debtor, or after a
//     debtor yielded or was repaid with bytes still out, by what was charged, and by
//     what left the reserve.
//  3. Nobody overtakes a waiter but the debtor, and one within its share those that
//     want more. The reserve is closed while used is above twice the limit.
//
// Files:
//
//	budget.go  Budget, Account
package budget

// Package wheel is a timing wheel: many timers, one goroutine, constant cost for
// scheduling and canceling, no allocation per timer.
//
// Time is counted in ticks since the wheel was made. A timer stands in the level
// given by the highest group of six bits in which its tick and the wheel's tick
// differ, in the slot given by those bits; when the wheel reaches a slot of a
// higher level, its timers move down. A timer never fires early, and at most one
// tick late plus what the goroutine that drives the wheel adds.
//
// The wheel reads no clock: Advance is told the time. Run is a loop around it
// that sleeps until the next timer is due and not at all when there is none.
//
// Invariants:
//
//  1. A pending timer stands in exactly one slot; a bit per slot says whether it
//     is empty.
//  2. All timers of a level stand in slots after the wheel's own slot there, so
//     the lowest level that is not empty holds the earliest timer.
//  3. A callback runs on the goroutine that calls Advance, without a lock.
//
// Files:
//
//	wheel.go  Wheel, Timer
//	run.go    the loop that drives a wheel
package wheel

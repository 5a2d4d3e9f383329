//go:build !race

package bufpool

const poisoned = false

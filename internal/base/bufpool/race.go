//go:build race

package bufpool

const poisoned = true

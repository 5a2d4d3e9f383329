//go:build race

package wire

// raceEnabled: the race detector changes what code allocates.
const raceEnabled = true

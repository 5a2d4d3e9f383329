//go:build race

package replica

// raceDetector says that pools drop what they are given now and then.
const raceDetector = true

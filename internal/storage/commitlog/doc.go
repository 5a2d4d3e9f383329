// Package commitlog keeps the bytes of one replica: segments with their indexes,
// the producers' state, the epochs, recovery. It has never heard of a topic,
// starts no goroutine and reads no clock.
package commitlog

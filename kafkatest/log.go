package kafkatest

import "sync"

// keptLog is how many bytes of its log a node keeps to show when its test fails.
const keptLog = 64 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	bytes []byte // guarded by mu
}

// Write never fails.
func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes = append(l.bytes, p...)
	if len(l.bytes) > 2*keptLog {
		l.bytes = append(l.bytes[:0], l.bytes[len(l.bytes)-keptLog:]...)
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.bytes[max(0, len(l.bytes)-keptLog):])
}

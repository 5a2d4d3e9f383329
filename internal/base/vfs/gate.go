package vfs

// GateLimit is the number of blocking calls that a log directory gets.
const GateLimit = 64

// Gate lets a limited number of blocking disk calls through. A call that hangs
// in the kernel holds a thread; without a gate, one disk that stops answering
// turns every goroutine that touches it into a thread. A nil Gate lets all pass.
type Gate struct {
	slots chan struct{}
}

// NewGate returns a gate for limit calls at once.
func NewGate(limit int) *Gate { return &Gate{slots: make(chan struct{}, limit)} }

// Enter waits for a place. Every Enter is followed by one Leave.
func (g *Gate) Enter() {
	if g != nil {
		g.slots <- struct{}{}
	}
}

// Leave gives the place back.
func (g *Gate) Leave() {
	if g != nil {
		<-g.slots
	}
}

// Busy is the number of calls inside, for gauges.
func (g *Gate) Busy() int {
	if g == nil {
		return 0
	}
	return len(g.slots)
}

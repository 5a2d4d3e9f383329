package api

import "sync/atomic"

// gathering waits for the parts of an answer that come from several coordinators.
// Parts may come from any goroutine; what they have written is seen by who is
// called at the end.
type gathering struct {
	missing atomic.Int64
	end     func()
}

// newGathering calls end when n parts are done; at once if there are none.
func newGathering(n int, end func()) *gathering {
	g := &gathering{end: end}
	if n == 0 {
		end()
		return g
	}
	g.missing.Store(int64(n))
	return g
}

func (g *gathering) done() {
	if g.missing.Add(-1) == 0 {
		g.end()
	}
}

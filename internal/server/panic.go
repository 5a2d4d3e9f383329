package server

import "runtime/debug"

// A panic while a request is served is an error of ours: an invariant broke, locks
// may be held, and what is in memory is not to be trusted. Nobody recovers from it
// and goes on. The process ends by it, before it can write: the next start finds
// what it finds after a kill, and the folder has no mark of a clean shutdown. What
// is done here is to say in the log which request it was.

// reportPanic is deferred by a connection's goroutine.
func (c *Conn) reportPanic() {
	v := recover()
	if v == nil {
		return
	}
	about := []any{"panic", v, "listener", c.Listener(), "client", c.RemoteAddr()}
	if len(c.run) > 0 && c.run[0] != nil {
		r := c.run[0]
		about = append(about, "request", r.API.Name, "version", r.Header.Version, "client_id", r.Header.ClientID, "requests", len(c.run))
	}
	c.server.log.Error("BUG: a request broke an invariant; the process ends now", append(about, "stack", string(debug.Stack()))...)
	panic(v)
}

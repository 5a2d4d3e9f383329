package server

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// complaintsPerSecond is how many lines clients can cause in a second.
const complaintsPerSecond = 10

// complaints are the lines about what clients do. Any client can cause as many of
// them as it likes, so no more than some each second are for everyone's eyes; the
// others are of level debug, and the next line says how many they were.
type complaints struct {
	log *slog.Logger
	now func() time.Time

	mu         sync.Mutex
	second     int64 // Unix time; guarded by mu
	said       int   // in that second; guarded by mu
	suppressed int   // since a line was said; guarded by mu
}

func (c *complaints) say(msg string, about ...any) {
	c.mu.Lock()
	if at := c.now().Unix(); at != c.second {
		c.second, c.said = at, 0
	}
	level := slog.LevelInfo
	if c.said < complaintsPerSecond {
		c.said++
		if c.suppressed > 0 {
			about = append(about, "suppressed", c.suppressed)
			c.suppressed = 0
		}
	} else {
		level = slog.LevelDebug
		c.suppressed++
	}
	c.mu.Unlock()
	c.log.Log(context.Background(), level, msg, about...)
}

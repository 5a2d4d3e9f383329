package fetchsession

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/kafka"
)

const (
	shards     = 8
	shardRange = math.MaxInt32 / shards

	// evictionAge is how long a session may lie unused before any other may take
	// its place, and how old one must be before a consumer's may.
	evictionAge = 120 * time.Second

	// maxPartitions is how many partitions all sessions may have together: one takes
	// some 300 bytes, and a request may name a million. (Apache Kafka has no bound.)
	// Beyond it clients fetch without a session, which they always may.
	maxPartitions = 1 << 18

	initialEpoch = 0  // begins a session
	finalEpoch   = -1 // ends it, or wants none
)

// Cache holds the sessions. Its methods may be called from any goroutine.
type Cache[S, T any] struct {
	random func() uint32
	next   atomic.Uint32 // the shard for the next new session
	shards [shards]shard[S, T]

	partitions atomic.Int64 // of all sessions
	evictions  atomic.Int64
}

type shard[S, T any] struct {
	limit      int
	partitions *atomic.Int64 // the cache's

	mu             sync.Mutex
	sessions       map[int32]*Session[S, T] // guarded by mu
	oldest, newest *Session[S, T]           // by last use, guarded by mu
}

// NewCache makes a cache for the given number of sessions
// (max.incremental.fetch.session.cache.slots). Session ids come from random.
func NewCache[S, T any](slots int, random func() uint32) *Cache[S, T] {
	c := &Cache[S, T]{random: random}
	for i := range c.shards {
		c.shards[i].limit, c.shards[i].partitions = slots/shards, &c.partitions
		c.shards[i].sessions = map[int32]*Session[S, T]{}
	}
	return c
}

// Begin gives the session that a request with this session id and epoch works
// on, or says why there is none. If the request ends an older session, that is
// returned as ended, to be released.
func (c *Cache[S, T]) Begin(id, epoch int32, usesIDs, follower bool, now time.Time) (s, ended *Session[S, T], code kafka.ErrorCode) {
	if epoch == initialEpoch || epoch == finalEpoch {
		if id != 0 {
			ended = c.remove(id)
		}
		s = &Session[S, T]{usesIDs: usesIDs, privileged: follower}
		if epoch == initialEpoch {
			s.kind = full
		}
		return s, ended, kafka.ErrNone
	}
	sh := c.shardOf(id)
	if sh == nil {
		return nil, nil, kafka.ErrFetchSessionIDNotFound
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s = sh.sessions[id]
	switch {
	case s == nil:
		return nil, nil, kafka.ErrFetchSessionIDNotFound
	case s.epoch != epoch || s.busy:
		return nil, nil, kafka.ErrInvalidFetchSessionEpoch
	case s.usesIDs != usesIDs:
		return nil, nil, kafka.ErrFetchSessionTopicIDError
	}
	s.kind, s.busy = incremental, true
	s.epoch = nextEpoch(epoch)
	sh.touch(s, now)
	return s, nil, kafka.ErrNone
}

// Drop ends an incremental session that has no partitions left. The request goes
// on without one; its Finish hands the session out.
func (c *Cache[S, T]) Drop(s *Session[S, T]) {
	sh := c.shardOf(s.id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.removeLocked(s)
	s.id, s.kind = 0, sessionless
}

// Finish ends a request's work on s. It gives the session id of the answer, and
// a session to be released, if there is one: s itself when it does not stay, or
// one whose place it has taken.
func (c *Cache[S, T]) Finish(s *Session[S, T], now time.Time) (id int32, release *Session[S, T]) {
	switch s.kind {
	case full:
		return c.insert(s, now)
	case incremental:
		sh := c.shardOf(s.id)
		sh.mu.Lock()
		defer sh.mu.Unlock()
		s.busy = false
		if s.removed {
			return s.id, s
		}
		if grown := sh.count(s); grown > 0 && c.partitions.Load() > maxPartitions {
			return s.id, sh.removeLocked(s) // the client will begin a new one
		}
		return s.id, nil
	}
	return 0, s
}

// Clear takes all sessions out and calls release for those that no request works
// on; the others are handed out by their Finish.
func (c *Cache[S, T]) Clear(release func(*Session[S, T])) {
	for i := range c.shards {
		sh := &c.shards[i]
		sh.mu.Lock()
		var idle []*Session[S, T]
		for _, s := range sh.sessions {
			if sh.removeLocked(s) != nil {
				idle = append(idle, s)
			}
		}
		sh.mu.Unlock()
		for _, s := range idle {
			release(s)
		}
	}
}

// Stats are the numbers of sessions and of their partitions, and how many
// sessions were evicted so far.
type Stats struct {
	Sessions, Partitions int
	Evictions            int64
}

// Stats counts.
func (c *Cache[S, T]) Stats() Stats {
	out := Stats{Evictions: c.evictions.Load()}
	for i := range c.shards {
		sh := &c.shards[i]
		sh.mu.Lock()
		out.Sessions += len(sh.sessions)
		for _, s := range sh.sessions {
			out.Partitions += s.Len()
		}
		sh.mu.Unlock()
	}
	return out
}

func nextEpoch(epoch int32) int32 {
	if epoch == math.MaxInt32 {
		return 1
	}
	return epoch + 1
}

func (c *Cache[S, T]) shardOf(id int32) *shard[S, T] {
	if id < 0 || id/shardRange >= shards {
		return nil
	}
	return &c.shards[id/shardRange]
}

func (c *Cache[S, T]) remove(id int32) *Session[S, T] {
	sh := c.shardOf(id)
	if sh == nil {
		return nil
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if s := sh.sessions[id]; s != nil {
		return sh.removeLocked(s)
	}
	return nil
}

// insert gives a new session an id and a place, if there is one.
func (c *Cache[S, T]) insert(s *Session[S, T], now time.Time) (id int32, release *Session[S, T]) {
	if c.partitions.Load()+int64(s.Len()) > maxPartitions {
		return 0, s
	}
	n := c.next.Add(1) % shards
	sh := &c.shards[n]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(sh.sessions) >= sh.limit {
		victim := sh.victim(s, now)
		if victim == nil {
			return 0, s
		}
		release = sh.removeLocked(victim)
		c.evictions.Add(1)
	}
	for s.id == 0 || sh.sessions[s.id] != nil {
		s.id = int32(n*shardRange + c.random()%shardRange)
	}
	s.kind, s.epoch, s.created = incremental, nextEpoch(initialEpoch), now
	sh.sessions[s.id] = s
	sh.count(s)
	sh.touch(s, now)
	return s.id, release
}

// victim is the session that s may displace, or nil. The one that was used
// longest ago goes if that is long enough. Otherwise it is the least of those
// that are open to s, and s must not be less itself: a follower's session is
// more than a consumer's, then the larger one is more, then the higher id. A
// consumer may displace only those that were old when they were last used, a
// follower also any consumer's.
func (sh *shard[S, T]) victim(s *Session[S, T], now time.Time) *Session[S, T] {
	if sh.oldest == nil {
		return nil
	}
	if now.Sub(sh.oldest.lastUsed) > evictionAge {
		return sh.oldest
	}
	var least *Session[S, T]
	for _, v := range sh.sessions {
		open := v.lastUsed.Sub(v.created) > evictionAge || s.privileged && !v.privileged
		if open && (least == nil || v.less(least)) {
			least = v
		}
	}
	if least == nil || s.less(least) {
		return nil
	}
	return least
}

func (s *Session[S, T]) less(o *Session[S, T]) bool {
	switch a, b := s.Len(), o.Len(); {
	case s.privileged != o.privileged:
		return o.privileged
	case a != b:
		return a < b
	}
	return s.id < o.id
}

// count has the cache know how many partitions s has, and says by how many they are
// more than before.
func (sh *shard[S, T]) count(s *Session[S, T]) (grown int) {
	grown = s.Len() - s.counted
	s.counted += grown
	sh.partitions.Add(int64(grown))
	return grown
}

// touch makes s the one that was used last.
func (sh *shard[S, T]) touch(s *Session[S, T], now time.Time) {
	s.lastUsed = now
	if sh.newest == s {
		return
	}
	sh.unlink(s)
	s.older = sh.newest
	if sh.newest != nil {
		sh.newest.newer = s
	}
	sh.newest = s
	if sh.oldest == nil {
		sh.oldest = s
	}
}

func (sh *shard[S, T]) unlink(s *Session[S, T]) {
	if s.older != nil {
		s.older.newer = s.newer
	} else if sh.oldest == s {
		sh.oldest = s.newer
	}
	if s.newer != nil {
		s.newer.older = s.older
	} else if sh.newest == s {
		sh.newest = s.older
	}
	s.older, s.newer = nil, nil
}

// removeLocked takes s out and returns it for release, unless a request works on
// it: then that request's Finish hands it out.
func (sh *shard[S, T]) removeLocked(s *Session[S, T]) *Session[S, T] {
	delete(sh.sessions, s.id)
	sh.unlink(s)
	sh.partitions.Add(int64(-s.counted))
	s.counted = 0
	s.removed = true
	if s.busy {
		return nil
	}
	return s
}

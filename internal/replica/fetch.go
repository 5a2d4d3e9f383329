package replica

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
	"barnabas/internal/replica/fetchsession"
	"barnabas/internal/storage/commitlog"
)

// Fetch is one Fetch request. Its owner may use it again after Fetched.
type Fetch struct {
	Request *kmsg.FetchRequest // its version decides whether topics go by id
	Caller  FetchCaller

	session            *session
	read               fetchRead
	parked             *parking
	deadline           time.Time
	minBytes, maxBytes int
}

func (f *Fetch) isolation() kafka.IsolationLevel {
	return kafka.IsolationLevel(f.Request.IsolationLevel)
}

// FetchCaller is whom a fetch belongs to.
type FetchCaller interface {
	// MayRead says whether the client may read the topic.
	MayRead(f *Fetch, topic string) bool
	// Fetched is called once with the answer, on any goroutine. The caller sends
	// the answer's slices or gives them back by Release. The answer is the
	// caller's.
	Fetched(f *Fetch, a *FetchAnswer)
}

// FetchAnswer is an answer without its records: Response is complete but for
// them, and for what depends on the version of the request (error codes that old
// clients do not know, NodeEndpoints).
type FetchAnswer struct {
	Response kmsg.FetchResponse
	// Records has the records of each partition of Response, in order.
	Records []commitlog.Slice
}

// Release gives back the files of all slices, for an answer that is not sent.
func (a *FetchAnswer) Release() {
	for i := range a.Records {
		a.Records[i].Release()
	}
	a.Records = nil
}

type (
	session = fetchsession.Session[sessionState, slotState]
	slot    = fetchsession.Slot[slotState]
)

// Fetch takes in a request. If there is not enough to read it waits, as long as
// the client wants, without a goroutine.
func (m *Manager) Fetch(f *Fetch) {
	q := f.Request
	f.parked = nil
	f.maxBytes = max(0, min(int(q.MaxBytes), m.config().Fetch.MaxBytes))
	f.minBytes = min(int(q.MinBytes), f.maxBytes)
	if q.ReplicaID >= 0 || q.ReplicaState.ID >= 0 {
		m.refuseFollower(f)
		return
	}
	now := m.env.now()
	s, ended, code := m.sessions.Begin(q.SessionID, q.SessionEpoch, q.Version >= 13, false, now)
	if ended != nil {
		releaseSession(ended)
	}
	if code != kafka.ErrNone {
		a := newFetchAnswer(q)
		a.Response.ErrorCode = int16(code)
		f.Caller.Fetched(f, a)
		return
	}
	f.session, f.deadline = s, now.Add(time.Duration(q.MaxWaitMillis)*time.Millisecond)
	forgotten := q.ForgottenTopics
	if !s.Incremental() {
		forgotten = nil
	}
	s.Update(q.Topics, forgotten,
		func(slot *slot) { s.Value.pending.Add(slot.Number()) },
		func(slot *slot) {
			s.Value.pending.Remove(slot.Number())
			slot.Value.watch.Stop()
		})
	if s.Incremental() && s.Len() == 0 {
		m.sessions.Drop(s)
	}
	m.tryFetch(f)
}

// refuseFollower answers a follower: this node leads alone, so whoever fetches as
// a replica is no replica of anything here.
func (m *Manager) refuseFollower(f *Fetch) {
	a := newFetchAnswer(f.Request)
	for i := range f.Request.Topics {
		t := &f.Request.Topics[i]
		for j := range t.Partitions {
			p := newFetchPartition(t.Partitions[j].Partition)
			p.ErrorCode = int16(kafka.ErrNotLeaderOrFollower)
			a.add(t.Topic, t.TopicID, p, commitlog.Slice{})
		}
	}
	f.Caller.Fetched(f, a)
}

// tryFetch answers the request if there is enough to read, if something else ends
// its wait, or if it does not want to wait; else it parks it.
func (m *Manager) tryFetch(f *Fetch) {
	for {
		m.readDirty(f)
		if f.read.enough(f) || !m.env.now().Before(f.deadline) {
			m.answerFetch(f)
			return
		}
		f.read.release()
		if m.park(f) {
			return
		}
	}
}

// answerFetch answers with what was read last.
func (m *Manager) answerFetch(f *Fetch) {
	a := m.buildAnswer(f)
	if f.parked != nil {
		m.env.wheel.Cancel(&f.parked.timer)
		m.env.count.fetchesWaiting.Add(-1)
		f.parked.fetch, f.parked = nil, nil // nobody claims it any more
	}
	s := f.session
	f.session = nil
	f.read.reset()
	id, release := m.sessions.Finish(s, m.env.now())
	if release != nil {
		releaseSession(release)
	}
	a.Response.SessionID = id
	f.Caller.Fetched(f, a)
}

func newFetchAnswer(q *kmsg.FetchRequest) *FetchAnswer {
	a := &FetchAnswer{}
	a.Response.Version = q.Version
	return a
}

func newFetchPartition(index int32) kmsg.FetchResponseTopicPartition {
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition = index
	p.HighWatermark, p.LastStableOffset, p.LogStartOffset = -1, -1, -1
	return p
}

// add appends a partition's answer. Neighbours of one topic stand together.
func (a *FetchAnswer) add(topic string, id kafka.UUID, p kmsg.FetchResponseTopicPartition, records commitlog.Slice) {
	topics := a.Response.Topics
	if n := len(topics); n == 0 || topics[n-1].Topic != topic || topics[n-1].TopicID != id {
		topics = append(topics, kmsg.FetchResponseTopic{Topic: topic, TopicID: id})
		a.Response.Topics = topics
	}
	t := &topics[len(topics)-1]
	t.Partitions = append(t.Partitions, p)
	a.Records = append(a.Records, records)
}

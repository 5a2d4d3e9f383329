package membership

import (
	"log/slog"
	"sync"
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxAssignments is how many replicas one request carries (as Apache Kafka).
	maxAssignments = 2250
	// Failed requests are repeated after firstAssignRetry, doubling. So long it waits
	// for the broker to be registered too.
	firstAssignRetry = 100 * time.Millisecond
	lastAssignRetry  = 10 * time.Second
)

// DirectoryController is where replicas' directories are told; done is called
// once, from any goroutine, also before the call returns.
type DirectoryController interface {
	AssignReplicasToDirs(req *kmsg.AssignReplicasToDirsRequest, done func(*kmsg.AssignReplicasToDirsResponse, error))
}

// Replica names a partition whose replica on this broker has a directory.
type Replica struct {
	Topic     kafka.UUID
	Partition int32
}

// AssignmentOptions make an Assignments. All are needed.
type AssignmentOptions struct {
	ID         kafka.BrokerID
	Epoch      func() kafka.BrokerEpoch // kafka.NoBrokerEpoch until it is registered
	Controller DirectoryController
	// Valid says whether an assignment still makes sense: the metadata has the
	// replica here, in another directory. Those that do not are dropped unsent.
	Valid func(Replica, kafka.UUID) bool
	Clock Clock
	Log   *slog.Logger
}

// Assignments tells the controller in which directory each replica lies. What
// arrives while a request is under way rides on the next one; the newest
// directory of a replica counts.
type Assignments struct {
	o AssignmentOptions

	// guarded by mu
	mu       sync.Mutex
	waiting  map[Replica]assignment
	sent     map[Replica]assignment // nil: no request is under way
	retry    func() bool            // stops the pending repetition; nil: none
	failures int
	closed   bool
}

type assignment struct {
	directory kafka.UUID
	done      func() // may be nil
}

// NewAssignments returns an Assignments with nothing to tell.
func NewAssignments(o AssignmentOptions) *Assignments {
	return &Assignments{o: o, waiting: map[Replica]assignment{}}
}

// Assign tells that the replica lies in the directory. done, if not nil, is
// called when the controller has taken note; never if a newer Assign replaces it.
func (a *Assignments) Assign(r Replica, directory kafka.UUID, done func()) {
	a.mu.Lock()
	a.waiting[r] = assignment{directory, done}
	a.mu.Unlock()
	a.send()
}

// Pending is how many assignments the controller has not confirmed.
func (a *Assignments) Pending() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting) + len(a.sent)
}

// Close stops sending. An answer that comes later changes nothing.
func (a *Assignments) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.stopRetryLocked()
}

// send sends what waits unless a request is under way or a repetition pending.
func (a *Assignments) send() {
	a.mu.Lock()
	if a.closed || a.sent != nil || a.retry != nil || len(a.waiting) == 0 {
		a.mu.Unlock()
		return
	}
	if a.o.Epoch() == kafka.NoBrokerEpoch {
		a.waitLocked(firstAssignRetry)
		a.mu.Unlock()
		return
	}
	request := a.takeLocked()
	a.mu.Unlock()
	if request != nil {
		a.o.Controller.AssignReplicasToDirs(request, a.answered)
	}
}

// takeLocked moves assignments from waiting to sent and returns their request, or
// nil if none is valid any more.
func (a *Assignments) takeLocked() *kmsg.AssignReplicasToDirsRequest {
	sent := map[Replica]assignment{}
	for r, as := range a.waiting {
		if len(sent) == maxAssignments {
			break
		}
		delete(a.waiting, r)
		if a.o.Valid(r, as.directory) {
			sent[r] = as
		}
	}
	if len(sent) == 0 {
		return nil
	}
	a.sent = sent
	return a.request(sent)
}

func (a *Assignments) request(sent map[Replica]assignment) *kmsg.AssignReplicasToDirsRequest {
	byDir := map[kafka.UUID]map[kafka.UUID][]int32{}
	for r, as := range sent {
		topics := byDir[as.directory]
		if topics == nil {
			topics = map[kafka.UUID][]int32{}
			byDir[as.directory] = topics
		}
		topics[r.Topic] = append(topics[r.Topic], r.Partition)
	}
	q := kmsg.NewAssignReplicasToDirsRequest()
	q.BrokerID, q.BrokerEpoch = int32(a.o.ID), int64(a.o.Epoch())
	for dir, topics := range byDir {
		d := kmsg.NewAssignReplicasToDirsRequestDirectory()
		d.ID = dir
		for id, partitions := range topics {
			t := kmsg.NewAssignReplicasToDirsRequestDirectoryTopic()
			t.TopicID = id
			for _, p := range partitions {
				rp := kmsg.NewAssignReplicasToDirsRequestDirectoryTopicPartition()
				rp.Partition = p
				t.Partitions = append(t.Partitions, rp)
			}
			d.Topics = append(d.Topics, t)
		}
		q.Directories = append(q.Directories, d)
	}
	return &q
}

func (a *Assignments) answered(r *kmsg.AssignReplicasToDirsResponse, err error) {
	a.mu.Lock()
	sent := a.sent
	a.sent = nil
	if err == nil && r.ErrorCode != 0 {
		err = kafka.ErrorCode(r.ErrorCode)
	}
	var confirmed []func()
	if err == nil {
		confirmed = takeConfirmed(sent, r)
	}
	for replica, as := range sent { // what is left was not confirmed
		if _, newer := a.waiting[replica]; !newer {
			a.waiting[replica] = as
		}
	}
	if err != nil || len(sent) > 0 {
		a.failures++
		a.retryLocked()
	} else {
		a.failures = 0
	}
	a.mu.Unlock()
	if err != nil {
		a.o.Log.Warn("directories of replicas not told", "replicas", len(sent), "error", err)
	}
	for _, done := range confirmed {
		done()
	}
	a.send()
}

// takeConfirmed removes from sent what the controller has taken note of.
func takeConfirmed(sent map[Replica]assignment, r *kmsg.AssignReplicasToDirsResponse) (confirmed []func()) {
	for _, d := range r.Directories {
		for _, t := range d.Topics {
			for _, p := range t.Partitions {
				replica := Replica{t.TopicID, p.Partition}
				as, ok := sent[replica]
				if !ok || p.ErrorCode != 0 {
					continue
				}
				delete(sent, replica)
				if as.done != nil {
					confirmed = append(confirmed, as.done)
				}
			}
		}
	}
	return confirmed
}

func (a *Assignments) retryLocked() {
	if a.closed {
		return
	}
	wait := firstAssignRetry << min(a.failures-1, 10)
	a.waitLocked(min(wait, lastAssignRetry))
}

func (a *Assignments) waitLocked(wait time.Duration) {
	a.retry = a.o.Clock.AfterFunc(wait, func() {
		a.mu.Lock()
		a.retry = nil
		a.mu.Unlock()
		a.send()
	})
}

func (a *Assignments) stopRetryLocked() {
	if a.retry != nil {
		a.retry()
		a.retry = nil
	}
}

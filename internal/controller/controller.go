package controller

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"barnabas/internal/base/serial"
	"barnabas/internal/config"
	"barnabas/internal/controller/heartbeat"
	"barnabas/internal/controller/placement"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
)

// Log is the metadata log, as its leader writes it.
type Log interface {
	// Append puts the records at the end of the log and returns the offset of the
	// last one; it does not wait for the disk. It fails when this node does not
	// lead the epoch, and then nothing was appended. An error that is a
	// kafka.ErrorCode is answered as it is, any other as NOT_CONTROLLER.
	Append(Records) (last kafka.Offset, err error)
}

// Records are framed metadata records for one Append.
type Records struct {
	Epoch kafka.LeaderEpoch
	// Next is the offset for which they were decided. A log that was cut back
	// meanwhile (CutBack) does not take them.
	Next   kafka.Offset
	Frames [][]byte
	// Divisible records may be written as several batches; others are one.
	Divisible bool
	// Growing records make the cluster larger, or can wait: a log whose disk is full
	// refuses them, and takes others as long as it can.
	Growing bool
}

// Clock is the time and a way to be called later; f runs on any goroutine.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Bootstrap is what the first controller writes into an empty log.
type Bootstrap struct {
	Records []metarec.Message // metadata.version first
	Source  string            // where they come from, for people
}

// Options make a Controller. All are needed.
type Options struct {
	ID        kafka.BrokerID
	ClusterID string
	// Self is this controller's registration: incarnation, endpoints, features.
	Self *metarec.RegisterControllerRecord
	// Config is this node's static configuration.
	Config *config.Broker
	// Bootstrap reads what formatting left; it is asked if the log is empty.
	Bootstrap func() (Bootstrap, error)
	// KRaftVersion is the finalized kraft.version; it stands in no data record.
	KRaftVersion func() int16

	Log     Log
	Clock   Clock
	Random  placement.Random // for placement; used by the executor alone
	Entropy io.Reader        // for topic ids
	Logger  *slog.Logger
	// Fatal is told of what the controller cannot go on after; the node stops.
	Fatal func(error)
}

// errClosed is what the executor says after Close.
var errClosed = serial.ErrClosed

// Controller is the controller of this node, active when this node leads the
// quorum. All methods may be called by many at once. The functions that receive
// answers are called once each, from any goroutine, also before the call returns.
type Controller struct {
	o    Options
	exec *serial.Executor

	// owned by the executor
	active    *active // nil: does not lead
	committed kafka.Offset
	waiters   []waiter // by offset
	tasks     []*task
	stopTimer func() bool // nil: no timer is set
	timerAt   time.Time

	mu       sync.Mutex
	sessions *heartbeat.Sessions // nil: does not lead; guarded by mu
	told     commit              // the newest that was told; guarded by mu
	telling  bool                // taking it is queued; guarded by mu
}

// New returns a controller that does not lead.
func New(o Options) *Controller {
	return &Controller{o: o, exec: serial.New(serial.Options{}), committed: -1, told: commit{through: -1}}
}

// Leadership is what begins when this node becomes the leader of the quorum.
type Leadership struct {
	Epoch kafka.LeaderEpoch
	// Next is the offset of the next record.
	Next kafka.Offset
	// Committed has all records below Next, those of an open transaction left out.
	Committed *image.Image
	// OpenTransaction says that the log ends inside a metadata transaction.
	OpenTransaction bool
}

// BecomeLeader makes the controller active. It appends what an empty or broken-off
// log needs, and its own registration.
func (c *Controller) BecomeLeader(l Leadership) {
	c.callback(func() { c.lead(l) })
}

// Resign ends the leadership. Operations that wait are refused: their records may
// be committed or not.
func (c *Controller) Resign() { c.callback(c.resign) }

// CutBack tells that the disk of the metadata log is full: nothing that was appended
// at l.Next or above is in the log. The operations whose records those were are
// refused, and the controller goes on from what is committed.
func (c *Controller) CutBack(l Leadership) { c.callback(func() { c.cutBack(l) }) }

// Committed tells that all records up to and with the offset are committed, and
// what this node's newest image is, or nil. It is cheap and may be called for each
// batch; it is called after the image is published, so that a client is answered
// with what it will then see on this node.
//
// Where the image has all that was appended, it takes the place of the pending one:
// they are equal, and the memory of one is saved.
func (c *Controller) Committed(through kafka.Offset, published *image.Image) {
	c.mu.Lock()
	if through > c.told.through {
		c.told = commit{through, published}
	}
	queued := c.telling
	c.telling = true
	c.mu.Unlock()
	if !queued {
		c.callback(c.takeCommitted)
	}
}

// commit is what Committed tells.
type commit struct {
	through   kafka.Offset
	published *image.Image
}

func (c *Controller) takeCommitted() {
	c.mu.Lock()
	told := c.told
	c.told.published = nil
	c.telling = false
	c.mu.Unlock()
	c.committed = max(c.committed, told.through)
	if a := c.active; a != nil && told.published != nil && told.published.Position.Offset == a.next-1 {
		a.image = told.published
	}
	c.answerCommitted()
}

// Close ends the leadership, refuses what waits and waits until nothing runs.
func (c *Controller) Close() {
	c.callback(c.resign)
	c.exec.Close()
}

// callback runs what must not be lost. It cannot find the reserve full: commits
// are one at a time, leaders do not change 256 times during one operation.
func (c *Controller) callback(f func()) {
	if err := c.exec.Callback(f); err != nil && err != errClosed {
		panic(fmt.Sprintf("BUG: controller: %v", err))
	}
}

func (c *Controller) resign() {
	if c.active == nil {
		return
	}
	c.o.Logger.Info("controller is not active any more", "epoch", c.active.epoch)
	c.active = nil
	c.mu.Lock()
	c.sessions = nil
	c.mu.Unlock()
	c.stopTasks()
	waiters := c.waiters
	c.waiters = nil
	for _, w := range waiters {
		w.refuse(refusal{code: kafka.ErrNotController})
	}
}

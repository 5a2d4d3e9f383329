package replica

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/base/wheel"
	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/replica/fetchsession"
	"barnabas/internal/replica/isr"
	"barnabas/internal/storage/commitlog"
)

// Options are what a Manager is made of. All are needed.
type Options struct {
	ID     kafka.BrokerID
	Dirs   []DirOptions
	Config *config.Broker
	Files  *vfs.Cache // shared by all directories
	Wheel  *wheel.Wheel
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger

	Controller  Controller
	BrokerEpoch func() kafka.BrokerEpoch
	Membership  Membership
	// Transactions is asked before a partition becomes part of a transaction.
	Transactions Transactions
	// Fatal is called when the node is to stop: the last log directory has failed and
	// there is nothing left to serve, or what is on the disks contradicts itself.
	Fatal func(error)
	// MetadataCuts says where recovery has cut the metadata log, "" for nowhere. Where
	// it has, a replica that the metadata does not have is no stray: the record that
	// made its topic is among what was lost, and the node must not go on without it.
	MetadataCuts string
	// Flushed, if not nil, is told how long each sync of a log took.
	Flushed func(time.Duration)
}

// DirOptions say where a log directory is. The caller holds its lock, and it is
// formatted.
type DirOptions struct {
	Path string
	ID   kafka.UUID
	FS   vfs.FS // with the directory's own gate
	// Metadata says that the metadata log lies in it, too: the node ends with it
	// (KIP-858).
	Metadata bool
	// Failed says that the directory cannot be used, as was logged: it is offline from
	// the start. ID may be zero then.
	Failed bool
}

// Membership is told what the controller has to hear about this node's
// directories.
type Membership interface {
	// AssignDirectory says that a replica lies in another directory than the
	// metadata has. It is called by Apply.
	AssignDirectory(topic kafka.UUID, partition int32, dir kafka.UUID)
	DirectoryFailed(dir kafka.UUID)
}

// Manager is all replicas of this node.
type Manager struct {
	env      *env
	opts     Options
	dirs     []*Dir
	sessions *fetchsession.Cache[sessionState, slotState]

	broker     atomic.Pointer[config.Broker]
	image      atomic.Pointer[image.Image] // as far as it is applied
	timedFlush atomic.Bool                 // some topic has flush.ms

	mu     sync.RWMutex
	topics map[string]*hostedTopic // guarded by mu
	seq    uint64                  // guarded by mu

	cleaners  *cleaners
	progress  progress
	stop      chan struct{} // closed by Close
	recovered chan struct{} // closed when every log of the start is open
	loops     sync.WaitGroup
	started   bool        // owned by who calls Apply
	told      config.Told // topic keys without effect that were logged; likewise
	closing   sync.Once
}

// hostedTopic is a topic of which this node has replicas. Its fields are guarded
// by the manager's mu.
type hostedTopic struct {
	id         kafka.UUID
	settings   *settings
	partitions []*Partition // by number; nil: not here
	count      int
}

// Open reads what lies in the log directories. The logs are opened by the first
// Apply, which tells what the replicas are; before that nothing is served. A directory
// that cannot be read is offline; the error is that of the last one, or of the one in
// which the metadata log lies.
func Open(o Options) (*Manager, error) {
	e := &env{
		self: o.ID, now: o.Now, random: o.Random, wheel: o.Wheel, log: o.Log,
		answers: newExecutor(answersAtOnce), lag: o.Config.Replication.LagTimeMax, flushed: o.Flushed,
	}
	e.alter = &alterSender{env: e, controller: o.Controller, epoch: o.BrokerEpoch, waiting: map[*Partition]isr.Proposal{}}
	m := &Manager{
		env: e, opts: o, topics: map[string]*hostedTopic{}, told: config.Told{},
		stop: make(chan struct{}), recovered: make(chan struct{}),
	}
	m.sessions = fetchsession.NewCache[sessionState, slotState](o.Config.Fetch.SessionCacheSize, func() uint32 { return uint32(e.draw()) })
	m.cleaners = newCleaners(m)
	m.broker.Store(o.Config)
	m.image.Store(image.Empty())
	for _, do := range o.Dirs {
		d := &Dir{
			path: do.Path, id: do.ID, metadata: do.Metadata, fs: do.FS, m: m,
			logs:       &commitlog.Env{FS: do.FS, Files: o.Files, Random: e.drawBelow},
			flushes:    newExecutor(flushesAtOnce),
			partitions: map[*Partition]struct{}{},
		}
		d.failed.Store(do.Failed)
		m.dirs = append(m.dirs, d)
	}
	for _, d := range m.dirs {
		if err := d.start(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// answersAtOnce bounds the goroutines that write answers of timed-out and woken
// requests. It is large, because some of them may wait for a disk that hangs.
const answersAtOnce = 256

func (m *Manager) config() *config.Broker { return m.broker.Load() }

// Dirs gives the log directories.
func (m *Manager) Dirs() []*Dir { return m.dirs }

// PreviousEpoch is the broker epoch of the last clean shutdown, for the
// registration: NoBrokerEpoch unless all directories name the same.
func (m *Manager) PreviousEpoch() kafka.BrokerEpoch {
	epoch := kafka.NoBrokerEpoch
	for i, d := range m.dirs {
		if !d.clean.Clean || i > 0 && d.clean.BrokerEpoch != epoch {
			return kafka.NoBrokerEpoch
		}
		epoch = d.clean.BrokerEpoch
	}
	return epoch
}

// hosted finds a partition by name, or says why it is not here.
func (m *Manager) hosted(topic string, index int32) (*Partition, kafka.ErrorCode) {
	if p := m.Partition(topic, index); p != nil && p.role.Load().phase != stopped {
		return p, kafka.ErrNone
	}
	if t := m.image.Load().Topics.ByName(topic); t != nil && t.Partition(index) != nil {
		return nil, kafka.ErrNotLeaderOrFollower
	}
	return nil, kafka.ErrUnknownTopicOrPartition
}

// Exists says whether there is such a partition in the cluster, as of the newest
// metadata that was applied here.
func (m *Manager) Exists(tp kafka.TopicPartition) bool {
	t := m.image.Load().Topics.ByName(tp.Topic)
	return t != nil && t.Partition(tp.Partition) != nil
}

// Partition gives a replica of this node, or nil.
func (m *Manager) Partition(topic string, index int32) *Partition {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if t := m.topics[topic]; t != nil && index >= 0 && int(index) < len(t.partitions) {
		return t.partitions[index]
	}
	return nil
}

// otherLeader says which other node leads a partition. This node itself is never
// named to a client that it has just refused.
func (m *Manager) otherLeader(topic string, index int32) (kafka.BrokerID, kafka.LeaderEpoch) {
	if t := m.image.Load().Topics.ByName(topic); t != nil {
		if p := t.Partition(index); p != nil && p.Leader != m.env.self && p.Leader >= 0 {
			return p.Leader, p.LeaderEpoch
		}
	}
	return kafka.NoBroker, kafka.NoLeaderEpoch
}

// directoryFailed tells the controller, and ends the node with its last directory or
// that of the metadata log.
func (m *Manager) directoryFailed(d *Dir, err error) {
	if d.metadata {
		m.opts.Fatal(fmt.Errorf("log directory %s, in which the metadata log lies, has failed: %w", d.path, err))
		return
	}
	if m.anyOnline() {
		m.opts.Membership.DirectoryFailed(d.id)
		return
	}
	m.opts.Fatal(lastFailed(d, err))
}

// lastFailed is why a node ends whose last log directory has failed.
func lastFailed(d *Dir, err error) error {
	return fmt.Errorf("all log directories have failed, the last one (%s) by: %w", d.path, err)
}

package replica

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"barnabas/internal/base/vfs"
	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/replica/isr"
	"barnabas/internal/storage/logdir"
)

// Apply takes in what changed in the metadata: it opens, makes, deletes replicas
// and gives each its role. The first call begins to open what lies in the log
// directories and does not wait for it; partitions that are new are ready when
// Apply returns. Calls come one at a time, in order.
func (m *Manager) Apply(d *image.Delta) {
	if m.started {
		m.applyChanges(d)
	} else {
		m.started = true
		m.applyFirst(d.New)
	}
	m.image.Store(d.New)
}

// SetConfig gives the node another configuration. The settings of all topics
// follow it. It is called by who calls Apply.
func (m *Manager) SetConfig(c *config.Broker) {
	m.broker.Store(c)
	m.cleaners.resettled()
	img := m.image.Load()
	defaults := m.newSettings(c, "", nil)
	m.timedFlush.Store(false)
	for _, name := range m.hostedNames() {
		m.reconfigure(name, m.settingsFor(c, img, name, defaults))
	}
}

func (m *Manager) applyFirst(img *image.Image) {
	defaults := m.newSettings(m.config(), "", nil)
	for t := range img.Topics.All() {
		for number, p := range t.All() {
			if slices.Contains(p.Replicas, m.env.self) {
				m.host(t, number, m.settingsFor(m.config(), img, t.Name, defaults))
			}
		}
	}
	m.openFound(img)
	// What has no folder is new here, whatever its age.
	var made []newReplica
	mayExist := m.anyOffline()
	for t := range img.Topics.All() {
		for number, p := range t.All() {
			part := m.Partition(t.Name, number)
			if part == nil {
				continue
			}
			part.follow(registrationFrom(p))
			if part.role.Load().dir == nil {
				made = append(made, newReplica{part, p, mayExist})
			} else {
				m.tellDirectory(part, p, img)
			}
		}
	}
	m.createAll(made, img)
}

// applyChanges looks at what the delta names and at nothing else.
func (m *Manager) applyChanges(d *image.Delta) {
	m.image.Store(d.New) // what is looked up below is looked up there
	defaults := m.newSettings(m.config(), "", nil)
	var made []newReplica
	var changed []change
	for c := range d.Partitions() {
		here := c.New != nil && slices.Contains(c.New.Replicas, m.env.self)
		part := m.Partition(c.Topic.Name, c.Number)
		if part != nil && part.id.ID != c.Topic.ID {
			part = nil // of a topic that had the name before
		}
		switch {
		case here && part == nil:
			part = m.host(c.Topic, c.Number, m.settingsFor(m.config(), d.New, c.Topic.Name, defaults))
			part.follow(registrationFrom(c.New))
			made = append(made, newReplica{part, c.New, c.Old != nil && m.anyOffline()})
		case here:
			changed = append(changed, change{part, registrationFrom(c.New)})
		case part != nil:
			m.drop(part)
		}
	}
	m.createAll(made, d.New)
	inParallel(len(changed), func(i int) { changed[i].part.follow(changed[i].to) })
	for _, r := range d.Configs {
		if r.Type == image.TopicResource && m.hosts(r.Name) {
			m.reconfigure(r.Name, m.settingsFor(m.config(), d.New, r.Name, defaults))
		}
	}
}

// change is a replica and what it is to be.
type change struct {
	part *Partition
	to   registration
}

// atOnce is how many partitions of a large change are worked on at once. Each
// writes and syncs small files; a file system does many of these in the time of
// one.
const atOnce = 32

func inParallel(n int, do func(i int)) {
	if n <= 1 {
		if n == 1 {
			do(0)
		}
		return
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, atOnce) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	workers.Wait()
}

func registrationFrom(p *image.Partition) registration {
	return registration{
		leader: p.Leader,
		Registration: isr.Registration{
			Replicas: p.Replicas, ISR: p.ISR, LeaderEpoch: p.LeaderEpoch,
			PartitionEpoch: p.PartitionEpoch, Recovery: p.RecoveryState,
		},
	}
}

// settingsFor are the settings of a topic. Topics on which nothing is set share
// the defaults.
func (m *Manager) settingsFor(c *config.Broker, img *image.Image, topic string, defaults *settings) *settings {
	set := img.Configs.Of(image.ConfigResource{Type: image.TopicResource, Name: topic})
	if set.Len() == 0 {
		return defaults
	}
	overrides := maps.Collect(set.All())
	for _, w := range m.told.New(config.TopicWithoutEffect(overrides)) {
		m.env.log.Warn("a setting of topics has no effect in this release", "key", w.Key, "reason", w.Text, "first_topic", topic)
	}
	return m.newSettings(c, topic, overrides)
}

func (m *Manager) newSettings(c *config.Broker, topic string, overrides map[string]string) *settings {
	t, err := c.Topic(overrides)
	if err != nil {
		m.env.log.Error("part of a topic's configuration makes no sense and is not used", "topic", topic, "error", err)
	}
	s := newSettings(t, &c.Producers)
	if _, timed := s.flushInterval(); timed {
		m.timedFlush.Store(true)
	}
	return s
}

func (m *Manager) hosts(topic string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.topics[topic] != nil
}

func (m *Manager) hostedNames() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Collect(maps.Keys(m.topics))
}

func (m *Manager) reconfigure(topic string, s *settings) {
	m.mu.Lock()
	t := m.topics[topic]
	t.settings = s
	partitions := slices.Clone(t.partitions)
	m.mu.Unlock()
	for _, p := range partitions {
		if p != nil {
			p.configure(s)
		}
	}
}

// host puts a partition into the table, with no log yet.
func (m *Manager) host(topic *image.Topic, number int32, s *settings) *Partition {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.topics[topic.Name]
	if t == nil || t.id != topic.ID {
		t = &hostedTopic{id: topic.ID, settings: s, partitions: make([]*Partition, 0, topic.Len())}
		m.topics[topic.Name] = t
	}
	for int(number) >= len(t.partitions) {
		t.partitions = append(t.partitions, nil)
	}
	m.seq++
	p := &Partition{
		id:  kafka.TopicIDPartition{ID: topic.ID, Topic: topic.Name, Partition: number},
		env: m.env, seq: m.seq,
	}
	p.role.Store(&role{phase: opening, settings: t.settings, leaderID: kafka.NoBroker, leaderEpoch: kafka.NoLeaderEpoch, code: kafka.ErrNotLeaderOrFollower})
	p.wanted.PartitionEpoch, p.wanted.LeaderEpoch = -1, kafka.NoLeaderEpoch
	t.partitions[number] = p
	t.count++
	return p
}

// unhost takes a partition out of the table.
func (m *Manager) unhost(p *Partition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.topics[p.id.Topic]
	if t == nil || t.id != p.id.ID || t.partitions[p.id.Partition] != p {
		return
	}
	t.partitions[p.id.Partition] = nil
	if t.count--; t.count == 0 {
		delete(m.topics, p.id.Topic)
	}
}

// drop ends a replica and has its folder deleted after a while.
func (m *Manager) drop(p *Partition) {
	m.unhost(p)
	d := p.role.Load().dir
	log := p.leave(stopped)
	if d == nil {
		return
	}
	d.remove(p)
	d.forgetCleaned(p.id.TopicPartition())
	m.cleaners.forget(p)
	p.awaitFlush()
	if log == nil {
		if d.stopWaiting(p) {
			m.retireUnmade(p, d)
		}
		return // being opened: who opens it sees that it has left; or its directory has failed
	}
	p.mu.Lock()
	log.Abandon()
	p.mu.Unlock()
	m.retireFolder(p, d)
}

// retireUnmade is retireFolder for a replica whose log there was no space for: it
// may have no folder.
func (m *Manager) retireUnmade(p *Partition, d *Dir) {
	there, err := vfs.Exists(d.fs, filepath.Join(d.path, logdir.Name(p.id.TopicPartition())))
	if err != nil {
		d.fail("delete", p.id.TopicPartition(), err)
	} else if there {
		m.retireFolder(p, d)
	}
}

// retireFolder renames a replica's folder and has it removed later. Where there is no
// space for the new name it is removed at once.
func (m *Manager) retireFolder(p *Partition, d *Dir) {
	name, err := d.retire(p.id.TopicPartition(), logdir.Deleted)
	if vfs.IsFull(err) {
		if err = d.removeNow(deletion{folder: logdir.Name(p.id.TopicPartition())}); err == nil {
			return
		}
	}
	if err != nil {
		d.fail("delete", p.id.TopicPartition(), err)
		return
	}
	delay := p.role.Load().settings.topic.FileDeleteDelay
	d.deleteLater(deletion{folder: name, at: m.env.now().Add(delay)})
	m.env.log.Debug("a replica is to be deleted", "partition", p.id.TopicPartition().String(), "folder", name, "in", delay)
}

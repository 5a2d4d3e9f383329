package node

import (
	"crypto/rand"
	"fmt"
	"maps"
	"strings"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/config"
	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/coordinator/runtime"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metrics"
	"barnabas/internal/record"
	"barnabas/internal/replica"
	"barnabas/internal/storage/commitlog"
)

// makeGroups makes the coordinator of groups. It leads nothing yet.
func (n *Node) makeGroups() error {
	c := n.config
	settings, err := groupSettings(&c.Groups)
	if err != nil {
		return err
	}
	n.groupRules = settings
	n.groups = runtime.New(runtime.Options[*group.Core]{
		Topic: kafka.ConsumerOffsetsTopic,
		New: func(_ int32, r *timeline.Registry) *group.Core {
			return group.New(group.Options{
				Registry: r, Settings: settings, Random: rand.Reader, Background: n.askLater, Config: n.groupConfig,
				Topics: func() consumergroup.Topics { return n.topics.Load() },
			})
		},
		Wheel: n.wheel, Now: time.Now, Log: n.log.With("part", "groups"),
		Linger: appendLinger(&c.Groups), CommitTimeout: c.Groups.CommitTimeout, LoadBuffer: c.Groups.LoadBufferSize,
		Compression: record.Compression{Codec: record.Codec(c.InternalTopics.OffsetsCompressionCodec)},
		Loaded:      n.meters.groupLoads.Observe, Appended: n.meters.groupAppends.Observe,
	})
	return nil
}

// groupConfig is what is configured for a consumer group now.
func (n *Node) groupConfig(id string) group.GroupConfig {
	var overrides map[string]string
	if img := n.topics.Load(); img != nil {
		overrides = maps.Collect(img.img.Configs.Of(image.ConfigResource{Type: image.GroupResource, Name: id}).All())
	}
	return group.GroupConfig(n.effective.Load().ConsumerGroup(overrides))
}

// appendLinger is how long a batch of the coordinator waits for more; negative:
// until nothing else is queued, which is what -1 means.
func appendLinger(c *config.Groups) time.Duration {
	if c.AppendLinger == config.Forever {
		return -1
	}
	return c.AppendLinger
}

func groupSettings(c *config.Groups) (group.Settings, error) {
	assignors, err := builtinAssignors(c.ConsumerAssignors)
	policy := strings.ToLower(c.MigrationPolicy)
	return group.Settings{
		MinSessionTimeout: c.MinSessionTimeout, MaxSessionTimeout: c.MaxSessionTimeout,
		InitialRebalanceDelay: c.InitialRebalanceDelay, MaxSize: c.MaxSize, OffsetMetadataMax: c.OffsetMetadataMaxBytes,
		OffsetsRetention: c.OffsetsRetention, RetentionCheck: c.RetentionCheckInterval,
		Consumer: group.ConsumerSettings{
			MaxSize: c.ConsumerMaxSize, Assignors: assignors, RegexRefresh: c.RegexRefreshInterval,
			Upgrade: policy == "bidirectional" || policy == "upgrade", Downgrade: policy == "bidirectional" || policy == "downgrade",
			Mixed: policy != "disabled",
		},
	}, err
}

// builtinAssignors are the assignors of consumer groups by their names. Those that
// are built in may be named by their Java classes too.
func builtinAssignors(list []string) ([]string, error) {
	classes := map[string]string{
		"org.apache.kafka.coordinator.group.assignor.UniformAssignor": assign.NameUniform,
		"org.apache.kafka.coordinator.group.assignor.RangeAssignor":   assign.NameRange,
	}
	var names []string
	for _, name := range list {
		if of, ok := classes[name]; ok {
			name = of
		}
		if assign.ByName(name) == nil {
			return nil, fmt.Errorf("group.consumer.assignors: %s is a Java class, which cannot be loaded; %s and %s are built in", name, assign.NameUniform, assign.NameRange)
		}
		names = append(names, name)
	}
	return names, nil
}

// publishGroups has the coordinators follow the leaders of the partitions that they
// live in, and forget the offsets of topics that are deleted. The replicas know of
// the change already.
func (n *Node) publishGroups(d *image.Delta) {
	n.topics.Store(n.topics.Load().next(d))
	deleted := map[string]kafka.UUID{}
	for i := range d.Topics {
		c := &d.Topics[i]
		if c.Topic().Name == kafka.ConsumerOffsetsTopic {
			n.followGroups(c)
		} else if c.New == nil {
			deleted[c.Old.Name] = c.Old.ID
		}
	}
	if len(deleted) == 0 {
		return
	}
	for _, partition := range n.groups.Partitions() {
		// A partition that is being loaded refuses this, and serves the offsets of
		// the topic until they expire, as in Apache.
		n.groups.Do(partition, func(core *group.Core, now time.Time) machine.Decision {
			core.TopicsDeleted(now, maps.Clone(deleted))
			return machine.Decision{}
		}, func(kafka.ErrorCode) {})
	}
}

// followGroups takes in a change of the topic of groups.
func (n *Node) followGroups(c *image.TopicChange) { n.follow(c, n.groups.Lead, n.groups.Resign) }

// follow has coordinators follow the leaders of the partitions of their topic.
func (n *Node) follow(c *image.TopicChange, lead func(int32, runtime.Leadership), resign func(int32)) {
	gone := 0
	defer func() {
		if gone > 0 {
			n.log.Info("no longer the coordinator", "topic", c.Topic().Name, "partitions", gone)
		}
	}()
	for p := range c.Partitions() {
		if p.New == nil || p.New.Leader != n.config.Node.ID {
			resign(p.Number)
			if p.Old != nil && p.Old.Leader == n.config.Node.ID {
				gone++
			}
			continue
		}
		led := n.replicas.Led(p.Topic.Name, p.Number, p.New.LeaderEpoch)
		if led == nil {
			resign(p.Number) // its directory cannot be used
			continue
		}
		lead(p.Number, runtime.Leadership{Topic: p.Topic.ID, Epoch: p.New.LeaderEpoch, Log: ledLog{led}})
	}
}

// ledLog is a partition that is led here, as a coordinator sees it.
type ledLog struct{ *replica.Led }

func (l ledLog) Append(batch record.Batch, guard uint64) (runtime.Appended, kafka.ErrorCode) {
	end, highWatermark, code := l.Led.Append(batch, commitlog.Guard(guard))
	return runtime.Appended{End: end, HighWatermark: highWatermark}, code
}

func (l ledLog) AppendMarker(m kafka.Marker) (runtime.Appended, kafka.ErrorCode) {
	end, highWatermark, code := l.Led.AppendMarker(m)
	return runtime.Appended{End: end, HighWatermark: highWatermark}, code
}

func (l ledLog) State() (runtime.LogState, kafka.ErrorCode) {
	st, code := l.Led.State()
	return runtime.LogState(st), code
}

// tellGroups tells the numbers of the coordinators of groups.
func (n *Node) tellGroups(s *metrics.Scrape) {
	st := n.groups.Stats()
	s.Set(metrics.GroupPartitions, float64(st.Active), "active")
	s.Set(metrics.GroupPartitions, float64(st.Loading), "loading")
	s.Set(metrics.GroupPartitions, float64(st.Failed), "failed")
	s.Histogram(metrics.GroupLoadTime, &n.meters.groupLoads)
	s.Set(metrics.GroupLoadErrors, float64(st.LoadErrors))
	s.Set(metrics.GroupLoadedRecords, float64(st.LoadedRecords))
	s.Set(metrics.GroupQueue, float64(st.Queued))
	s.Set(metrics.GroupBatches, float64(st.Appends))
	s.Set(metrics.GroupBatchRecords, float64(st.Records))
	s.Set(metrics.GroupBatchBytes, float64(st.Bytes))
	s.Set(metrics.GroupBatchErrors, float64(st.AppendErrors))
	s.Histogram(metrics.GroupBatchTime, &n.meters.groupAppends)
	s.Set(metrics.GroupRefused, float64(st.Overloaded), "overloaded")
	s.Set(metrics.GroupRefused, float64(st.Refused-st.Overloaded), "unavailable")
	s.Set(metrics.GroupExpired, float64(st.Expired))
	if groups, offsets, ok := n.groupCensus(); ok {
		for key, count := range groups {
			s.Set(metrics.GroupCount, float64(count), key.Type, key.State)
		}
		s.Set(metrics.GroupOffsets, float64(offsets))
	}
}

// censusPatience is how long a scrape waits for coordinators that are busy. Without
// all of them it tells no numbers of groups, rather than numbers that are too small.
const censusPatience = time.Second

// groupCensus counts the groups of all partitions that are loaded.
func (n *Node) groupCensus() (groups group.Census, offsets int, ok bool) {
	type count struct {
		groups  group.Census
		offsets int
	}
	partitions := n.groups.Partitions()
	counts := make(chan count, len(partitions))
	for _, partition := range partitions {
		n.groups.Do(partition, func(core *group.Core, _ time.Time) machine.Decision {
			var c count
			c.groups, c.offsets = core.Census()
			counts <- c
			return machine.Decision{}
		}, func(kafka.ErrorCode) { counts <- count{} })
	}
	patience := time.NewTimer(censusPatience)
	defer patience.Stop()
	groups = group.Census{}
	for _, state := range []string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable"} {
		groups[group.CensusKey{Type: "classic", State: state}] = 0 // a number that is not there cannot be watched
	}
	for _, state := range []string{consumergroup.StateEmpty, consumergroup.StateAssigning, consumergroup.StateReconciling, consumergroup.StateStable} {
		groups[group.CensusKey{Type: "consumer", State: state}] = 0
	}
	for range partitions {
		select {
		case c := <-counts:
			offsets += c.offsets
			for key, n := range c.groups {
				groups[key] += n
			}
		case <-patience.C:
			return nil, 0, false
		}
	}
	return groups, offsets, true
}

package node

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"barnabas/internal/base/budget"
	"barnabas/internal/kafka"
	"barnabas/internal/membership"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metrics"
	"barnabas/internal/raft"
	"barnabas/internal/replica"
	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// meters are what is counted while requests are served; all other numbers are
// read from their owners when a page is asked for.
type meters struct {
	requests                 *metrics.Requests
	errors                   *metrics.Errors
	flushes                  metrics.Durations
	groupLoads, groupAppends metrics.Durations
	transactionLoads         metrics.Durations
	pools                    []pool // memory for requests
	census                   census // owned by the scrape
}

// pool is a budget with its name.
type pool struct {
	name   string
	budget *budget.Budget
}

func newMeters() *meters {
	return &meters{requests: metrics.NewRequests(kmsg.MaxKey + 1), errors: metrics.NewErrors(kmsg.MaxKey + 1)}
}

// metricSources tell all numbers of a node that is assembled.
func (n *Node) metricSources() []metrics.Source {
	return []metrics.Source{n.tellNode, n.tellRequests, n.tellConnections, n.tellReplicas, n.tellGroups, n.tellTransactions, n.tellDirectories, n.tellRecovery, n.tellQuorum, n.tellCluster, n.tellTelemetry, n.tellGroupLag}
}

func requestName(key int16) string {
	if a, ok := wire.Lookup(key); ok {
		return a.Name
	}
	return strconv.Itoa(int(key))
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (n *Node) tellNode(s *metrics.Scrape) {
	s.Set(metrics.BuildInfo, 1, kafka.Release, revision(), runtime.Version())
	s.Set(metrics.NodeInfo, 1, fmt.Sprint(n.config.Node.ID), n.ClusterID())
	s.Set(metrics.BrokerState, brokerState(n.member.Load()))
	s.Set(metrics.Ready, oneIf(n.readiness().Ready))
}

// revision is the commit that the program was built from, or "".
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}

// brokerState is the number that Apache gives a state (class BrokerState).
func brokerState(m *membership.Member) float64 {
	if m == nil {
		return 1
	}
	return map[membership.State]float64{
		membership.Starting: 1, membership.Recovery: 2, membership.Running: 3, membership.Draining: 6, membership.Stopped: 7,
	}[m.State()]
}

func (n *Node) tellRequests(s *metrics.Scrape) {
	st := n.server.Stats()
	for key := range st.Requests {
		r := &st.Requests[key]
		if count := r.Count.Load(); count > 0 {
			s.Set(metrics.RequestCount, float64(count), requestName(int16(key)))
			s.Set(metrics.RequestBytes, float64(r.Bytes.Load()), requestName(int16(key)))
		}
	}
	n.meters.requests.Collect(s, requestName)
	n.meters.errors.Collect(s, requestName)
}

func (n *Node) tellConnections(s *metrics.Scrape) {
	st := n.server.Stats()
	for _, l := range st.Listeners {
		s.Set(metrics.RequestsUnanswered, float64(l.Unanswered.Load()), l.Name)
		s.Set(metrics.ConnectionCount, float64(l.Open.Load()), l.Name)
		s.Set(metrics.ConnectionsAccepted, float64(l.Accepted.Load()), l.Name)
		s.Set(metrics.ConnectionsRejected, float64(l.Rejected.Load()), l.Name)
		s.Set(metrics.IncomingBytes, float64(l.BytesIn.Load()), l.Name)
		s.Set(metrics.OutgoingBytes, float64(l.BytesOut.Load()), l.Name)
	}
	s.Set(metrics.ConnectionsRefused, float64(st.Refused.Load()))
	s.Set(metrics.MemoryWaits, float64(st.MemoryWaits.Load()))
	s.Set(metrics.ConnectionsUnread, float64(st.Unread.Load()))
	for _, p := range n.meters.pools {
		used := p.budget.Used()
		s.Set(metrics.MemoryUsed, float64(used), p.name)
		s.Set(metrics.MemoryAvailable, float64(max(0, p.budget.Limit()-used)), p.name)
		s.Set(metrics.MemoryWaiting, float64(p.budget.Waiting()), p.name)
	}
}

func tellCleaner(s *metrics.Scrape, c *replica.CleanerStats) {
	s.Set(metrics.CleanerRuns, float64(c.Runs))
	s.Set(metrics.CleanerFailures, float64(c.Failures))
	s.Set(metrics.CleanerTime, c.Seconds)
	s.Set(metrics.CleanerRead, float64(c.BytesRead))
	s.Set(metrics.CleanerWritten, float64(c.BytesWritten))
	s.Set(metrics.CleanerThreads, float64(c.Threads))
	s.Set(metrics.CleanerLastTime, c.LastSeconds)
	since := -1.0
	if !c.LastEnd.IsZero() {
		since = float64(time.Since(c.LastEnd).Milliseconds())
	}
	s.Set(metrics.CleanerLastEnd, since)
	s.Set(metrics.CleanerBufferUse, 100*c.LastBufferUse)
	s.Set(metrics.CleanerRecopy, 100*c.LastRecopy)
	s.Set(metrics.CleanerMaxDirty, 100*c.MaxDirtyRatio)
	s.Set(metrics.CleanerMaxDelay, c.MaxCompactionDelay.Seconds())
}

func (n *Node) tellReplicas(s *metrics.Scrape) {
	st := n.replicas.Stats()
	tellCleaner(s, &st.Cleaner)
	s.Set(metrics.MessagesIn, float64(st.MessagesIn))
	s.Set(metrics.BytesIn, float64(st.BytesIn))
	s.Set(metrics.BytesOut, float64(st.BytesOut))
	s.Set(metrics.PartitionCount, float64(st.Partitions))
	s.Set(metrics.LeaderCount, float64(st.Leaders))
	s.Set(metrics.OfflineReplicas, float64(st.Offline))
	s.Set(metrics.UnderReplicated, float64(st.UnderReplicated))
	s.Set(metrics.UnderMinISR, float64(st.BelowMinISR))
	s.Set(metrics.AtMinISR, float64(st.AtMinISR))
	s.Set(metrics.PurgatorySize, float64(st.ProducesWaiting), "Produce")
	s.Set(metrics.PurgatorySize, float64(st.FetchesWaiting), "Fetch")
	s.Set(metrics.ProduceExpired, float64(st.ProduceExpired))
	s.Set(metrics.FetchExpired, float64(st.FetchExpired), "consumer")
	s.Set(metrics.FetchSessions, float64(st.Sessions.Sessions))
	s.Set(metrics.FetchSessionPartitions, float64(st.Sessions.Partitions))
	s.Set(metrics.FetchSessionEvictions, float64(st.Sessions.Evictions))
	offline, cordoned := 0, 0
	for _, d := range st.Dirs {
		if !d.Online {
			offline++
		}
		if d.Cordoned {
			cordoned++
		}
		s.Set(metrics.DirectoryOffline, oneIf(!d.Online), d.Path)
		s.Set(metrics.DirectoryBytes, float64(d.Bytes), d.Path)
		s.Set(metrics.DirectorySegments, float64(d.Segments), d.Path)
		s.Set(metrics.DirectoryReplicas, float64(d.Replicas), d.Path)
		s.Set(metrics.DeletedSegments, float64(d.DeletedSegments), d.Path)
		s.Set(metrics.DeletedBytes, float64(d.DeletedBytes), d.Path)
		s.Set(metrics.RetentionDue, float64(d.RetentionDue)/1000, d.Path)
		s.Set(metrics.UncleanablePartitions, float64(d.Uncleanable), d.Path)
		s.Set(metrics.UncleanableBytes, float64(d.UncleanableBytes), d.Path)
	}
	s.Set(metrics.DirectoriesOffline, float64(offline))
	s.Set(metrics.DirectoriesCordoned, float64(cordoned))
}

func (n *Node) tellDirectories(s *metrics.Scrape) {
	s.Histogram(metrics.FlushTime, &n.meters.flushes)
}

func (n *Node) tellRecovery(s *metrics.Scrape) {
	p := n.replicas.Progress()
	s.Set(metrics.RecoveryLogs, float64(p.Logs))
	s.Set(metrics.RecoveryLogsLeft, float64(p.Logs-p.LogsOpen))
	s.Set(metrics.RecoverySegmentsLeft, float64(p.Segments-p.SegmentsDone))
	s.Set(metrics.RecoveryBytes, float64(p.Bytes))
	s.Set(metrics.RecoveryBytesDone, float64(p.BytesDone))
}

func (n *Node) tellQuorum(s *metrics.Scrape) {
	q := n.quorum.Status()
	s.Set(metrics.QuorumEpoch, float64(q.Epoch))
	s.Set(metrics.QuorumLeader, float64(q.LeaderID))
	s.Set(metrics.QuorumHighWatermark, float64(q.HighWatermark))
	s.Set(metrics.QuorumLogStart, float64(q.LogStart))
	s.Set(metrics.QuorumLogEnd, float64(q.LogEnd))
	s.Set(metrics.ControllerActive, oneIf(q.Role == raft.Leader))
	s.Set(metrics.MetadataController, float64(q.LeaderID))
	img := n.Image()
	s.Set(metrics.MetadataOffset, float64(img.Position.Offset))
	s.Set(metrics.MetadataTimestamp, float64(img.Position.Timestamp))
	s.Set(metrics.MetadataLag, float64(max(0, q.HighWatermark-img.Position.Offset-1)))
	s.Set(metrics.MetadataVersion, float64(img.Features.MetadataVersion))
	s.Set(metrics.FeatureLevel, float64(img.Features.MetadataVersion), kafka.FeatureMetadataVersion)
	s.Set(metrics.FeatureLevel, float64(q.KRaftVersion), kafka.FeatureKRaftVersion)
	for name, level := range img.Features.Levels.All() {
		s.Set(metrics.FeatureLevel, float64(level), name)
	}
}

// census are counts over all partitions of the cluster, as of one image.
type census struct {
	of                 *image.Image
	offline, displaced int
}

// take counts, if the image is another than the last time.
func (c *census) take(img *image.Image) {
	if c.of == img {
		return
	}
	*c = census{of: img}
	for t := range img.Topics.All() {
		for _, p := range t.All() {
			switch p.Leader {
			case p.PreferredLeader():
			case kafka.NoBroker:
				c.offline++
				c.displaced++
			default:
				c.displaced++
			}
		}
	}
}

func (n *Node) tellCluster(s *metrics.Scrape) {
	img, c := n.Image(), &n.meters.census
	c.take(img)
	active, fenced := 0, 0
	for b := range img.Cluster.Brokers.Values() {
		if b.Fenced {
			fenced++
		} else {
			active++
		}
	}
	s.Set(metrics.BrokersActive, float64(active))
	s.Set(metrics.BrokersFenced, float64(fenced))
	s.Set(metrics.TopicsGlobal, float64(img.Topics.Len()))
	s.Set(metrics.PartitionsGlobal, float64(img.Topics.Partitions()))
	s.Set(metrics.PartitionsOffline, float64(c.offline))
	s.Set(metrics.PreferredImbalance, float64(c.displaced))
}

package api

import (
	"log/slog"
	"sync"
	"time"

	"barnabas/internal/base/loglevel"
	"barnabas/internal/config"
	"barnabas/internal/controller"
	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/runtime"
	"barnabas/internal/coordinator/transactions"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metrics"
	"barnabas/internal/producerid"
	"barnabas/internal/quorum"
	"barnabas/internal/replica"
	"barnabas/internal/security"
	"barnabas/internal/server"
	"barnabas/internal/telemetry"
	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Options are what both handlers are made of. All fields are needed, but those
// that say otherwise.
type Options struct {
	NodeID    kafka.BrokerID
	ClusterID string
	Config    *config.Broker
	// Effective is Config with the dynamic configuration of the metadata log.
	Effective func() *config.Broker
	Image     func() *image.Image // the newest that was published
	// KRaftVersion is the finalized kraft.version; it stands in no image.
	KRaftVersion func() int16
	Quorum       func() quorum.Status
	Authorizer   security.Authorizer
	Controller   *controller.Controller
	Loggers      *loglevel.Loggers
	Errors       *metrics.Errors // counts the errors of answers; nil: they are not counted
	Log          *slog.Logger

	// Replicas, ProducerIDs and Telemetry are needed by Broker alone.
	Replicas    *replica.Manager
	ProducerIDs *producerid.Manager
	// Groups are the group coordinators of this node; Broker alone needs them.
	Groups *runtime.Runtime[*group.Core]
	// GroupSettings are what the coordinators go by.
	GroupSettings *group.Settings
	// Transactions is the transaction coordinator of this node; Broker alone needs it.
	Transactions *transactions.Coordinator
	// Markers writes markers to partitions that are led here; Broker alone needs it.
	Markers   transactions.Partitions
	Telemetry *telemetry.Manager
	// Ports are the ports that listeners are bound to, by name of the listener:
	// for addresses that are told as the client reached them.
	Ports func(listener string) int
}

// Broker answers what clients ask.
type Broker struct {
	Options
	served     *wire.Served
	functions  [kmsg.MaxKey + 1]func(*Broker, *call)
	errors     *errorCounter
	autoCreate *autoCreate
}

// brokerFunctions is the table of what a broker serves. Produce comes in runs and
// has a way of its own.
func brokerFunctions() map[kmsg.Key]func(*Broker, *call) {
	return map[kmsg.Key]func(*Broker, *call){
		kmsg.Produce:                 nil,
		kmsg.Fetch:                   (*Broker).fetch,
		kmsg.ListOffsets:             (*Broker).listOffsets,
		kmsg.Metadata:                (*Broker).metadata,
		kmsg.OffsetCommit:            (*Broker).offsetCommit,
		kmsg.OffsetFetch:             (*Broker).offsetFetch,
		kmsg.FindCoordinator:         (*Broker).findCoordinator,
		kmsg.JoinGroup:               (*Broker).joinGroup,
		kmsg.Heartbeat:               (*Broker).heartbeat,
		kmsg.LeaveGroup:              (*Broker).leaveGroup,
		kmsg.SyncGroup:               (*Broker).syncGroup,
		kmsg.DescribeGroups:          (*Broker).describeGroups,
		kmsg.ListGroups:              (*Broker).listGroups,
		kmsg.ApiVersions:             (*Broker).apiVersions,
		kmsg.CreateTopics:            (*Broker).createTopics,
		kmsg.DeleteTopics:            (*Broker).deleteTopics,
		kmsg.DeleteRecords:           (*Broker).deleteRecords,
		kmsg.InitProducerID:          (*Broker).initProducerID,
		kmsg.OffsetForLeaderEpoch:    (*Broker).offsetForLeaderEpoch,
		kmsg.DescribeConfigs:         (*Broker).describeConfigs,
		kmsg.AlterConfigs:            (*Broker).legacyAlterConfigs,
		kmsg.IncrementalAlterConfigs: (*Broker).incrementalAlterConfigs,
		kmsg.ListConfigResources:     (*Broker).listConfigResources,
		kmsg.DescribeLogDirs:         (*Broker).describeLogDirs,
		kmsg.CreatePartitions:        (*Broker).createPartitions,
		kmsg.DeleteGroups:            (*Broker).deleteGroups,
		kmsg.ConsumerGroupHeartbeat:  (*Broker).consumerGroupHeartbeat,
		kmsg.ConsumerGroupDescribe:   (*Broker).consumerGroupDescribe,
		kmsg.OffsetDelete:            (*Broker).offsetDelete,
		kmsg.DescribeCluster:         (*Broker).describeCluster,
		kmsg.DescribeProducers:       (*Broker).describeProducers,
		kmsg.UnregisterBroker:        (*Broker).unregisterBroker,
		kmsg.DescribeTopicPartitions: (*Broker).describeTopicPartitions,
		kmsg.DescribeQuorum:          (*Broker).describeQuorum,
		kmsg.UpdateFeatures:          (*Broker).updateFeatures,
		kmsg.UnregisterController:    (*Broker).unregisterController,

		kmsg.AddPartitionsToTxn:   (*Broker).addPartitionsToTxn,
		kmsg.AddOffsetsToTxn:      (*Broker).addOffsetsToTxn,
		kmsg.TxnOffsetCommit:      (*Broker).txnOffsetCommit,
		kmsg.EndTxn:               (*Broker).endTxn,
		kmsg.WriteTxnMarkers:      (*Broker).writeTxnMarkers,
		kmsg.DescribeTransactions: (*Broker).describeTransactions,
		kmsg.ListTransactions:     (*Broker).listTransactions,

		kmsg.GetTelemetrySubscriptions: (*Broker).getTelemetrySubscriptions,
		kmsg.PushTelemetry:             (*Broker).pushTelemetry,
	}
}

// NewBroker returns the handler of client listeners.
func NewBroker(o Options) *Broker {
	b := &Broker{Options: o, autoCreate: newAutoCreate()}
	var keys []kmsg.Key
	for key, f := range brokerFunctions() {
		keys = append(keys, key)
		b.functions[key] = f
	}
	b.served, b.errors = wire.NewServed(keys...), newErrorCounter(o.Errors, keys)
	return b
}

// Served is the set of requests that the handler answers.
func (b *Broker) Served() *wire.Served { return b.served }

// Serve answers a run of requests of one connection.
func (b *Broker) Serve(c *server.Conn, run []*server.Request) {
	if run[0].Header.Key == int16(kmsg.Produce) {
		b.produce(c, run)
		return
	}
	for _, r := range run {
		b.functions[r.Header.Key](b, &call{Request: r, conn: c, authorizer: b.Authorizer, errors: b.errors})
	}
}

// autoCreate remembers which topics are being created because someone asked for
// them, so that a crowd of clients makes one request.
type autoCreate struct {
	mu       sync.Mutex
	inFlight map[string]time.Time // guarded by mu; when it was asked for
}

func newAutoCreate() *autoCreate { return &autoCreate{inFlight: map[string]time.Time{}} }

// maxAutoCreate bounds the topics that are being created at once; others have to
// ask again.
const maxAutoCreate = 10_000

// begin says whether the caller is to create the topic.
func (a *autoCreate) begin(topic string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, busy := a.inFlight[topic]; busy || len(a.inFlight) >= maxAutoCreate {
		return false
	}
	a.inFlight[topic] = now
	return true
}

func (a *autoCreate) end(topics []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range topics {
		delete(a.inFlight, t)
	}
}

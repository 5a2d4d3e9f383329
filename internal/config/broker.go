package config

import (
	"net"
	"strconv"
	"time"

	"barnabas/internal/kafka"
)

// Broker is the configuration of one node: the registry's keys as typed fields.
// A field with a tag holds the value of that key; the others are worked out from
// several keys. It is immutable: With gives a new one.
//
// Keys that end in .ms, .seconds, .minutes or .hours become a time.Duration;
// what is too large for one is Forever.
type Broker struct {
	Node           Node
	Network        Network
	Admin          Admin
	Quorum         Quorum
	MetadataLog    MetadataLog
	Lifecycle      Lifecycle
	Logs           Logs
	Cleaner        Cleaner
	Topics         Topics
	InternalTopics InternalTopics
	Groups         Groups
	Transactions   Transactions
	Replication    Replication
	Fetch          Fetch
	Producers      Producers
	Telemetry      Telemetry

	layers layers // where the values come from
	values values // of every key; topics are resolved from them
}

// Forever is the duration of a limit that is never reached.
const Forever = time.Duration(1<<63 - 1)

// Node says who this node is and where its data lies.
type Node struct {
	ID           kafka.BrokerID `key:"node.id"`
	IsBroker     bool           // process.roles holds "broker"
	IsController bool           // process.roles holds "controller"
	Rack         string         `key:"broker.rack"` // "" is none

	LogDirs         []string // log.dirs, else log.dir; never empty
	CordonedLogDirs []string `key:"cordoned.log.dirs"` // "*" stands for all
	MetadataLogDir  string   // metadata.log.dir, else the first of LogDirs

	// FromDefaults says that there is no configuration file: a node that may
	// format its own folder and take the product's defaults.
	FromDefaults bool
}

// Network holds the listeners and the limits of their connections.
type Network struct {
	// Listeners holds what this node binds, in the order of the key listeners:
	// those of the broker role and those of the controller role.
	Listeners []Listener
	// Advertised holds what the broker registers and tells clients: the entries
	// of advertised.listeners, else those of Listeners with an empty or wildcard
	// host left empty (DESIGN: the connection's own address is told then).
	// Controller listeners are in it only where advertised.listeners names them.
	Advertised []Listener
	// AdvertisedSet says that advertised.listeners was given.
	AdvertisedSet bool
	// ControllerListenerNames is controller.listener.names, upper case.
	ControllerListenerNames []string
	// InterBrokerListenerName is inter.broker.listener.name, else the name of
	// security.inter.broker.protocol.
	InterBrokerListenerName string

	SocketSendBufferBytes    int   `key:"socket.send.buffer.bytes"`
	SocketReceiveBufferBytes int   `key:"socket.receive.buffer.bytes"`
	SocketRequestMaxBytes    int   `key:"socket.request.max.bytes"`
	SocketListenBacklogSize  int   `key:"socket.listen.backlog.size"`
	QueuedMaxRequestBytes    int64 `key:"queued.max.request.bytes"` // -1: a share of the memory limit

	ConnectionsMaxIdle        time.Duration `key:"connections.max.idle.ms"`
	MaxConnections            int           `key:"max.connections"`
	MaxConnectionsPerIP       int           `key:"max.connections.per.ip"`
	MaxConnectionCreationRate int           `key:"max.connection.creation.rate"`
	// MaxConnectionsPerIPOverrides is max.connections.per.ip.overrides: host or
	// address to limit.
	MaxConnectionsPerIPOverrides map[string]int
}

// Admin is the listener for metrics, health and profiles.
type Admin struct {
	Address    string // barnabas.admin.listener; "" is off
	Configured bool   // named by the user, so that a taken port is an error
}

// Voter is one entry of controller.quorum.voters.
type Voter struct {
	ID   kafka.BrokerID
	Host string
	Port int
}

// HostPort is one entry of controller.quorum.bootstrap.servers.
type HostPort struct {
	Host string
	Port int
}

func (a HostPort) String() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// Quorum holds the keys of the metadata quorum.
type Quorum struct {
	Voters           []Voter    // controller.quorum.voters; empty: the voters are in the log
	BootstrapServers []HostPort // controller.quorum.bootstrap.servers

	ElectionTimeout       time.Duration `key:"controller.quorum.election.timeout.ms"`
	ElectionBackoffMax    time.Duration `key:"controller.quorum.election.backoff.max.ms"`
	FetchTimeout          time.Duration `key:"controller.quorum.fetch.timeout.ms"`
	AppendLinger          time.Duration `key:"controller.quorum.append.linger.ms"`
	RequestTimeout        time.Duration `key:"controller.quorum.request.timeout.ms"`
	RetryBackoff          time.Duration `key:"controller.quorum.retry.backoff.ms"`
	FetchMaxBytes         int           `key:"controller.quorum.fetch.max.bytes"`
	FetchSnapshotMaxBytes int           `key:"controller.quorum.fetch.snapshot.max.bytes"`
}

// MetadataLog holds the keys of __cluster_metadata and its snapshots.
type MetadataLog struct {
	SegmentBytes                  int           // internal.metadata.log.segment.bytes, else metadata.log.segment.bytes
	Segment                       time.Duration `key:"metadata.log.segment.ms"`
	MaxRecordBytesBetweenSnapshot int64         `key:"metadata.log.max.record.bytes.between.snapshots"`
	MaxSnapshotInterval           time.Duration `key:"metadata.log.max.snapshot.interval.ms"` // 0: only by size
	MaxRetentionBytes             int64         `key:"metadata.max.retention.bytes"`
	MaxRetention                  time.Duration `key:"metadata.max.retention.ms"`
	MaxIdleInterval               time.Duration `key:"metadata.max.idle.interval.ms"` // 0: no NoOpRecords
	MaxBatchSizeBytes             int           `key:"internal.metadata.max.batch.size.in.bytes"`
	DeleteDelay                   time.Duration `key:"internal.metadata.delete.delay.millis"`
}

// Lifecycle holds the keys of registration, heartbeats and shutdown.
type Lifecycle struct {
	InitialRegistrationTimeout time.Duration `key:"initial.broker.registration.timeout.ms"`
	HeartbeatInterval          time.Duration `key:"broker.heartbeat.interval.ms"`
	SessionTimeout             time.Duration `key:"broker.session.timeout.ms"`
	ControlledShutdownEnable   bool          `key:"controlled.shutdown.enable"`
	MaxStartupTime             time.Duration `key:"server.max.startup.time.ms"`
	UnstableFeatureVersions    bool          `key:"unstable.feature.versions.enable"`
}

// Logs holds the keys of the background work on log directories. What a topic
// can override is in Topic.
type Logs struct {
	RetentionCheckInterval        time.Duration `key:"log.retention.check.interval.ms"`
	FlushSchedulerInterval        time.Duration `key:"log.flush.scheduler.interval.ms"`
	RecoveryPointInterval         time.Duration `key:"log.flush.offset.checkpoint.interval.ms"`
	StartOffsetCheckpointInterval time.Duration `key:"log.flush.start.offset.checkpoint.interval.ms"`
	InitialTaskDelay              time.Duration `key:"log.initial.task.delay.ms"`
	DirFailureTimeout             time.Duration `key:"log.dir.failure.timeout.ms"`
	RecoveryThreadsPerDataDir     int           `key:"num.recovery.threads.per.data.dir"`
}

// Cleaner holds the keys of compaction; those of a topic are in Topic.
type Cleaner struct {
	Enable            bool          `key:"log.cleaner.enable"`
	Threads           int           `key:"log.cleaner.threads"`
	MaxBytesPerSecond float64       `key:"log.cleaner.io.max.bytes.per.second"` // read and written, all threads together
	DedupeBufferBytes int64         `key:"log.cleaner.dedupe.buffer.size"`      // of all threads together
	IOBufferBytes     int           `key:"log.cleaner.io.buffer.size"`          // likewise
	LoadFactor        float64       `key:"log.cleaner.io.buffer.load.factor"`
	Backoff           time.Duration `key:"log.cleaner.backoff.ms"`
}

// Topics holds the keys of creating and deleting topics.
type Topics struct {
	NumPartitions            int  `key:"num.partitions"`
	DefaultReplicationFactor int  `key:"default.replication.factor"`
	AutoCreateEnable         bool `key:"auto.create.topics.enable"`
	DeleteEnable             bool `key:"delete.topic.enable"`
	MaxRequestPartitionSize  int  `key:"max.request.partition.size.limit"` // DescribeTopicPartitions
}

// InternalTopics holds the shapes that internal topics are created with.
type InternalTopics struct {
	OffsetsPartitions           int `key:"offsets.topic.num.partitions"`
	OffsetsReplicationFactor    int `key:"offsets.topic.replication.factor"`
	OffsetsSegmentBytes         int `key:"offsets.topic.segment.bytes"`
	OffsetsCompressionCodec     int `key:"offsets.topic.compression.codec"`
	TransactionPartitions       int `key:"transaction.state.log.num.partitions"`
	TransactionReplication      int `key:"transaction.state.log.replication.factor"`
	TransactionSegmentBytes     int `key:"transaction.state.log.segment.bytes"`
	TransactionMinISR           int `key:"transaction.state.log.min.isr"`
	ShareStatePartitions        int `key:"share.coordinator.state.topic.num.partitions"`
	ShareStateReplicationFactor int `key:"share.coordinator.state.topic.replication.factor"`
	ShareStateSegmentBytes      int `key:"share.coordinator.state.topic.segment.bytes"`
	ShareStateMinISR            int `key:"share.coordinator.state.topic.min.isr"`
	ShareStateCompressionCodec  int `key:"share.coordinator.state.topic.compression.codec"`
}

// Groups holds the keys of the group coordinator.
type Groups struct {
	AppendLinger           time.Duration `key:"group.coordinator.append.linger.ms"` // Forever (-1): until nothing else is queued
	CommitTimeout          time.Duration `key:"offsets.commit.timeout.ms"`
	LoadBufferSize         int           `key:"offsets.load.buffer.size"`
	OffsetMetadataMaxBytes int           `key:"offset.metadata.max.bytes"`
	OffsetsRetention       time.Duration `key:"offsets.retention.minutes"`
	RetentionCheckInterval time.Duration `key:"offsets.retention.check.interval.ms"`
	MinSessionTimeout      time.Duration `key:"group.min.session.timeout.ms"`
	MaxSessionTimeout      time.Duration `key:"group.max.session.timeout.ms"`
	InitialRebalanceDelay  time.Duration `key:"group.initial.rebalance.delay.ms"`
	MaxSize                int           `key:"group.max.size"`

	// Groups of the consumer protocol (KIP-848); what a group may set of its own is
	// in ConsumerGroup.
	RebalanceProtocols   []string      `key:"group.coordinator.rebalance.protocols"`
	ConsumerMaxSize      int           `key:"group.consumer.max.size"`
	ConsumerAssignors    []string      `key:"group.consumer.assignors"`
	MigrationPolicy      string        `key:"group.consumer.migration.policy"` // in any case
	RegexRefreshInterval time.Duration `key:"group.consumer.regex.refresh.interval.ms"`
}

// Transactions holds the keys of the transaction coordinator.
type Transactions struct {
	LoadBufferSize int           `key:"transaction.state.log.load.buffer.size"`
	IDExpiration   time.Duration `key:"transactional.id.expiration.ms"`
	MaxTimeout     time.Duration `key:"transaction.max.timeout.ms"`
	EnlistPause    time.Duration `key:"add.partitions.to.txn.retry.backoff.ms"`
	EnlistFor      time.Duration `key:"add.partitions.to.txn.retry.backoff.max.ms"`
	AbortInterval  time.Duration `key:"transaction.abort.timed.out.transaction.cleanup.interval.ms"`
	RemoveInterval time.Duration `key:"transaction.remove.expired.transaction.cleanup.interval.ms"`
}

// Replication holds the keys of leaders, followers and elections.
type Replication struct {
	LagTimeMax                      time.Duration `key:"replica.lag.time.max.ms"`
	HighWatermarkCheckpointInterval time.Duration `key:"replica.high.watermark.checkpoint.interval.ms"`
	AutoLeaderRebalanceEnable       bool          `key:"auto.leader.rebalance.enable"`
	LeaderImbalanceCheckInterval    time.Duration `key:"leader.imbalance.check.interval.seconds"`
	UncleanElectionInterval         time.Duration `key:"unclean.leader.election.interval.ms"`
}

// Fetch holds the keys of serving Fetch.
type Fetch struct {
	MaxBytes         int `key:"fetch.max.bytes"`
	SessionCacheSize int `key:"max.incremental.fetch.session.cache.slots"`
}

// Producers holds the keys of producer state.
type Producers struct {
	IDExpiration              time.Duration `key:"producer.id.expiration.ms"`
	IDExpirationCheckInterval time.Duration `key:"producer.id.expiration.check.interval.ms"`
	VerifyTransactions        bool          `key:"transaction.partition.verification.enable"`
}

package metrics

// Kind says how a metric moves.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metric is a row of the table.
type Metric struct {
	Name   string
	Kind   Kind
	Labels string // their names, in order
	Help   string
	// MBean is what it is called in Apache Kafka; "" where there is nothing like it.
	MBean string
}

// ID names a metric in code.
type ID int

// The metrics, in the order of the table.
const (
	// What node this is.
	BuildInfo ID = iota
	NodeInfo
	BrokerState
	Ready

	// Requests and connections.
	RequestCount
	RequestErrors
	RequestBytes
	RequestTotalTime
	RequestQueueTime
	RequestServeTime
	RequestSendTime
	RequestsUnanswered
	ConnectionCount
	ConnectionsAccepted
	ConnectionsRejected
	ConnectionsRefused
	IncomingBytes
	OutgoingBytes
	MemoryUsed
	MemoryAvailable
	MemoryWaiting
	MemoryWaits
	ConnectionsUnread

	// Records.
	MessagesIn
	BytesIn
	BytesOut

	// Replicas of this node.
	PartitionCount
	LeaderCount
	OfflineReplicas
	UnderReplicated
	UnderMinISR
	AtMinISR
	PurgatorySize
	ProduceExpired
	FetchExpired
	FetchSessions
	FetchSessionPartitions
	FetchSessionEvictions

	// Where groups stand.
	GroupOffset
	GroupLag
	GroupLagTime
	GroupStuck
	GroupRowsDropped

	// What clients push of theirs.
	TelemetryClients
	TelemetrySeries
	TelemetryPushes
	TelemetryDropped
	TelemetryValue

	// Group coordinators.
	GroupPartitions
	GroupLoadTime
	GroupLoadErrors
	GroupLoadedRecords
	GroupQueue
	GroupBatches
	GroupBatchRecords
	GroupBatchBytes
	GroupBatchErrors
	GroupBatchTime
	GroupRefused
	GroupExpired
	GroupCount
	GroupOffsets

	// Transaction coordinators.
	TransactionPartitions
	TransactionLoadTime
	TransactionLoadErrors
	TransactionIDs
	TransactionsEnding
	TransactionOldest

	// Log directories.
	DirectoriesOffline
	DirectoriesCordoned
	DirectoryOffline
	DirectoryBytes
	DirectorySegments
	DirectoryReplicas
	DeletedSegments
	DeletedBytes
	RetentionDue
	FlushTime
	RecoveryLogs
	RecoveryLogsLeft
	RecoverySegmentsLeft
	RecoveryBytes
	RecoveryBytesDone

	// Compaction.
	CleanerRuns
	CleanerFailures
	CleanerTime
	CleanerRead
	CleanerWritten
	CleanerThreads
	CleanerLastTime
	CleanerLastEnd
	CleanerBufferUse
	CleanerRecopy
	CleanerMaxDirty
	CleanerMaxDelay
	UncleanablePartitions
	UncleanableBytes

	// The metadata log, and what it says.
	QuorumEpoch
	QuorumLeader
	QuorumHighWatermark
	QuorumLogEnd
	QuorumLogStart
	MetadataOffset
	MetadataTimestamp
	MetadataLag
	MetadataVersion
	FeatureLevel
	MetadataController

	// The controller.
	ControllerActive
	BrokersActive
	BrokersFenced
	TopicsGlobal
	PartitionsGlobal
	PartitionsOffline
	PreferredImbalance

	idCount
)

// Table is every metric of the node, in order. Those of the Go runtime and of the
// process have the names that Prometheus gives them.
func Table() []Metric { return append([]Metric(nil), table[:]...) }

var table = [idCount]Metric{
	BuildInfo:   {"barnabas_build_info", Gauge, "version revision go", "Always 1; the labels say what runs.", ""},
	NodeInfo:    {"barnabas_node_info", Gauge, "node_id cluster_id", "Always 1; the labels say who this is.", "kafka.server:type=KafkaServer,name=ClusterId"},
	BrokerState: {"kafka_server_kafkaserver_brokerstate", Gauge, "", "How far the broker has come: 1 starting, 2 recovery, 3 running, 6 pending controlled shutdown, 7 shutting down.", "kafka.server:type=KafkaServer,name=BrokerState"},
	Ready:       {"barnabas_ready", Gauge, "", "1 when /readyz says so: clients are served, and every log that was there at the start is open.", ""},

	RequestCount:        {"kafka_network_requestmetrics_requests_total", Counter, "request", "Requests that were begun to be served, of all versions.", "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=*,version=*"},
	RequestErrors:       {"kafka_network_requestmetrics_errors_total", Counter, "request error", "Error codes in answers, each partition or topic for itself. NONE is not counted.", "kafka.network:type=RequestMetrics,name=ErrorsPerSec,request=*,error=*"},
	RequestBytes:        {"kafka_network_requestmetrics_requestbytes_total", Counter, "request", "Bytes of requests.", "kafka.network:type=RequestMetrics,name=RequestBytes,request=*"},
	RequestTotalTime:    {"kafka_network_requestmetrics_totaltime_seconds", Histogram, "request", "From a request's last byte to the last of its answer. Produce with acks=0, which has no answer, is not in it.", "kafka.network:type=RequestMetrics,name=TotalTimeMs,request=*"},
	RequestQueueTime:    {"kafka_network_requestmetrics_requestqueuetime_seconds", Histogram, "request", "Of that, waiting for the requests before it on its connection.", "kafka.network:type=RequestMetrics,name=RequestQueueTimeMs,request=*"},
	RequestServeTime:    {"kafka_network_requestmetrics_servetime_seconds", Histogram, "request", "Of that, being served, with all waiting for data, replicas or the controller.", "kafka.network:type=RequestMetrics,name=LocalTimeMs and RemoteTimeMs,request=*"},
	RequestSendTime:     {"kafka_network_requestmetrics_responsesendtime_seconds", Histogram, "request", "Of that, the answer waiting for its turn and being written.", "kafka.network:type=RequestMetrics,name=ResponseQueueTimeMs and ResponseSendTimeMs,request=*"},
	RequestsUnanswered:  {"barnabas_network_requests_unanswered", Gauge, "listener", "Requests that are being served or wait for something.", "kafka.network:type=RequestChannel,name=RequestQueueSize (without those in service)"},
	ConnectionCount:     {"kafka_server_socket_server_metrics_connection_count", Gauge, "listener", "Open connections.", "kafka.server:type=socket-server-metrics,listener=*: connection-count"},
	ConnectionsAccepted: {"kafka_server_socket_server_metrics_connection_creation_total", Counter, "listener", "Connections accepted.", "kafka.server:type=socket-server-metrics,listener=*: connection-creation-total"},
	ConnectionsRejected: {"barnabas_network_connections_rejected_total", Counter, "listener", "Connections closed at once because a limit was reached.", ""},
	ConnectionsRefused:  {"barnabas_network_connections_refused_total", Counter, "", "Connections closed for what the client sent: bytes that are no request, or one that is not served.", ""},
	IncomingBytes:       {"kafka_server_socket_server_metrics_incoming_byte_total", Counter, "listener", "Bytes read from clients.", "kafka.server:type=socket-server-metrics,listener=*: incoming-byte-total"},
	OutgoingBytes:       {"kafka_server_socket_server_metrics_outgoing_byte_total", Counter, "listener", "Bytes written to clients.", "kafka.server:type=socket-server-metrics,listener=*: outgoing-byte-total"},
	MemoryUsed:          {"kafka_network_socketserver_memorypoolused", Gauge, "pool", "Bytes of the memory for requests that are taken. Clients and controllers have a pool each.", "kafka.network:type=SocketServer,name=MemoryPoolUsed"},
	MemoryAvailable:     {"kafka_network_socketserver_memorypoolavailable", Gauge, "pool", "Bytes of it that are free.", "kafka.network:type=SocketServer,name=MemoryPoolAvailable"},
	MemoryWaiting:       {"barnabas_network_memory_waiting", Gauge, "pool", "Connections that wait for it now.", ""},
	MemoryWaits:         {"barnabas_network_memory_waits_total", Counter, "", "How often a connection had to wait for it.", "kafka.server:type=socket-server-metrics: MemoryPoolDepletedTimeTotal (a time)"},
	ConnectionsUnread:   {"barnabas_network_connections_unread_total", Counter, "", "Connections closed because answers that nobody read took half of that memory.", ""},

	MessagesIn: {"kafka_server_brokertopicmetrics_messagesin_total", Counter, "", "Records appended for producers. Batches sent twice count once.", "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec"},
	BytesIn:    {"kafka_server_brokertopicmetrics_bytesin_total", Counter, "", "Bytes of their batches.", "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec"},
	BytesOut:   {"kafka_server_brokertopicmetrics_bytesout_total", Counter, "", "Bytes of batches in answers to consumers.", "kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec"},

	PartitionCount:         {"kafka_server_replicamanager_partitioncount", Gauge, "", "Replicas that lie here, offline ones among them.", "kafka.server:type=ReplicaManager,name=PartitionCount"},
	LeaderCount:            {"kafka_server_replicamanager_leadercount", Gauge, "", "Replicas that lead.", "kafka.server:type=ReplicaManager,name=LeaderCount"},
	OfflineReplicas:        {"kafka_server_replicamanager_offlinereplicacount", Gauge, "", "Replicas whose log directory has failed.", "kafka.server:type=ReplicaManager,name=OfflineReplicaCount"},
	UnderReplicated:        {"kafka_server_replicamanager_underreplicatedpartitions", Gauge, "", "Partitions led here with fewer replicas in sync than there are.", "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"},
	UnderMinISR:            {"kafka_server_replicamanager_underminisrpartitioncount", Gauge, "", "Partitions led here with fewer in sync than min.insync.replicas: acks=all is refused.", "kafka.server:type=ReplicaManager,name=UnderMinIsrPartitionCount"},
	AtMinISR:               {"kafka_server_replicamanager_atminisrpartitioncount", Gauge, "", "Partitions led here with just as many.", "kafka.server:type=ReplicaManager,name=AtMinIsrPartitionCount"},
	PurgatorySize:          {"kafka_server_delayedoperationpurgatory_purgatorysize", Gauge, "delayedOperation", "Requests that wait: Fetch for data, Produce for replicas or the disk.", "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=*"},
	ProduceExpired:         {"kafka_server_delayedproducemetrics_expires_total", Counter, "", "Produce requests whose time ran out while they waited.", "kafka.server:type=DelayedProduceMetrics,name=ExpiresPerSec"},
	FetchExpired:           {"kafka_server_delayedfetchmetrics_expires_total", Counter, "fetcherType", "Fetch requests whose time ran out while they waited; that is everyday life.", "kafka.server:type=DelayedFetchMetrics,name=ExpiresPerSec,fetcherType=*"},
	FetchSessions:          {"kafka_server_fetchsessioncache_numincrementalfetchsessions", Gauge, "", "Fetch sessions.", "kafka.server:type=FetchSessionCache,name=NumIncrementalFetchSessions"},
	FetchSessionPartitions: {"kafka_server_fetchsessioncache_numincrementalfetchpartitionscached", Gauge, "", "Partitions in them.", "kafka.server:type=FetchSessionCache,name=NumIncrementalFetchPartitionsCached"},
	FetchSessionEvictions:  {"kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total", Counter, "", "Sessions that had to make room for others.", "kafka.server:type=FetchSessionCache,name=IncrementalFetchSessionEvictionsPerSec"},

	GroupOffset:      {"barnabas_group_offset", Gauge, "group topic partition", "Committed offset of a group, looked at every ten seconds; at most 10,000 partitions of groups.", ""},
	GroupLag:         {"barnabas_group_lag", Gauge, "group topic partition", "Records between it and the high watermark.", "kafka.consumer:type=consumer-fetch-manager-metrics: records-lag (of a consumer)"},
	GroupLagTime:     {"barnabas_group_lag_seconds", Gauge, "group topic partition", "For how long there have been records to read, as far as the node remembers.", ""},
	GroupStuck:       {"barnabas_group_stuck", Gauge, "group topic partition", "1 if the group has members, there are records to read, and the offset has not moved for a minute.", ""},
	GroupRowsDropped: {"barnabas_group_lag_dropped", Gauge, "", "Partitions of groups that are left out, for 10,000 are told at most: whole groups, those with members first, of these the smallest.", ""},

	TelemetryClients: {"barnabas_telemetry_clients", Gauge, "", "Clients that have asked what to push (KIP-714), at most 16,384.", "kafka.server:type=client-metrics-instance-count"},
	TelemetrySeries:  {"barnabas_telemetry_series", Gauge, "", "Numbers that are kept of them, at most 20,000 in all and 256 of one.", ""},
	TelemetryPushes:  {"barnabas_telemetry_pushes_total", Counter, "", "Pushes that were taken.", "kafka.server:type=client-metrics-plugin-export-count"},
	TelemetryDropped: {"barnabas_telemetry_dropped_total", Counter, "", "Numbers that found no room.", ""},
	TelemetryValue:   {"barnabas_client", Gauge, "client_instance_id client_id metric attributes", "A number that a client pushed, by the metric's name. What counts up is added up over its pushes. Clients that have missed three pushes are left out.", ""},

	GroupPartitions:    {"kafka_server_group_coordinator_metrics_num_partitions", Gauge, "state", "Partitions of `__consumer_offsets` that are led here, by what they are: active, loading, failed.", "kafka.server:type=group-coordinator-metrics,state=*: num-partitions"},
	GroupLoadTime:      {"kafka_server_group_coordinator_metrics_partition_load_seconds", Histogram, "", "How long such partitions take to be loaded.", "kafka.server:type=group-coordinator-metrics: partition-load-time-avg, -max"},
	GroupLoadErrors:    {"barnabas_group_coordinator_load_errors_total", Counter, "", "Loads that failed: the groups of the partition have no coordinator.", ""},
	GroupLoadedRecords: {"barnabas_group_coordinator_loaded_records_total", Counter, "", "Records that were loaded.", ""},
	GroupQueue:         {"kafka_server_group_coordinator_metrics_event_queue_size", Gauge, "", "Operations that wait for their turn.", "kafka.server:type=group-coordinator-metrics: event-queue-size"},
	GroupBatches:       {"barnabas_group_coordinator_batches_total", Counter, "", "Batches appended for groups; records and bytes divided by it are their mean size.", "kafka.server:type=group-coordinator-metrics: batch-flush-rate"},
	GroupBatchRecords:  {"barnabas_group_coordinator_batch_records_total", Counter, "", "Records in them.", ""},
	GroupBatchBytes:    {"barnabas_group_coordinator_batch_bytes_total", Counter, "", "Bytes of them.", ""},
	GroupBatchErrors:   {"barnabas_group_coordinator_batch_errors_total", Counter, "", "Batches that could not be appended.", ""},
	GroupBatchTime:     {"kafka_server_group_coordinator_metrics_batch_flush_seconds", Histogram, "", "How long appends for groups take.", "kafka.server:type=group-coordinator-metrics: batch-flush-time-ms-*"},
	GroupRefused:       {"barnabas_group_coordinator_refused_total", Counter, "reason", "Operations that were not run: overloaded, a queue was full; unavailable, the partition is not led here or being loaded.", ""},
	GroupExpired:       {"barnabas_group_coordinator_expired_total", Counter, "", "Answers that were given up because their records were not committed within offsets.commit.timeout.ms.", ""},
	GroupCount:         {"kafka_server_group_coordinator_metrics_group_count", Gauge, "protocol state", "Groups by kind and state.", "kafka.server:type=group-coordinator-metrics,protocol=*: group-count; state=*: classic-group-count"},
	GroupOffsets:       {"kafka_server_groupmetadatamanager_numoffsets", Gauge, "", "Offsets that are committed.", "kafka.coordinator.group:type=GroupMetadataManager,name=NumOffsets"},

	TransactionPartitions: {"barnabas_transaction_coordinator_partitions", Gauge, "state", "Partitions of `__transaction_state` that are led here, by what they are: active, loading, failed.", ""},
	TransactionLoadTime:   {"kafka_server_transaction_coordinator_metrics_partition_load_seconds", Histogram, "", "How long such partitions take to be loaded.", "kafka.server:type=transaction-coordinator-metrics: partition-load-time-avg, -max"},
	TransactionLoadErrors: {"barnabas_transaction_coordinator_load_errors_total", Counter, "", "Loads that failed: the transactional ids of the partition have no coordinator.", ""},
	TransactionIDs:        {"barnabas_transaction_coordinator_ids", Gauge, "state", "Transactional ids by the state of their transaction.", ""},
	TransactionsEnding:    {"barnabas_transaction_coordinator_ending", Gauge, "", "Transactions that are decided and whose markers are not all written; one that stays here cannot be told to a partition, and the log says why.", "kafka.coordinator.transaction:type=TransactionMarkerChannelManager,name=UnknownDestinationQueueSize, LogAppendRetryQueueSize"},
	TransactionOldest:     {"barnabas_transaction_coordinator_oldest_open_seconds", Gauge, "", "Age of the oldest transaction that is open or ending, 0 if there is none.", ""},

	DirectoriesOffline:   {"kafka_log_logmanager_offlinelogdirectorycount", Gauge, "", "Log directories that have failed.", "kafka.log:type=LogManager,name=OfflineLogDirectoryCount"},
	DirectoriesCordoned:  {"kafka_log_logmanager_cordonedlogdirectorycount", Gauge, "", "Log directories that take no new replicas by choice.", "kafka.log:type=LogManager,name=CordonedLogDirectoryCount"},
	DirectoryOffline:     {"kafka_log_logmanager_logdirectoryoffline", Gauge, "logDirectory", "1 for a log directory that has failed.", "kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory=*"},
	DirectoryBytes:       {"barnabas_log_size_bytes", Gauge, "logDirectory", "Bytes of the logs in a directory, without their indexes.", "kafka.log:type=Log,name=Size, summed"},
	DirectorySegments:    {"barnabas_log_segments", Gauge, "logDirectory", "Segments of the logs in a directory.", "kafka.log:type=Log,name=NumLogSegments, summed"},
	DirectoryReplicas:    {"barnabas_log_replicas", Gauge, "logDirectory", "Replicas in a directory.", ""},
	DeletedSegments:      {"barnabas_log_deleted_segments_total", Counter, "logDirectory", "Segments that retention has removed since the start.", ""},
	DeletedBytes:         {"barnabas_log_deleted_bytes_total", Counter, "logDirectory", "Their bytes, without indexes. The disk has them back after file.delete.delay.ms.", ""},
	RetentionDue:         {"barnabas_log_retention_due_timestamp_seconds", Gauge, "logDirectory", "When the next segment will be old enough to be removed, in seconds since 1970; 0: none ever will.", ""},
	FlushTime:            {"kafka_log_logflushstats_logflush_seconds", Histogram, "", "How long logs take to be synced to disk.", "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs"},
	RecoveryLogs:         {"barnabas_recovery_logs", Gauge, "", "Logs that lay there when the node started.", ""},
	RecoveryLogsLeft:     {"kafka_log_logmanager_remaininglogstorecover", Gauge, "", "Those that are not open yet.", "kafka.log:type=LogManager,name=remainingLogsToRecover,dir=*"},
	RecoverySegmentsLeft: {"kafka_log_logmanager_remainingsegmentstorecover", Gauge, "", "Segments that are still to be read through, of the logs that recovery has come to.", "kafka.log:type=LogManager,name=remainingSegmentsToRecover,dir=*,threadNum=*"},
	RecoveryBytes:        {"barnabas_recovery_bytes", Gauge, "", "Bytes of all segments that recovery has come to.", ""},
	RecoveryBytesDone:    {"barnabas_recovery_bytes_done", Gauge, "", "Bytes that it has read through.", ""},

	CleanerRuns:           {"barnabas_cleaner_runs_total", Counter, "", "Logs that were compacted.", ""},
	CleanerFailures:       {"barnabas_cleaner_failures_total", Counter, "", "Compactions that ended before their end: the log was set aside, changed meanwhile, or the disk was full.", ""},
	CleanerTime:           {"barnabas_cleaner_seconds_total", Counter, "", "Time that compaction took, of all threads.", ""},
	CleanerRead:           {"barnabas_cleaner_read_bytes_total", Counter, "", "Bytes that compaction read.", ""},
	CleanerWritten:        {"barnabas_cleaner_written_bytes_total", Counter, "", "Bytes that compaction wrote in the place of others.", ""},
	CleanerThreads:        {"barnabas_cleaner_threads", Gauge, "", "Threads of compaction (log.cleaner.threads).", "kafka.log:type=LogCleaner,name=DeadThreadCount (those that are missing)"},
	CleanerLastTime:       {"kafka_log_logcleaner_max_clean_time_secs", Gauge, "", "How long the last compaction of a log took, in seconds.", "kafka.log:type=LogCleaner,name=max-clean-time-secs"},
	CleanerLastEnd:        {"kafka_log_logcleanermanager_time_since_last_run_ms", Gauge, "", "For how long nothing has been compacted, in milliseconds; -1: never since the start.", "kafka.log:type=LogCleanerManager,name=time-since-last-run-ms"},
	CleanerBufferUse:      {"kafka_log_logcleaner_max_buffer_utilization_percent", Gauge, "", "How much of what log.cleaner.dedupe.buffer.size has room for the last compaction used. At 100 a log is compacted in parts.", "kafka.log:type=LogCleaner,name=max-buffer-utilization-percent"},
	CleanerRecopy:         {"kafka_log_logcleaner_cleaner_recopy_percent", Gauge, "", "How much of the bytes the last compaction had to keep.", "kafka.log:type=LogCleaner,name=cleaner-recopy-percent"},
	CleanerMaxDirty:       {"kafka_log_logcleanermanager_max_dirty_percent", Gauge, "", "The dirty part of the dirtiest log.", "kafka.log:type=LogCleanerManager,name=max-dirty-percent"},
	CleanerMaxDelay:       {"kafka_log_logcleaner_max_compaction_delay_secs", Gauge, "", "For how long max.compaction.lag.ms is exceeded somewhere, in seconds.", "kafka.log:type=LogCleaner,name=max-compaction-delay-secs"},
	UncleanablePartitions: {"kafka_log_logcleanermanager_uncleanable_partitions_count", Gauge, "logDirectory", "Partitions that compaction has set aside because they cannot be read. The log says why.", "kafka.log:type=LogCleanerManager,name=uncleanable-partitions-count,logDirectory=*"},
	UncleanableBytes:      {"kafka_log_logcleanermanager_uncleanable_bytes", Gauge, "logDirectory", "Bytes of them.", "kafka.log:type=LogCleanerManager,name=uncleanable-bytes,logDirectory=*"},

	QuorumEpoch:         {"kafka_server_raft_metrics_current_epoch", Gauge, "", "Epoch of the metadata quorum.", "kafka.server:type=raft-metrics: current-epoch"},
	QuorumLeader:        {"kafka_server_raft_metrics_current_leader", Gauge, "", "Its leader; -1 is nobody.", "kafka.server:type=raft-metrics: current-leader"},
	QuorumHighWatermark: {"kafka_server_raft_metrics_high_watermark", Gauge, "", "Offset below which the metadata log is committed; -1 is not known.", "kafka.server:type=raft-metrics: high-watermark"},
	QuorumLogEnd:        {"kafka_server_raft_metrics_log_end_offset", Gauge, "", "Next offset of the metadata log: the number of records that were ever in it.", "kafka.server:type=raft-metrics: log-end-offset"},
	QuorumLogStart:      {"barnabas_quorum_log_start_offset", Gauge, "", "First offset of it that is still there, behind a snapshot.", ""},
	MetadataOffset:      {"kafka_server_broker_metadata_metrics_last_applied_record_offset", Gauge, "", "Offset of the last metadata record that requests are answered by.", "kafka.server:type=broker-metadata-metrics: last-applied-record-offset"},
	MetadataTimestamp:   {"kafka_server_broker_metadata_metrics_last_applied_record_timestamp", Gauge, "", "Its time, in milliseconds since 1970.", "kafka.server:type=broker-metadata-metrics: last-applied-record-timestamp"},
	MetadataLag:         {"barnabas_metadata_lag", Gauge, "", "Committed metadata records that requests are not answered by yet.", "kafka.server:type=broker-metadata-metrics: last-applied-record-lag-ms (a time)"},
	MetadataVersion:     {"kafka_server_metadataloader_currentmetadataversion", Gauge, "", "Level of metadata.version.", "kafka.server:type=MetadataLoader,name=CurrentMetadataVersion"},
	FeatureLevel:        {"kafka_server_metadataloader_finalizedlevel", Gauge, "featureName", "Finalized level of a feature.", "kafka.server:type=MetadataLoader,name=FinalizedLevel,featureName=*"},
	MetadataController:  {"kafka_server_metadataloader_currentcontrollerid", Gauge, "", "The active controller as this node knows it; -1 is nobody.", "kafka.server:type=MetadataLoader,name=CurrentControllerId"},

	ControllerActive:   {"kafka_controller_kafkacontroller_activecontrollercount", Gauge, "", "1 on the active controller. The sum over all nodes should be 1.", "kafka.controller:type=KafkaController,name=ActiveControllerCount"},
	BrokersActive:      {"kafka_controller_kafkacontroller_activebrokercount", Gauge, "", "Brokers that are registered and not fenced.", "kafka.controller:type=KafkaController,name=ActiveBrokerCount"},
	BrokersFenced:      {"kafka_controller_kafkacontroller_fencedbrokercount", Gauge, "", "Brokers that are registered and fenced: gone, or not ready yet.", "kafka.controller:type=KafkaController,name=FencedBrokerCount"},
	TopicsGlobal:       {"kafka_controller_kafkacontroller_globaltopiccount", Gauge, "", "Topics of the cluster.", "kafka.controller:type=KafkaController,name=GlobalTopicCount"},
	PartitionsGlobal:   {"kafka_controller_kafkacontroller_globalpartitioncount", Gauge, "", "Partitions of the cluster.", "kafka.controller:type=KafkaController,name=GlobalPartitionCount"},
	PartitionsOffline:  {"kafka_controller_kafkacontroller_offlinepartitionscount", Gauge, "", "Partitions without a leader.", "kafka.controller:type=KafkaController,name=OfflinePartitionsCount"},
	PreferredImbalance: {"kafka_controller_kafkacontroller_preferredreplicaimbalancecount", Gauge, "", "Partitions that another than their preferred replica leads.", "kafka.controller:type=KafkaController,name=PreferredReplicaImbalanceCount"},
}

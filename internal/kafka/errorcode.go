package kafka

import "strconv"

// ErrorCode is the error field of the Kafka protocol. Its values, names and
// retriable marks are those of Apache Kafka 4.4 (class Errors).
type ErrorCode int16

// The error codes of Apache Kafka 4.4.
const (
	ErrUnknownServerError                     ErrorCode = -1
	ErrNone                                   ErrorCode = 0
	ErrOffsetOutOfRange                       ErrorCode = 1
	ErrCorruptMessage                         ErrorCode = 2
	ErrUnknownTopicOrPartition                ErrorCode = 3
	ErrInvalidFetchSize                       ErrorCode = 4
	ErrLeaderNotAvailable                     ErrorCode = 5
	ErrNotLeaderOrFollower                    ErrorCode = 6
	ErrRequestTimedOut                        ErrorCode = 7
	ErrBrokerNotAvailable                     ErrorCode = 8
	ErrReplicaNotAvailable                    ErrorCode = 9
	ErrMessageTooLarge                        ErrorCode = 10
	ErrStaleControllerEpoch                   ErrorCode = 11
	ErrOffsetMetadataTooLarge                 ErrorCode = 12
	ErrNetworkException                       ErrorCode = 13
	ErrCoordinatorLoadInProgress              ErrorCode = 14
	ErrCoordinatorNotAvailable                ErrorCode = 15
	ErrNotCoordinator                         ErrorCode = 16
	ErrInvalidTopicException                  ErrorCode = 17
	ErrRecordListTooLarge                     ErrorCode = 18
	ErrNotEnoughReplicas                      ErrorCode = 19
	ErrNotEnoughReplicasAfterAppend           ErrorCode = 20
	ErrInvalidRequiredAcks                    ErrorCode = 21
	ErrIllegalGeneration                      ErrorCode = 22
	ErrInconsistentGroupProtocol              ErrorCode = 23
	ErrInvalidGroupID                         ErrorCode = 24
	ErrUnknownMemberID                        ErrorCode = 25
	ErrInvalidSessionTimeout                  ErrorCode = 26
	ErrRebalanceInProgress                    ErrorCode = 27
	ErrInvalidCommitOffsetSize                ErrorCode = 28
	ErrTopicAuthorizationFailed               ErrorCode = 29
	ErrGroupAuthorizationFailed               ErrorCode = 30
	ErrClusterAuthorizationFailed             ErrorCode = 31
	ErrInvalidTimestamp                       ErrorCode = 32
	ErrUnsupportedSaslMechanism               ErrorCode = 33
	ErrIllegalSaslState                       ErrorCode = 34
	ErrUnsupportedVersion                     ErrorCode = 35
	ErrTopicAlreadyExists                     ErrorCode = 36
	ErrInvalidPartitions                      ErrorCode = 37
	ErrInvalidReplicationFactor               ErrorCode = 38
	ErrInvalidReplicaAssignment               ErrorCode = 39
	ErrInvalidConfig                          ErrorCode = 40
	ErrNotController                          ErrorCode = 41
	ErrInvalidRequest                         ErrorCode = 42
	ErrUnsupportedForMessageFormat            ErrorCode = 43
	ErrPolicyViolation                        ErrorCode = 44
	ErrOutOfOrderSequenceNumber               ErrorCode = 45
	ErrDuplicateSequenceNumber                ErrorCode = 46
	ErrInvalidProducerEpoch                   ErrorCode = 47
	ErrInvalidTxnState                        ErrorCode = 48
	ErrInvalidProducerIDMapping               ErrorCode = 49
	ErrInvalidTransactionTimeout              ErrorCode = 50
	ErrConcurrentTransactions                 ErrorCode = 51
	ErrTransactionCoordinatorFenced           ErrorCode = 52
	ErrTransactionalIDAuthorizationFailed     ErrorCode = 53
	ErrSecurityDisabled                       ErrorCode = 54
	ErrOperationNotAttempted                  ErrorCode = 55
	ErrKafkaStorageError                      ErrorCode = 56
	ErrLogDirNotFound                         ErrorCode = 57
	ErrSaslAuthenticationFailed               ErrorCode = 58
	ErrUnknownProducerID                      ErrorCode = 59
	ErrReassignmentInProgress                 ErrorCode = 60
	ErrDelegationTokenAuthDisabled            ErrorCode = 61
	ErrDelegationTokenNotFound                ErrorCode = 62
	ErrDelegationTokenOwnerMismatch           ErrorCode = 63
	ErrDelegationTokenRequestNotAllowed       ErrorCode = 64
	ErrDelegationTokenAuthorizationFailed     ErrorCode = 65
	ErrDelegationTokenExpired                 ErrorCode = 66
	ErrInvalidPrincipalType                   ErrorCode = 67
	ErrNonEmptyGroup                          ErrorCode = 68
	ErrGroupIDNotFound                        ErrorCode = 69
	ErrFetchSessionIDNotFound                 ErrorCode = 70
	ErrInvalidFetchSessionEpoch               ErrorCode = 71
	ErrListenerNotFound                       ErrorCode = 72
	ErrTopicDeletionDisabled                  ErrorCode = 73
	ErrFencedLeaderEpoch                      ErrorCode = 74
	ErrUnknownLeaderEpoch                     ErrorCode = 75
	ErrUnsupportedCompressionType             ErrorCode = 76
	ErrStaleBrokerEpoch                       ErrorCode = 77
	ErrOffsetNotAvailable                     ErrorCode = 78
	ErrMemberIDRequired                       ErrorCode = 79
	ErrPreferredLeaderNotAvailable            ErrorCode = 80
	ErrGroupMaxSizeReached                    ErrorCode = 81
	ErrFencedInstanceID                       ErrorCode = 82
	ErrEligibleLeadersNotAvailable            ErrorCode = 83
	ErrElectionNotNeeded                      ErrorCode = 84
	ErrNoReassignmentInProgress               ErrorCode = 85
	ErrGroupSubscribedToTopic                 ErrorCode = 86
	ErrInvalidRecord                          ErrorCode = 87
	ErrUnstableOffsetCommit                   ErrorCode = 88
	ErrThrottlingQuotaExceeded                ErrorCode = 89
	ErrProducerFenced                         ErrorCode = 90
	ErrResourceNotFound                       ErrorCode = 91
	ErrDuplicateResource                      ErrorCode = 92
	ErrUnacceptableCredential                 ErrorCode = 93
	ErrInconsistentVoterSet                   ErrorCode = 94
	ErrInvalidUpdateVersion                   ErrorCode = 95
	ErrFeatureUpdateFailed                    ErrorCode = 96
	ErrPrincipalDeserializationFailure        ErrorCode = 97
	ErrSnapshotNotFound                       ErrorCode = 98
	ErrPositionOutOfRange                     ErrorCode = 99
	ErrUnknownTopicID                         ErrorCode = 100
	ErrDuplicateBrokerRegistration            ErrorCode = 101
	ErrBrokerIDNotRegistered                  ErrorCode = 102
	ErrInconsistentTopicID                    ErrorCode = 103
	ErrInconsistentClusterID                  ErrorCode = 104
	ErrTransactionalIDNotFound                ErrorCode = 105
	ErrFetchSessionTopicIDError               ErrorCode = 106
	ErrIneligibleReplica                      ErrorCode = 107
	ErrNewLeaderElected                       ErrorCode = 108
	ErrOffsetMovedToTieredStorage             ErrorCode = 109
	ErrFencedMemberEpoch                      ErrorCode = 110
	ErrUnreleasedInstanceID                   ErrorCode = 111
	ErrUnsupportedAssignor                    ErrorCode = 112
	ErrStaleMemberEpoch                       ErrorCode = 113
	ErrMismatchedEndpointType                 ErrorCode = 114
	ErrUnsupportedEndpointType                ErrorCode = 115
	ErrUnknownControllerID                    ErrorCode = 116
	ErrUnknownSubscriptionID                  ErrorCode = 117
	ErrTelemetryTooLarge                      ErrorCode = 118
	ErrInvalidRegistration                    ErrorCode = 119
	ErrTransactionAbortable                   ErrorCode = 120
	ErrInvalidRecordState                     ErrorCode = 121
	ErrShareSessionNotFound                   ErrorCode = 122
	ErrInvalidShareSessionEpoch               ErrorCode = 123
	ErrFencedStateEpoch                       ErrorCode = 124
	ErrInvalidVoterKey                        ErrorCode = 125
	ErrDuplicateVoter                         ErrorCode = 126
	ErrVoterNotFound                          ErrorCode = 127
	ErrInvalidRegularExpression               ErrorCode = 128
	ErrRebootstrapRequired                    ErrorCode = 129
	ErrStreamsInvalidTopology                 ErrorCode = 130
	ErrStreamsInvalidTopologyEpoch            ErrorCode = 131
	ErrStreamsTopologyFenced                  ErrorCode = 132
	ErrShareSessionLimitReached               ErrorCode = 133
	ErrGroupDeletionFailed                    ErrorCode = 134
	ErrStreamsTopologyDescriptionUpdateFailed ErrorCode = 135
	ErrControllerIDNotRegistered              ErrorCode = 136
)

// errorInfo is what is known of one code.
type errorInfo struct {
	name      string
	retriable bool
	exception string // simple name of Apache's Java class
}

// errorInfos is indexed by code+1, so that -1 has a place.
var errorInfos = [...]errorInfo{
	{"UNKNOWN_SERVER_ERROR", false, "UnknownServerException"},
	{"NONE", false, ""},
	{"OFFSET_OUT_OF_RANGE", false, "OffsetOutOfRangeException"},
	{"CORRUPT_MESSAGE", true, "CorruptRecordException"},
	{"UNKNOWN_TOPIC_OR_PARTITION", true, "UnknownTopicOrPartitionException"},
	{"INVALID_FETCH_SIZE", false, "InvalidFetchSizeException"},
	{"LEADER_NOT_AVAILABLE", true, "LeaderNotAvailableException"},
	{"NOT_LEADER_OR_FOLLOWER", true, "NotLeaderOrFollowerException"},
	{"REQUEST_TIMED_OUT", true, "TimeoutException"},
	{"BROKER_NOT_AVAILABLE", false, "BrokerNotAvailableException"},
	{"REPLICA_NOT_AVAILABLE", true, "ReplicaNotAvailableException"},
	{"MESSAGE_TOO_LARGE", false, "RecordTooLargeException"},
	{"STALE_CONTROLLER_EPOCH", false, "ControllerMovedException"},
	{"OFFSET_METADATA_TOO_LARGE", false, "OffsetMetadataTooLarge"},
	{"NETWORK_EXCEPTION", true, "NetworkException"},
	{"COORDINATOR_LOAD_IN_PROGRESS", true, "CoordinatorLoadInProgressException"},
	{"COORDINATOR_NOT_AVAILABLE", true, "CoordinatorNotAvailableException"},
	{"NOT_COORDINATOR", true, "NotCoordinatorException"},
	{"INVALID_TOPIC_EXCEPTION", false, "InvalidTopicException"},
	{"RECORD_LIST_TOO_LARGE", false, "RecordBatchTooLargeException"},
	{"NOT_ENOUGH_REPLICAS", true, "NotEnoughReplicasException"},
	{"NOT_ENOUGH_REPLICAS_AFTER_APPEND", true, "NotEnoughReplicasAfterAppendException"},
	{"INVALID_REQUIRED_ACKS", false, "InvalidRequiredAcksException"},
	{"ILLEGAL_GENERATION", false, "IllegalGenerationException"},
	{"INCONSISTENT_GROUP_PROTOCOL", false, "InconsistentGroupProtocolException"},
	{"INVALID_GROUP_ID", false, "InvalidGroupIdException"},
	{"UNKNOWN_MEMBER_ID", false, "UnknownMemberIdException"},
	{"INVALID_SESSION_TIMEOUT", false, "InvalidSessionTimeoutException"},
	{"REBALANCE_IN_PROGRESS", false, "RebalanceInProgressException"},
	{"INVALID_COMMIT_OFFSET_SIZE", false, "InvalidCommitOffsetSizeException"},
	{"TOPIC_AUTHORIZATION_FAILED", false, "TopicAuthorizationException"},
	{"GROUP_AUTHORIZATION_FAILED", false, "GroupAuthorizationException"},
	{"CLUSTER_AUTHORIZATION_FAILED", false, "ClusterAuthorizationException"},
	{"INVALID_TIMESTAMP", false, "InvalidTimestampException"},
	{"UNSUPPORTED_SASL_MECHANISM", false, "UnsupportedSaslMechanismException"},
	{"ILLEGAL_SASL_STATE", false, "IllegalSaslStateException"},
	{"UNSUPPORTED_VERSION", false, "UnsupportedVersionException"},
	{"TOPIC_ALREADY_EXISTS", false, "TopicExistsException"},
	{"INVALID_PARTITIONS", false, "InvalidPartitionsException"},
	{"INVALID_REPLICATION_FACTOR", false, "InvalidReplicationFactorException"},
	{"INVALID_REPLICA_ASSIGNMENT", false, "InvalidReplicaAssignmentException"},
	{"INVALID_CONFIG", false, "InvalidConfigurationException"},
	{"NOT_CONTROLLER", true, "NotControllerException"},
	{"INVALID_REQUEST", false, "InvalidRequestException"},
	{"UNSUPPORTED_FOR_MESSAGE_FORMAT", false, "UnsupportedForMessageFormatException"},
	{"POLICY_VIOLATION", false, "PolicyViolationException"},
	{"OUT_OF_ORDER_SEQUENCE_NUMBER", false, "OutOfOrderSequenceException"},
	{"DUPLICATE_SEQUENCE_NUMBER", false, "DuplicateSequenceException"},
	{"INVALID_PRODUCER_EPOCH", false, "InvalidProducerEpochException"},
	{"INVALID_TXN_STATE", false, "InvalidTxnStateException"},
	{"INVALID_PRODUCER_ID_MAPPING", false, "InvalidPidMappingException"},
	{"INVALID_TRANSACTION_TIMEOUT", false, "InvalidTxnTimeoutException"},
	{"CONCURRENT_TRANSACTIONS", true, "ConcurrentTransactionsException"},
	{"TRANSACTION_COORDINATOR_FENCED", false, "TransactionCoordinatorFencedException"},
	{"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", false, "TransactionalIdAuthorizationException"},
	{"SECURITY_DISABLED", false, "SecurityDisabledException"},
	{"OPERATION_NOT_ATTEMPTED", false, "OperationNotAttemptedException"},
	{"KAFKA_STORAGE_ERROR", true, "KafkaStorageException"},
	{"LOG_DIR_NOT_FOUND", false, "LogDirNotFoundException"},
	{"SASL_AUTHENTICATION_FAILED", false, "SaslAuthenticationException"},
	{"UNKNOWN_PRODUCER_ID", false, "UnknownProducerIdException"},
	{"REASSIGNMENT_IN_PROGRESS", false, "ReassignmentInProgressException"},
	{"DELEGATION_TOKEN_AUTH_DISABLED", false, "DelegationTokenDisabledException"},
	{"DELEGATION_TOKEN_NOT_FOUND", false, "DelegationTokenNotFoundException"},
	{"DELEGATION_TOKEN_OWNER_MISMATCH", false, "DelegationTokenOwnerMismatchException"},
	{"DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", false, "UnsupportedByAuthenticationException"},
	{"DELEGATION_TOKEN_AUTHORIZATION_FAILED", false, "DelegationTokenAuthorizationException"},
	{"DELEGATION_TOKEN_EXPIRED", false, "DelegationTokenExpiredException"},
	{"INVALID_PRINCIPAL_TYPE", false, "InvalidPrincipalTypeException"},
	{"NON_EMPTY_GROUP", false, "GroupNotEmptyException"},
	{"GROUP_ID_NOT_FOUND", false, "GroupIdNotFoundException"},
	{"FETCH_SESSION_ID_NOT_FOUND", true, "FetchSessionIdNotFoundException"},
	{"INVALID_FETCH_SESSION_EPOCH", true, "InvalidFetchSessionEpochException"},
	{"LISTENER_NOT_FOUND", true, "ListenerNotFoundException"},
	{"TOPIC_DELETION_DISABLED", false, "TopicDeletionDisabledException"},
	{"FENCED_LEADER_EPOCH", true, "FencedLeaderEpochException"},
	{"UNKNOWN_LEADER_EPOCH", true, "UnknownLeaderEpochException"},
	{"UNSUPPORTED_COMPRESSION_TYPE", false, "UnsupportedCompressionTypeException"},
	{"STALE_BROKER_EPOCH", false, "StaleBrokerEpochException"},
	{"OFFSET_NOT_AVAILABLE", true, "OffsetNotAvailableException"},
	{"MEMBER_ID_REQUIRED", false, "MemberIdRequiredException"},
	{"PREFERRED_LEADER_NOT_AVAILABLE", true, "PreferredLeaderNotAvailableException"},
	{"GROUP_MAX_SIZE_REACHED", false, "GroupMaxSizeReachedException"},
	{"FENCED_INSTANCE_ID", false, "FencedInstanceIdException"},
	{"ELIGIBLE_LEADERS_NOT_AVAILABLE", true, "EligibleLeadersNotAvailableException"},
	{"ELECTION_NOT_NEEDED", true, "ElectionNotNeededException"},
	{"NO_REASSIGNMENT_IN_PROGRESS", false, "NoReassignmentInProgressException"},
	{"GROUP_SUBSCRIBED_TO_TOPIC", false, "GroupSubscribedToTopicException"},
	{"INVALID_RECORD", false, "InvalidRecordException"},
	{"UNSTABLE_OFFSET_COMMIT", true, "UnstableOffsetCommitException"},
	{"THROTTLING_QUOTA_EXCEEDED", true, "ThrottlingQuotaExceededException"},
	{"PRODUCER_FENCED", false, "ProducerFencedException"},
	{"RESOURCE_NOT_FOUND", false, "ResourceNotFoundException"},
	{"DUPLICATE_RESOURCE", false, "DuplicateResourceException"},
	{"UNACCEPTABLE_CREDENTIAL", false, "UnacceptableCredentialException"},
	{"INCONSISTENT_VOTER_SET", false, "InconsistentVoterSetException"},
	{"INVALID_UPDATE_VERSION", false, "InvalidUpdateVersionException"},
	{"FEATURE_UPDATE_FAILED", false, "FeatureUpdateFailedException"},
	{"PRINCIPAL_DESERIALIZATION_FAILURE", false, "PrincipalDeserializationException"},
	{"SNAPSHOT_NOT_FOUND", false, "SnapshotNotFoundException"},
	{"POSITION_OUT_OF_RANGE", false, "PositionOutOfRangeException"},
	{"UNKNOWN_TOPIC_ID", true, "UnknownTopicIdException"},
	{"DUPLICATE_BROKER_REGISTRATION", false, "DuplicateBrokerRegistrationException"},
	{"BROKER_ID_NOT_REGISTERED", false, "BrokerIdNotRegisteredException"},
	{"INCONSISTENT_TOPIC_ID", true, "InconsistentTopicIdException"},
	{"INCONSISTENT_CLUSTER_ID", false, "InconsistentClusterIdException"},
	{"TRANSACTIONAL_ID_NOT_FOUND", false, "TransactionalIdNotFoundException"},
	{"FETCH_SESSION_TOPIC_ID_ERROR", true, "FetchSessionTopicIdException"},
	{"INELIGIBLE_REPLICA", false, "IneligibleReplicaException"},
	{"NEW_LEADER_ELECTED", false, "NewLeaderElectedException"},
	{"OFFSET_MOVED_TO_TIERED_STORAGE", false, "OffsetMovedToTieredStorageException"},
	{"FENCED_MEMBER_EPOCH", false, "FencedMemberEpochException"},
	{"UNRELEASED_INSTANCE_ID", false, "UnreleasedInstanceIdException"},
	{"UNSUPPORTED_ASSIGNOR", false, "UnsupportedAssignorException"},
	{"STALE_MEMBER_EPOCH", false, "StaleMemberEpochException"},
	{"MISMATCHED_ENDPOINT_TYPE", false, "MismatchedEndpointTypeException"},
	{"UNSUPPORTED_ENDPOINT_TYPE", false, "UnsupportedEndpointTypeException"},
	{"UNKNOWN_CONTROLLER_ID", false, "UnknownControllerIdException"},
	{"UNKNOWN_SUBSCRIPTION_ID", false, "UnknownSubscriptionIdException"},
	{"TELEMETRY_TOO_LARGE", false, "TelemetryTooLargeException"},
	{"INVALID_REGISTRATION", false, "InvalidRegistrationException"},
	{"TRANSACTION_ABORTABLE", false, "TransactionAbortableException"},
	{"INVALID_RECORD_STATE", false, "InvalidRecordStateException"},
	{"SHARE_SESSION_NOT_FOUND", true, "ShareSessionNotFoundException"},
	{"INVALID_SHARE_SESSION_EPOCH", true, "InvalidShareSessionEpochException"},
	{"FENCED_STATE_EPOCH", false, "FencedStateEpochException"},
	{"INVALID_VOTER_KEY", false, "InvalidVoterKeyException"},
	{"DUPLICATE_VOTER", false, "DuplicateVoterException"},
	{"VOTER_NOT_FOUND", false, "VoterNotFoundException"},
	{"INVALID_REGULAR_EXPRESSION", false, "InvalidRegularExpression"},
	{"REBOOTSTRAP_REQUIRED", false, "RebootstrapRequiredException"},
	{"STREAMS_INVALID_TOPOLOGY", false, "StreamsInvalidTopologyException"},
	{"STREAMS_INVALID_TOPOLOGY_EPOCH", false, "StreamsInvalidTopologyEpochException"},
	{"STREAMS_TOPOLOGY_FENCED", false, "StreamsTopologyFencedException"},
	{"SHARE_SESSION_LIMIT_REACHED", true, "ShareSessionLimitReachedException"},
	{"GROUP_DELETION_FAILED", false, "GroupDeletionFailedException"},
	{"STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED", false, "StreamsTopologyDescriptionUpdateFailedException"},
	{"CONTROLLER_ID_NOT_REGISTERED", false, "ControllerIdNotRegisteredException"},
}

func (c ErrorCode) info() (errorInfo, bool) {
	if i := int(c) + 1; i >= 0 && i < len(errorInfos) {
		return errorInfos[i], true
	}
	return errorInfo{}, false
}

// String returns the name in capitals, such as "OFFSET_OUT_OF_RANGE".
func (c ErrorCode) String() string {
	if i, ok := c.info(); ok {
		return i.name
	}
	return "UNKNOWN_ERROR_CODE_" + strconv.Itoa(int(c))
}

// Retriable says whether Apache's Java client tries again after this error.
func (c ErrorCode) Retriable() bool {
	i, _ := c.info()
	return i.retriable
}

// Exception is the Java class that Apache's tools print for this error, such as
// "org.apache.kafka.common.errors.TopicExistsException"; scripts look for it.
func (c ErrorCode) Exception() string {
	i, ok := c.info()
	if !ok || i.exception == "" {
		return "org.apache.kafka.common.errors.UnknownServerException"
	}
	return "org.apache.kafka.common.errors." + i.exception
}

// Error is the name; it lets a code travel as a Go error inside a package.
// ErrNone must never be returned as an error.
func (c ErrorCode) Error() string { return c.String() }

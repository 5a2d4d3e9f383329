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
}

// errorInfos is indexed by code+1, so that -1 has a place.
var errorInfos = [...]errorInfo{
	{"UNKNOWN_SERVER_ERROR", false},
	{"NONE", false},
	{"OFFSET_OUT_OF_RANGE", false},
	{"CORRUPT_MESSAGE", true},
	{"UNKNOWN_TOPIC_OR_PARTITION", true},
	{"INVALID_FETCH_SIZE", false},
	{"LEADER_NOT_AVAILABLE", true},
	{"NOT_LEADER_OR_FOLLOWER", true},
	{"REQUEST_TIMED_OUT", true},
	{"BROKER_NOT_AVAILABLE", false},
	{"REPLICA_NOT_AVAILABLE", true},
	{"MESSAGE_TOO_LARGE", false},
	{"STALE_CONTROLLER_EPOCH", false},
	{"OFFSET_METADATA_TOO_LARGE", false},
	{"NETWORK_EXCEPTION", true},
	{"COORDINATOR_LOAD_IN_PROGRESS", true},
	{"COORDINATOR_NOT_AVAILABLE", true},
	{"NOT_COORDINATOR", true},
	{"INVALID_TOPIC_EXCEPTION", false},
	{"RECORD_LIST_TOO_LARGE", false},
	{"NOT_ENOUGH_REPLICAS", true},
	{"NOT_ENOUGH_REPLICAS_AFTER_APPEND", true},
	{"INVALID_REQUIRED_ACKS", false},
	{"ILLEGAL_GENERATION", false},
	{"INCONSISTENT_GROUP_PROTOCOL", false},
	{"INVALID_GROUP_ID", false},
	{"UNKNOWN_MEMBER_ID", false},
	{"INVALID_SESSION_TIMEOUT", false},
	{"REBALANCE_IN_PROGRESS", false},
	{"INVALID_COMMIT_OFFSET_SIZE", false},
	{"TOPIC_AUTHORIZATION_FAILED", false},
	{"GROUP_AUTHORIZATION_FAILED", false},
	{"CLUSTER_AUTHORIZATION_FAILED", false},
	{"INVALID_TIMESTAMP", false},
	{"UNSUPPORTED_SASL_MECHANISM", false},
	{"ILLEGAL_SASL_STATE", false},
	{"UNSUPPORTED_VERSION", false},
	{"TOPIC_ALREADY_EXISTS", false},
	{"INVALID_PARTITIONS", false},
	{"INVALID_REPLICATION_FACTOR", false},
	{"INVALID_REPLICA_ASSIGNMENT", false},
	{"INVALID_CONFIG", false},
	{"NOT_CONTROLLER", true},
	{"INVALID_REQUEST", false},
	{"UNSUPPORTED_FOR_MESSAGE_FORMAT", false},
	{"POLICY_VIOLATION", false},
	{"OUT_OF_ORDER_SEQUENCE_NUMBER", false},
	{"DUPLICATE_SEQUENCE_NUMBER", false},
	{"INVALID_PRODUCER_EPOCH", false},
	{"INVALID_TXN_STATE", false},
	{"INVALID_PRODUCER_ID_MAPPING", false},
	{"INVALID_TRANSACTION_TIMEOUT", false},
	{"CONCURRENT_TRANSACTIONS", true},
	{"TRANSACTION_COORDINATOR_FENCED", false},
	{"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", false},
	{"SECURITY_DISABLED", false},
	{"OPERATION_NOT_ATTEMPTED", false},
	{"KAFKA_STORAGE_ERROR", true},
	{"LOG_DIR_NOT_FOUND", false},
	{"SASL_AUTHENTICATION_FAILED", false},
	{"UNKNOWN_PRODUCER_ID", false},
	{"REASSIGNMENT_IN_PROGRESS", false},
	{"DELEGATION_TOKEN_AUTH_DISABLED", false},
	{"DELEGATION_TOKEN_NOT_FOUND", false},
	{"DELEGATION_TOKEN_OWNER_MISMATCH", false},
	{"DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", false},
	{"DELEGATION_TOKEN_AUTHORIZATION_FAILED", false},
	{"DELEGATION_TOKEN_EXPIRED", false},
	{"INVALID_PRINCIPAL_TYPE", false},
	{"NON_EMPTY_GROUP", false},
	{"GROUP_ID_NOT_FOUND", false},
	{"FETCH_SESSION_ID_NOT_FOUND", true},
	{"INVALID_FETCH_SESSION_EPOCH", true},
	{"LISTENER_NOT_FOUND", true},
	{"TOPIC_DELETION_DISABLED", false},
	{"FENCED_LEADER_EPOCH", true},
	{"UNKNOWN_LEADER_EPOCH", true},
	{"UNSUPPORTED_COMPRESSION_TYPE", false},
	{"STALE_BROKER_EPOCH", false},
	{"OFFSET_NOT_AVAILABLE", true},
	{"MEMBER_ID_REQUIRED", false},
	{"PREFERRED_LEADER_NOT_AVAILABLE", true},
	{"GROUP_MAX_SIZE_REACHED", false},
	{"FENCED_INSTANCE_ID", false},
	{"ELIGIBLE_LEADERS_NOT_AVAILABLE", true},
	{"ELECTION_NOT_NEEDED", true},
	{"NO_REASSIGNMENT_IN_PROGRESS", false},
	{"GROUP_SUBSCRIBED_TO_TOPIC", false},
	{"INVALID_RECORD", false},
	{"UNSTABLE_OFFSET_COMMIT", true},
	{"THROTTLING_QUOTA_EXCEEDED", true},
	{"PRODUCER_FENCED", false},
	{"RESOURCE_NOT_FOUND", false},
	{"DUPLICATE_RESOURCE", false},
	{"UNACCEPTABLE_CREDENTIAL", false},
	{"INCONSISTENT_VOTER_SET", false},
	{"INVALID_UPDATE_VERSION", false},
	{"FEATURE_UPDATE_FAILED", false},
	{"PRINCIPAL_DESERIALIZATION_FAILURE", false},
	{"SNAPSHOT_NOT_FOUND", false},
	{"POSITION_OUT_OF_RANGE", false},
	{"UNKNOWN_TOPIC_ID", true},
	{"DUPLICATE_BROKER_REGISTRATION", false},
	{"BROKER_ID_NOT_REGISTERED", false},
	{"INCONSISTENT_TOPIC_ID", true},
	{"INCONSISTENT_CLUSTER_ID", false},
	{"TRANSACTIONAL_ID_NOT_FOUND", false},
	{"FETCH_SESSION_TOPIC_ID_ERROR", true},
	{"INELIGIBLE_REPLICA", false},
	{"NEW_LEADER_ELECTED", false},
	{"OFFSET_MOVED_TO_TIERED_STORAGE", false},
	{"FENCED_MEMBER_EPOCH", false},
	{"UNRELEASED_INSTANCE_ID", false},
	{"UNSUPPORTED_ASSIGNOR", false},
	{"STALE_MEMBER_EPOCH", false},
	{"MISMATCHED_ENDPOINT_TYPE", false},
	{"UNSUPPORTED_ENDPOINT_TYPE", false},
	{"UNKNOWN_CONTROLLER_ID", false},
	{"UNKNOWN_SUBSCRIPTION_ID", false},
	{"TELEMETRY_TOO_LARGE", false},
	{"INVALID_REGISTRATION", false},
	{"TRANSACTION_ABORTABLE", false},
	{"INVALID_RECORD_STATE", false},
	{"SHARE_SESSION_NOT_FOUND", true},
	{"INVALID_SHARE_SESSION_EPOCH", true},
	{"FENCED_STATE_EPOCH", false},
	{"INVALID_VOTER_KEY", false},
	{"DUPLICATE_VOTER", false},
	{"VOTER_NOT_FOUND", false},
	{"INVALID_REGULAR_EXPRESSION", false},
	{"REBOOTSTRAP_REQUIRED", false},
	{"STREAMS_INVALID_TOPOLOGY", false},
	{"STREAMS_INVALID_TOPOLOGY_EPOCH", false},
	{"STREAMS_TOPOLOGY_FENCED", false},
	{"SHARE_SESSION_LIMIT_REACHED", true},
	{"GROUP_DELETION_FAILED", false},
	{"STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED", false},
	{"CONTROLLER_ID_NOT_REGISTERED", false},
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

// Error is the name; it lets a code travel as a Go error inside a package.
// ErrNone must never be returned as an error.
func (c ErrorCode) Error() string { return c.String() }

package kafka

import (
	"fmt"
	"strings"
)

// Names of the internal topics and of the metadata log.
const (
	ConsumerOffsetsTopic   = "__consumer_offsets"
	TransactionStateTopic  = "__transaction_state"
	ShareGroupStateTopic   = "__share_group_state"
	ClusterMetadataTopic   = "__cluster_metadata"
	RemoteLogMetadataTopic = "__remote_log_metadata"
)

// MaxTopicNameLength is the longest topic name, in bytes (class Topic).
const MaxTopicNameLength = 249

// IsInternalTopic says whether clients see the topic marked as internal
// (class Topic, INTERNAL_TOPICS).
func IsInternalTopic(name string) bool {
	return name == ConsumerOffsetsTopic || name == TransactionStateTopic || name == ShareGroupStateTopic
}

// CheckTopicName returns an error with Apache's text if name breaks the rules
// for topic names (class Topic, validate).
func CheckTopicName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("Topic name is invalid: the empty string is not allowed")
	case name == ".":
		return fmt.Errorf("Topic name is invalid: '.' is not allowed")
	case name == "..":
		return fmt.Errorf("Topic name is invalid: '..' is not allowed")
	case len(name) > MaxTopicNameLength:
		return fmt.Errorf("Topic name is invalid: the length of '%s' is longer than the max allowed length %d", name, MaxTopicNameLength)
	}
	for i := 0; i < len(name); i++ {
		if !topicNameByte(name[i]) {
			return fmt.Errorf("Topic name is invalid: '%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", name)
		}
	}
	return nil
}

func topicNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// TopicNameCollisionKey maps names that collide in metric names to one key:
// '.' and '_' count as the same character.
func TopicNameCollisionKey(name string) string { return strings.ReplaceAll(name, ".", "_") }

package logdir

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"barnabas/internal/kafka"
)

// Kind says what a replica's folder is.
type Kind uint8

// The kinds of folders.
const (
	Live     Kind = iota // <topic>-<partition>
	Deleted              // <topic>-<partition>.<32 hex>-delete: to be removed after a while
	Future               // <topic>-<partition>.<32 hex>-future: being filled, to take a live one's place
	Stray                // <topic>-<partition>.<32 hex>-stray: not assigned to this node
	Metadata             // __cluster_metadata-0
)

var suffixes = map[Kind]string{Deleted: "-delete", Future: "-future", Stray: "-stray"}

// maxName is the longest name that file systems take.
const maxName = 255

// Name is the folder of a live replica.
func Name(tp kafka.TopicPartition) string { return tp.String() }

// Mark is the name of the folder of a replica that is Deleted, Future or Stray.
// The topic is cut short where the name would be too long, but not for Future,
// since that name is needed whole again.
func Mark(tp kafka.TopicPartition, kind Kind, unique kafka.UUID) string {
	suffix := "-" + strconv.Itoa(int(tp.Partition)) + "." + hex.EncodeToString(unique[:]) + suffixes[kind]
	topic := tp.Topic
	if kind != Future {
		topic = topic[:min(len(topic), maxName-len(suffix))]
	}
	return topic + suffix
}

// NameError says that a folder of a log directory is none of Kafka's. A node does
// not start then: the directory may be someone else's.
type NameError struct {
	Dir  string // the log directory
	Name string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("Found directory %s/%s, '%s' is not in the form of topic-partition or topic-partition.uniqueId-delete (if marked for deletion).\n"+
		"Kafka's log directories (and children) should only contain Kafka topic data.", e.Dir, e.Name, e.Name)
}

var marked = regexp.MustCompile(`^(\S+)-(\S+)\.(\S+)-(?:delete|future|stray)$`)

// ParseName says what a folder is by its name (UnifiedLog,
// parseTopicPartitionName). The topic of a Deleted or Stray folder may be cut
// short. ok is false for names that are none of Kafka's.
func ParseName(name string) (tp kafka.TopicPartition, kind Kind, ok bool) {
	for k, suffix := range suffixes {
		if strings.HasSuffix(name, suffix) {
			kind = k
		}
	}
	base := name
	if kind != Live {
		if !marked.MatchString(name) {
			return kafka.TopicPartition{}, kind, false
		}
		base = name[:strings.LastIndexByte(name, '.')]
	}
	dash := strings.LastIndexByte(base, '-')
	if dash <= 0 {
		return kafka.TopicPartition{}, kind, false
	}
	partition, err := strconv.ParseInt(base[dash+1:], 10, 32)
	if err != nil {
		return kafka.TopicPartition{}, kind, false
	}
	tp = kafka.TopicPartition{Topic: base[:dash], Partition: int32(partition)}
	if kind == Live && tp.Topic == kafka.ClusterMetadataTopic {
		kind = Metadata
	}
	return tp, kind, true
}

package controller

import (
	"fmt"

	"barnabas/internal/kafka"
)

// maxRecords is how many records, and how many new partitions, one user's request
// may make (invariant 4).
const maxRecords = 10_000

// refusal is why something is not done: the code and Apache's text for people.
type refusal struct {
	code    kafka.ErrorCode
	message string // "" is null on the wire
}

func refuse(code kafka.ErrorCode, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// text is the message as the wire has it.
func (r *refusal) text() *string {
	if r.message == "" {
		return nil
	}
	return &r.message
}

// Texts that Apache gives with a code where nothing more is known (class Errors).
var (
	unknownTopic   = refusal{kafka.ErrUnknownTopicOrPartition, "This server does not host this topic-partition."}
	unknownTopicID = refusal{kafka.ErrUnknownTopicID, "This server does not host this topic ID."}
)

// noSpace is the answer to what the metadata log has no space for. Clients try again
// after its code.
var noSpace = refusal{kafka.ErrKafkaStorageError, "The disk of the metadata log is full."}

func tooManyRecords() *refusal {
	return refuse(kafka.ErrPolicyViolation, "Unable to perform excessively large batch operation.")
}

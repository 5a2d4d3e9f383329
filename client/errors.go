package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Errors that a broker answered wrap Kafka's error codes; errors.Is finds them. These
// are the ones that applications act on; every other code of the protocol is a
// variable of github.com/twmb/franz-go/pkg/kerr and is found in the same way, and
// Code tells the number and the name. Beside each stands Java's exception.
var (
	ErrTimeout                = kerr.RequestTimedOut                    // TimeoutException: a limit such as max.block.ms or delivery.timeout.ms has passed
	ErrUnknownTopic           = kerr.UnknownTopicOrPartition            // UnknownTopicOrPartitionException
	ErrInvalidTopic           = kerr.InvalidTopicException              // InvalidTopicException
	ErrTopicExists            = kerr.TopicAlreadyExists                 // TopicExistsException
	ErrRecordTooLarge         = kerr.MessageTooLarge                    // RecordTooLargeException
	ErrNotEnoughReplicas      = kerr.NotEnoughReplicas                  // NotEnoughReplicasException
	ErrOffsetOutOfRange       = kerr.OffsetOutOfRange                   // OffsetOutOfRangeException
	ErrOutOfOrderSequence     = kerr.OutOfOrderSequenceNumber           // OutOfOrderSequenceException
	ErrProducerFenced         = kerr.ProducerFenced                     // ProducerFencedException
	ErrInvalidProducerEpoch   = kerr.InvalidProducerEpoch               // InvalidProducerEpochException
	ErrInvalidTxnState        = kerr.InvalidTxnState                    // InvalidTxnStateException
	ErrTransactionAbortable   = kerr.TransactionAbortable               // TransactionAbortableException
	ErrConcurrentTransactions = kerr.ConcurrentTransactions             // ConcurrentTransactionsException
	ErrFencedInstanceID       = kerr.FencedInstanceID                   // FencedInstanceIdException
	ErrUnknownMember          = kerr.UnknownMemberID                    // UnknownMemberIdException
	ErrRebalanceInProgress    = kerr.RebalanceInProgress                // RebalanceInProgressException
	ErrGroupNotEmpty          = kerr.NonEmptyGroup                      // GroupNotEmptyException
	ErrUnknownGroup           = kerr.GroupIDNotFound                    // GroupIdNotFoundException
	ErrSubscribedToTopic      = kerr.GroupSubscribedToTopic             // GroupSubscribedToTopicException
	ErrTopicAuthorization     = kerr.TopicAuthorizationFailed           // TopicAuthorizationException
	ErrGroupAuthorization     = kerr.GroupAuthorizationFailed           // GroupAuthorizationException
	ErrTransactionalIDAuth    = kerr.TransactionalIDAuthorizationFailed // TransactionalIdAuthorizationException
	ErrClusterAuthorization   = kerr.ClusterAuthorizationFailed         // ClusterAuthorizationException
	ErrUnsupportedVersion     = kerr.UnsupportedVersion                 // UnsupportedVersionException
	ErrPolicyViolation        = kerr.PolicyViolation                    // PolicyViolationException
)

// Errors of this side, which no broker sends.
var (
	// ErrClosed says that the client is closed.
	ErrClosed = errors.New("the client is closed")
	// ErrIllegalState says that a call doesn't fit what was called before it, such as
	// CommitTransaction without BeginTransaction (IllegalStateException).
	ErrIllegalState = errors.New("illegal state")
	// ErrCommitFailed says that offsets were not committed because the group has gone
	// on without this member, most often because it did not call Poll for
	// max.poll.interval.ms. What was polled will be delivered again, to whoever owns the
	// partitions now (CommitFailedException).
	ErrCommitFailed = errors.New("the group has gone on without this member")
	// ErrNoOffset says that nothing is committed for a partition and auto.offset.reset
	// is none (NoOffsetForPartitionException).
	ErrNoOffset = errors.New("no offset is committed and auto.offset.reset is none")
	// ErrTransactionAborted is what records are told that were still in the buffer when
	// their transaction was aborted (TransactionAbortedException).
	ErrTransactionAborted = errors.New("the transaction was aborted before the record was sent")
)

// Code is Kafka's error code within err and its name, such as 47 and
// INVALID_PRODUCER_EPOCH; it is 0 and "" when there is none.
func Code(err error) (code int16, name string) {
	if e, ok := errors.AsType[*kerr.Error](err); ok {
		return e.Code, e.Message
	}
	return 0, ""
}

// IsRetriable says that the same call may succeed later (RetriableException).
func IsRetriable(err error) bool { return kerr.IsRetriable(err) }

// IsFatal says that a producer cannot go on after err: close it. A transaction that was
// open is aborted by its coordinator, or was already ended by the producer that has
// fenced this one. Java's application does the same with ProducerFencedException and
// its like.
func IsFatal(err error) bool {
	e, ok := errors.AsType[*transactionError](err)
	return ok && e.fatal
}

// IsAbortable says that the transaction can't be committed and that AbortTransaction
// makes the producer usable again.
func IsAbortable(err error) bool {
	e, ok := errors.AsType[*transactionError](err)
	return ok && !e.fatal
}

// transactionError is what ended a transaction, or the producer.
type transactionError struct {
	fatal bool
	err   error
}

func (e *transactionError) Error() string {
	if e.fatal {
		return "the producer can't go on: " + e.err.Error()
	}
	return "the transaction must be aborted: " + e.err.Error()
}

func (e *transactionError) Unwrap() error { return e.err }

// ResourceError, alone or one of several joined, says which topic, group or other resource a
// part of a call was refused for.
type ResourceError struct {
	Resource string // such as "topic orders", "partition orders-3", "group billing"
	Err      error  // wraps Kafka's code
}

func (e *ResourceError) Error() string { return e.Resource + ": " + e.Err.Error() }

// Unwrap is the error of the resource.
func (e *ResourceError) Unwrap() error { return e.Err }

// refusal is the error of a resource, nil if there is none. Text is what the broker
// said more.
func refusal(resource string, err error, text string) error {
	if err == nil {
		return nil
	}
	if text != "" {
		err = fmt.Errorf("%w (%s)", err, text)
	}
	return &ResourceError{resource, err}
}

// told is an error of the engine in this package's words.
func told(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kgo.ErrClientClosed):
		return ErrClosed
	case errors.Is(err, kgo.ErrAborting):
		return ErrTransactionAborted
	}
	return err
}

// illegal is an ErrIllegalState.
func illegal(why string) error { return fmt.Errorf("%w: %s", ErrIllegalState, why) }

// outOfTime turns the end of a limit that we set ourselves into ErrTimeout, and leaves
// the end of the caller's context as it is.
func outOfTime(caller context.Context, err error, what string) error {
	if err == nil {
		return nil
	}
	if caller.Err() != nil {
		return fmt.Errorf("%s: %w", what, context.Cause(caller))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %s", ErrTimeout, what)
	}
	return fmt.Errorf("%s: %w", what, told(err))
}

package internaltopics

import (
	"errors"
	"fmt"
	"strconv"

	"barnabas/internal/kafka/msgfmt"
)

// The one record type of __transaction_state: the key is type i16 0 and the
// transactional id; the value is its version i16, 0 or 1, and the state. In
// version 0 strings and arrays have plain lengths, in version 1 they are compact
// and tagged fields follow (KIP-890).

var errTxnRecord = errors.New("the message is cut off or too long")

type txnKeyJSON struct {
	TransactionalID string `json:"transactionalId"`
}

// TransactionKey decodes a key of __transaction_state.
func TransactionKey(b []byte) (int16, []byte, error) {
	r := msgfmt.NewReader(b, false)
	if t := r.Int16(); t != 0 {
		return t, nil, UnknownTypeError(t)
	}
	k := txnKeyJSON{r.String()}
	if rest, err := r.Finish("TransactionLogKey", 0); err != nil || len(rest) > 0 {
		return 0, nil, errTxnRecord
	}
	return 0, coordinatorJSON("type", 0, k), nil
}

// txnPartitions is the partitions of one topic in a transaction.
type txnPartitions struct {
	Topic      string  `json:"topic"`
	Partitions []int32 `json:"partitionIds"`
}

// txnValueJSON has the fields in the order of Apache's schema. Tagged fields are
// left out where they are at their default.
type txnValueJSON struct {
	ProducerID         int64           `json:"producerId"`
	PreviousProducerID *int64          `json:"previousProducerId,omitempty"`
	NextProducerID     *int64          `json:"nextProducerId,omitempty"`
	ProducerEpoch      int16           `json:"producerEpoch"`
	NextProducerEpoch  *int16          `json:"nextProducerEpoch,omitempty"`
	TimeoutMs          int32           `json:"transactionTimeoutMs"`
	Status             string          `json:"transactionStatus"`
	Partitions         []txnPartitions `json:"transactionPartitions"`
	LastUpdate         int64           `json:"transactionLastUpdateTimestampMs"`
	Start              int64           `json:"transactionStartTimestampMs"`
	ClientVersion      *int16          `json:"clientTransactionVersion,omitempty"`
}

// txnStates are the states by their number (class TransactionState).
var txnStates = [...]string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"}

// TransactionValue decodes a value of __transaction_state.
func TransactionValue(_ int16, b []byte) ([]byte, error) {
	r := msgfmt.NewReader(b, false)
	version := r.Int16()
	if version < 0 || version > 1 {
		return nil, errors.New("unknown value version " + strconv.Itoa(int(version)))
	}
	body, _ := r.Finish("TransactionLogValue", version) // nothing after an error, which then is found again
	r = msgfmt.NewReader(body, version == 1)
	v := txnValueJSON{ProducerID: r.Int64(), ProducerEpoch: r.Int16(), TimeoutMs: r.Int32()}
	status := int(uint8(r.Int8()))
	v.Partitions = msgfmt.NullElements(&r, 1, readTxnPartitions)
	v.LastUpdate, v.Start = r.Int64(), r.Int64()
	r.Tags(v.setTag)
	if rest, err := r.Finish("TransactionLogValue", version); err != nil || len(rest) > 0 {
		return nil, errTxnRecord
	}
	if status >= len(txnStates) {
		return nil, errors.New("Unknown transaction state id " + strconv.Itoa(status) + " from the transaction status message")
	}
	v.Status = txnStates[status]
	return coordinatorJSON("version", version, v), nil
}

func readTxnPartitions(r *msgfmt.Reader) txnPartitions {
	p := txnPartitions{Topic: r.String(), Partitions: []int32{}}
	p.Partitions = append(p.Partitions, msgfmt.Elements(r, 4, (*msgfmt.Reader).Int32)...)
	r.Tags(nil)
	return p
}

func (v *txnValueJSON) setTag(r *msgfmt.Reader, tag uint32) (known bool) {
	switch tag {
	case 0:
		v.PreviousProducerID = unless(r.Int64(), -1)
	case 1:
		v.NextProducerID = unless(r.Int64(), -1)
	case 2:
		v.ClientVersion = unless(r.Int16(), 0)
	case 3:
		v.NextProducerEpoch = unless(r.Int16(), -1)
	default:
		return false
	}
	return true
}

// unless is n, or nil if it is the default.
func unless[T int16 | int64](n, def T) *T {
	if n == def {
		return nil
	}
	return &n
}

// coordinatorJSON is {"<name>":"<number>","data":{...}}, which is how Apache's
// tools print a coordinator's keys and values.
func coordinatorJSON(name string, number int16, data any) []byte {
	return fmt.Appendf(nil, `{"%s":"%d","data":%s}`, name, number, Marshal(data))
}

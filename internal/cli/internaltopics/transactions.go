package internaltopics

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// The one record type of __transaction_state: the key is type i16 0 and the
// transactional id; the value is its version i16, 0 or 1, and the state. In
// version 0 strings and arrays have plain lengths, in version 1 they are compact
// and tagged fields follow (KIP-890).

var errTxnRecord = errors.New("the message is cut off or too long")

// reader takes fields off bytes. After an error all that follows is zero.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.b) {
		r.failed = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) uvarint() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<31-1 {
		r.failed = true
		return 0
	}
	r.take(n)
	return int(v)
}

// count reads the length of an array; -1 is null.
func (r *reader) count(version int16) int {
	if version == 0 {
		return int(r.int32())
	}
	return r.uvarint() - 1
}

func (r *reader) string(version int16) string {
	if version == 0 {
		return string(r.take(int(r.int16())))
	}
	return string(r.take(r.count(version)))
}

// tags reads tagged fields and gives each to set.
func (r *reader) tags(version int16, set func(tag int, field *reader)) {
	if version == 0 {
		return
	}
	for n := r.uvarint(); n > 0 && !r.failed; n-- {
		tag := r.uvarint()
		field := reader{b: r.take(r.uvarint())}
		set(tag, &field)
		r.failed = r.failed || field.failed
	}
}

func (r *reader) end() error {
	if r.failed || len(r.b) > 0 {
		return errTxnRecord
	}
	return nil
}

type txnKeyJSON struct {
	TransactionalID string `json:"transactionalId"`
}

// TransactionKey decodes a key of __transaction_state.
func TransactionKey(b []byte) (int16, []byte, error) {
	r := reader{b: b}
	if t := r.int16(); t != 0 {
		return t, nil, UnknownTypeError(t)
	}
	k := txnKeyJSON{r.string(0)}
	if err := r.end(); err != nil {
		return 0, nil, err
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
	r := reader{b: b}
	version := r.int16()
	if version < 0 || version > 1 {
		return nil, errors.New("unknown value version " + strconv.Itoa(int(version)))
	}
	v := txnValueJSON{ProducerID: r.int64(), ProducerEpoch: r.int16(), TimeoutMs: r.int32()}
	status := 255
	if b := r.take(1); b != nil {
		status = int(b[0])
	}
	v.Partitions = r.txnPartitions(version)
	v.LastUpdate, v.Start = r.int64(), r.int64()
	r.tags(version, v.setTag)
	if err := r.end(); err != nil {
		return nil, err
	}
	if status >= len(txnStates) {
		return nil, errors.New("Unknown transaction state id " + strconv.Itoa(status) + " from the transaction status message")
	}
	v.Status = txnStates[status]
	return coordinatorJSON("version", version, v), nil
}

func (r *reader) txnPartitions(version int16) []txnPartitions {
	n := r.count(version)
	if n < 0 {
		return nil
	}
	out := []txnPartitions{}
	for ; n > 0 && !r.failed; n-- {
		p := txnPartitions{Topic: r.string(version), Partitions: []int32{}}
		for m := r.count(version); m > 0 && !r.failed; m-- {
			p.Partitions = append(p.Partitions, r.int32())
		}
		r.tags(version, func(int, *reader) {})
		out = append(out, p)
	}
	return out
}

func (v *txnValueJSON) setTag(tag int, field *reader) {
	switch tag {
	case 0:
		v.PreviousProducerID = unless(field.int64(), -1)
	case 1:
		v.NextProducerID = unless(field.int64(), -1)
	case 2:
		v.ClientVersion = unless(field.int16(), 0)
	case 3:
		v.NextProducerEpoch = unless(field.int16(), -1)
	}
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

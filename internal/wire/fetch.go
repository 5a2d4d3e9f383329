package wire

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The versions of Fetch that are written here; each changes the layout.
const (
	fetchLogStart  = 5
	fetchSessions  = 7
	fetchPreferred = 11
	fetchFlexible  = 12
	fetchTopicIDs  = 13
)

// FetchPieces cuts a Fetch answer into pieces: all that is not records in memory,
// and the records as they are given, one piece for each partition in the order of
// resp.Topics and their Partitions. The RecordBatches of resp are not looked at;
// a partition without records has an empty piece. Unknown tags are not written.
// The pieces take over the files of records.
func FetchPieces(resp *kmsg.FetchResponse, records []Piece) []Piece {
	w := fetchWriter{version: resp.Version, flexible: resp.Version >= fetchFlexible, records: records}
	w.bytes = make([]byte, 0, fetchSize(resp))
	w.pieces = make([]Piece, 0, 2*len(records)+1)
	w.response(resp)
	w.cut()
	return w.pieces
}

// fetchSize is about what the answer takes in memory.
func fetchSize(resp *kmsg.FetchResponse) int {
	n := 32
	for i := range resp.Topics {
		t := &resp.Topics[i]
		n += 24 + len(t.Topic)
		for j := range t.Partitions {
			n += 64 + 17*len(t.Partitions[j].AbortedTransactions)
		}
	}
	return n
}

type fetchWriter struct {
	version  int16
	flexible bool
	records  []Piece // of the partitions that are still to be written
	bytes    []byte
	pieces   []Piece
}

// cut ends a piece of memory. When bytes must grow, the pieces before stay where
// they are.
func (w *fetchWriter) cut() {
	if len(w.bytes) > 0 {
		w.pieces = append(w.pieces, Piece{Bytes: w.bytes[:len(w.bytes):len(w.bytes)]})
		w.bytes = w.bytes[len(w.bytes):]
	}
}

func (w *fetchWriter) response(r *kmsg.FetchResponse) {
	w.int32(r.ThrottleMillis)
	if w.version >= fetchSessions {
		w.int16(r.ErrorCode)
		w.int32(r.SessionID)
	}
	w.length(len(r.Topics))
	for i := range r.Topics {
		w.topic(&r.Topics[i])
	}
	if !w.flexible {
		return
	}
	if len(r.Brokers) == 0 {
		w.bytes = append(w.bytes, 0)
		return
	}
	w.bytes = append(w.bytes, 1)
	w.tagged(0, func() { w.brokers(r.Brokers) })
}

func (w *fetchWriter) topic(t *kmsg.FetchResponseTopic) {
	if w.version >= fetchTopicIDs {
		w.bytes = append(w.bytes, t.TopicID[:]...)
	} else {
		w.string(t.Topic)
	}
	w.length(len(t.Partitions))
	for i := range t.Partitions {
		w.partition(&t.Partitions[i])
	}
	w.noTags()
}

func (w *fetchWriter) partition(p *kmsg.FetchResponseTopicPartition) {
	w.int32(p.Partition)
	w.int16(p.ErrorCode)
	w.int64(p.HighWatermark)
	w.int64(p.LastStableOffset)
	if w.version >= fetchLogStart {
		w.int64(p.LogStartOffset)
	}
	if p.AbortedTransactions == nil {
		w.length(-1)
	} else {
		w.length(len(p.AbortedTransactions))
	}
	for i := range p.AbortedTransactions {
		w.int64(p.AbortedTransactions[i].ProducerID)
		w.int64(p.AbortedTransactions[i].FirstOffset)
		w.noTags()
	}
	if w.version >= fetchPreferred {
		w.int32(p.PreferredReadReplica)
	}
	records := w.records[0]
	w.records = w.records[1:]
	w.length(int(records.Size()))
	if records.Size() > 0 {
		w.cut()
		w.pieces = append(w.pieces, records)
	} else {
		records.Release()
	}
	if w.flexible {
		w.partitionTags(p)
	}
}

func (w *fetchWriter) partitionTags(p *kmsg.FetchResponseTopicPartition) {
	diverging := p.DivergingEpoch.Epoch != -1 || p.DivergingEpoch.EndOffset != -1
	leader := p.CurrentLeader.LeaderID != -1 || p.CurrentLeader.LeaderEpoch != -1
	snapshot := p.SnapshotID.EndOffset != -1 || p.SnapshotID.Epoch != -1
	count := len(w.bytes)
	w.bytes = append(w.bytes, 0)
	if diverging {
		w.bytes[count]++
		w.tagged(0, func() { w.int32(p.DivergingEpoch.Epoch); w.int64(p.DivergingEpoch.EndOffset); w.noTags() })
	}
	if leader {
		w.bytes[count]++
		w.tagged(1, func() { w.int32(p.CurrentLeader.LeaderID); w.int32(p.CurrentLeader.LeaderEpoch); w.noTags() })
	}
	if snapshot {
		w.bytes[count]++
		w.tagged(2, func() { w.int64(p.SnapshotID.EndOffset); w.int32(p.SnapshotID.Epoch); w.noTags() })
	}
}

func (w *fetchWriter) brokers(list []kmsg.FetchResponseBroker) {
	w.length(len(list))
	for i := range list {
		b := &list[i]
		w.int32(b.NodeID)
		w.string(b.Host)
		w.int32(b.Port)
		if b.Rack == nil {
			w.bytes = append(w.bytes, 0)
		} else {
			w.string(*b.Rack)
		}
		w.noTags()
	}
}

// tagged writes a tagged field: its number, its size, and what write appends.
func (w *fetchWriter) tagged(tag byte, write func()) {
	w.bytes = append(w.bytes, tag)
	at := len(w.bytes)
	write()
	body := append([]byte(nil), w.bytes[at:]...)
	w.bytes = binary.AppendUvarint(w.bytes[:at], uint64(len(body)))
	w.bytes = append(w.bytes, body...)
}

func (w *fetchWriter) noTags() {
	if w.flexible {
		w.bytes = append(w.bytes, 0)
	}
}

func (w *fetchWriter) int16(v int16) { w.bytes = binary.BigEndian.AppendUint16(w.bytes, uint16(v)) }
func (w *fetchWriter) int32(v int32) { w.bytes = binary.BigEndian.AppendUint32(w.bytes, uint32(v)) }
func (w *fetchWriter) int64(v int64) { w.bytes = binary.BigEndian.AppendUint64(w.bytes, uint64(v)) }

// length writes the length of an array or of records; -1 is null.
func (w *fetchWriter) length(n int) {
	if w.flexible {
		w.bytes = binary.AppendUvarint(w.bytes, uint64(n+1))
	} else {
		w.int32(int32(n))
	}
}

func (w *fetchWriter) string(s string) {
	if w.flexible {
		w.bytes = binary.AppendUvarint(w.bytes, uint64(len(s)+1))
	} else {
		w.int16(int16(len(s)))
	}
	w.bytes = append(w.bytes, s...)
}

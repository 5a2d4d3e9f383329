package wire

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"barnabas/internal/base/vfs"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// recordsFile is a file of random bytes to cut records from.
func recordsFile(t *testing.T, r *rand.Rand) (*vfs.Shared, []byte) {
	t.Helper()
	data := make([]byte, 4096)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	f, err := vfs.NewOS(nil).Open(filepath.Join(t.TempDir(), "records"), vfs.Create)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	return vfs.NewShared(f), data
}

func random[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func randomPartition(r *rand.Rand) kmsg.FetchResponseTopicPartition {
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition, p.ErrorCode, p.HighWatermark = r.Int32(), int16(r.Uint32()), r.Int64()
	p.LastStableOffset, p.LogStartOffset = random(r, -1, r.Int64()), random(r, -1, r.Int64())
	p.PreferredReadReplica = random(r, -1, r.Int32())
	if r.IntN(3) == 0 {
		p.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
		for range r.IntN(200) {
			a := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
			a.ProducerID, a.FirstOffset = r.Int64(), r.Int64()
			p.AbortedTransactions = append(p.AbortedTransactions, a)
		}
	}
	if r.IntN(4) == 0 {
		p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = random(r, -1, r.Int32()), r.Int64()
	}
	if r.IntN(4) == 0 {
		p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = r.Int32(), random(r, -1, r.Int32())
	}
	if r.IntN(4) == 0 {
		p.SnapshotID.EndOffset, p.SnapshotID.Epoch = r.Int64(), r.Int32()
	}
	return p
}

// randomFetch returns an answer, its records as pieces of f or as memory, and
// whether each file piece was held for it.
func randomFetch(r *rand.Rand, version int16, f *vfs.Shared, data []byte) (*kmsg.FetchResponse, []Piece) {
	resp := kmsg.NewPtrFetchResponse()
	resp.Version = version
	resp.ThrottleMillis, resp.SessionID, resp.ErrorCode = r.Int32(), r.Int32(), int16(r.Uint32())
	var pieces []Piece
	for range r.IntN(4) {
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic = string(bytes.Repeat([]byte{'t'}, r.IntN(200)))
		topic.TopicID[3] = byte(r.Uint32())
		for range r.IntN(5) {
			p := randomPartition(r)
			n := random(r, 0, 1, 100, 127, 128, 1000)
			off := r.IntN(len(data) - n)
			p.RecordBatches = data[off : off+n]
			switch {
			case r.IntN(3) == 0:
				pieces = append(pieces, Piece{Bytes: p.RecordBatches})
			case n > 0 || r.IntN(2) == 0:
				f.TryHold()
				pieces = append(pieces, Piece{File: f, Off: int64(off), N: int64(n)})
			default:
				pieces = append(pieces, Piece{})
			}
			topic.Partitions = append(topic.Partitions, p)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	for range r.IntN(3) {
		b := kmsg.NewFetchResponseBroker()
		b.NodeID, b.Port, b.Host = r.Int32(), r.Int32(), string(bytes.Repeat([]byte{'h'}, r.IntN(150)))
		b.Rack = random(r, nil, &b.Host)
		resp.Brokers = append(resp.Brokers, b)
	}
	return resp, pieces
}

// TestFetchPiecesJoinedAreTheCodecsBytes holds invariant 2.
func TestFetchPiecesJoinedAreTheCodecsBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f, data := recordsFile(t, r)
	for version := int16(4); version <= 18; version++ {
		for range 100 {
			resp, records := randomFetch(r, version, f, data)
			pieces := FetchPieces(resp, records)
			var got []byte
			for i := range pieces {
				p := &pieces[i]
				if p.Size() == 0 {
					t.Fatal("an empty piece")
				}
				b := p.Bytes
				if p.File != nil {
					b = make([]byte, p.N)
					if _, err := p.File.ReadAt(b, p.Off); err != nil {
						t.Fatal(err)
					}
				}
				p.Release()
				got = append(got, b...)
			}
			if want := resp.AppendTo(nil); !bytes.Equal(got, want) {
				t.Fatalf("version %d:\n%x, want\n%x", version, got, want)
			}
		}
	}
	f.Release()
	if f.TryHold() {
		t.Error("pieces still hold the file")
	}
}

func BenchmarkFetchPieces(b *testing.B) {
	resp := kmsg.NewPtrFetchResponse()
	resp.Version = 17
	topic := kmsg.NewFetchResponseTopic()
	topic.Partitions = []kmsg.FetchResponseTopicPartition{kmsg.NewFetchResponseTopicPartition()}
	resp.Topics = append(resp.Topics, topic)
	records := []Piece{{Bytes: make([]byte, 100)}}
	b.ReportAllocs()
	for b.Loop() {
		FetchPieces(resp, records)
	}
}

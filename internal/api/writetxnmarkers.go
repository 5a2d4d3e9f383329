package api

import (
	"slices"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// writeTxnMarkers serves WriteTxnMarkers v1-v2, from coordinators and from who aborts a
// transaction by hand: v2 the transaction version, by which partitions judge epochs
// (KIP-1228). One answer when all markers are written; who names no partition does not
// appear in it.
func (b *Broker) writeTxnMarkers(c *call) {
	req := c.Msg.(*kmsg.WriteTxnMarkersRequest)
	may := c.mayCluster(kmsg.ACLOperationAlter) || c.mayCluster(kmsg.ACLOperationClusterAction)
	req.Markers = slices.DeleteFunc(req.Markers, func(m kmsg.WriteTxnMarkersRequestMarker) bool { return len(markedPartitions(&m)) == 0 })
	resp := kmsg.NewPtrWriteTxnMarkersResponse()
	resp.Markers = make([]kmsg.WriteTxnMarkersResponseMarker, len(req.Markers))
	all := newGathering(len(req.Markers), func() { c.ReplyMessage(resp) })
	for i := range req.Markers {
		m := &req.Markers[i]
		to := markedPartitions(m)
		answer := func(codes []kafka.ErrorCode) {
			resp.Markers[i] = markerResult(m, codes)
			all.done()
		}
		if !may {
			codes := make([]kafka.ErrorCode, len(to))
			for j := range codes {
				codes[j] = kafka.ErrClusterAuthorizationFailed
			}
			answer(codes)
			continue
		}
		b.Markers.WriteMarkers(kafka.Marker{
			ProducerID: kafka.ProducerID(m.ProducerID), ProducerEpoch: kafka.ProducerEpoch(m.ProducerEpoch),
			CoordinatorEpoch: m.CoordinatorEpoch, Commit: m.Committed, TransactionVersion: int16(m.TransactionVersion),
		}, to, answer)
	}
}

func markedPartitions(m *kmsg.WriteTxnMarkersRequestMarker) []kafka.TopicPartition {
	var to []kafka.TopicPartition
	for i := range m.Topics {
		for _, p := range m.Topics[i].Partitions {
			to = append(to, kafka.TopicPartition{Topic: m.Topics[i].Topic, Partition: p})
		}
	}
	return to
}

// markerResult tells the codes of a marker's partitions, in their order.
func markerResult(m *kmsg.WriteTxnMarkersRequestMarker, codes []kafka.ErrorCode) kmsg.WriteTxnMarkersResponseMarker {
	out := kmsg.NewWriteTxnMarkersResponseMarker()
	out.ProducerID = m.ProducerID
	next := 0
	for i := range m.Topics {
		if len(m.Topics[i].Partitions) == 0 {
			continue
		}
		t := kmsg.NewWriteTxnMarkersResponseMarkerTopic()
		t.Topic = m.Topics[i].Topic
		for _, p := range m.Topics[i].Partitions {
			t.Partitions = append(t.Partitions, kmsg.WriteTxnMarkersResponseMarkerTopicPartition{Partition: p, ErrorCode: int16(codes[next])})
			next++
		}
		out.Topics = append(out.Topics, t)
	}
	return out
}

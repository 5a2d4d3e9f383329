package api

import (
	"sync"

	"barnabas/internal/kafka"
	"barnabas/internal/replica"
	"barnabas/internal/server"
	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetchCall is one Fetch request on its way. It is used again once answered.
type fetchCall struct {
	replica.Fetch
	b    *Broker
	call call
}

var fetchCalls = sync.Pool{New: func() any { return new(fetchCall) }}

// fetch serves Fetch v4-v18: v7 sessions (KIP-227), v9 leader epochs, v12
// diverging epochs, v13 topic ids, v16 leader and endpoints (KIP-951).
func (b *Broker) fetch(c *call) {
	if req := c.Msg.(*kmsg.FetchRequest); !kafka.IsolationLevel(req.IsolationLevel).Valid() {
		c.ReplyMessage(refusedFetch(req, kafka.ErrInvalidRequest))
		return
	}
	f := fetchCalls.Get().(*fetchCall)
	f.b, f.call = b, *c
	f.Request, f.Caller = c.Msg.(*kmsg.FetchRequest), f
	b.Replicas.Fetch(&f.Fetch)
}

// refusedFetch is the answer to a request that is refused as a whole. Versions
// before 7 have the error of each partition alone.
func refusedFetch(req *kmsg.FetchRequest, code kafka.ErrorCode) *kmsg.FetchResponse {
	resp := kmsg.NewPtrFetchResponse()
	resp.ErrorCode = int16(code)
	for i := range req.Topics {
		t := kmsg.FetchResponseTopic{Topic: req.Topics[i].Topic, TopicID: req.Topics[i].TopicID}
		for j := range req.Topics[i].Partitions {
			p := kmsg.NewFetchResponseTopicPartition()
			p.Partition, p.ErrorCode = req.Topics[i].Partitions[j].Partition, int16(code)
			p.HighWatermark, p.LastStableOffset, p.LogStartOffset = -1, -1, -1
			p.RecordBatches = []byte{}
			t.Partitions = append(t.Partitions, p)
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// MayRead says whether the client may read the topic.
func (f *fetchCall) MayRead(_ *replica.Fetch, topic string) bool {
	return f.call.mayTopic(kmsg.ACLOperationRead, topic)
}

// Fetched sends the answer.
func (f *fetchCall) Fetched(_ *replica.Fetch, a *replica.FetchAnswer) {
	request := f.call.Request
	version := request.Header.Version
	a.Response.SetVersion(version)
	f.adapt(&a.Response)
	f.b.errors.count(request.Header.Key, &a.Response)
	var records []server.Piece
	if len(a.Records) > 0 {
		records = make([]server.Piece, len(a.Records))
		for i, s := range a.Records {
			records[i] = server.Piece{File: s.File, Off: s.Position, N: s.Length}
		}
	}
	pieces := wire.FetchPieces(&a.Response, records)
	*f = fetchCall{}
	fetchCalls.Put(f)
	request.Reply(pieces...)
}

// adapt replaces what clients of the request's version do not know, and adds the
// addresses of leaders.
func (f *fetchCall) adapt(resp *kmsg.FetchResponse) {
	version := resp.Version
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			code := kafka.ErrorCode(p.ErrorCode)
			if code == kafka.ErrKafkaStorageError && version <= 5 {
				p.ErrorCode = int16(kafka.ErrNotLeaderOrFollower)
			}
			if version >= 16 && (code == kafka.ErrNotLeaderOrFollower || code == kafka.ErrFencedLeaderEpoch) {
				f.addEndpoint(resp, p.CurrentLeader.LeaderID)
			}
		}
	}
}

func (f *fetchCall) addEndpoint(resp *kmsg.FetchResponse, leader int32) {
	if leader < 0 {
		return
	}
	for _, n := range resp.Brokers {
		if n.NodeID == leader {
			return
		}
	}
	b, at, ok := f.b.leaderEndpoint(f.b.Image(), kafka.BrokerID(leader), f.call.conn)
	if !ok {
		return
	}
	n := kmsg.NewFetchResponseBroker()
	n.NodeID, n.Host, n.Port, n.Rack = leader, at.host, at.port, b.Rack
	resp.Brokers = append(resp.Brokers, n)
}

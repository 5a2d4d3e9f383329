package api

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/replica"
	"barnabas/internal/server"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// produceCall is one Produce request on its way. It is used again once answered.
type produceCall struct {
	replica.Produce
	b       *Broker
	conn    *server.Conn
	request *server.Request
	resp    kmsg.ProduceResponse
}

// produceRun is the memory for a run of requests.
type produceRun struct {
	calls []*produceCall
	run   []*replica.Produce
}

var (
	produceCalls = sync.Pool{New: func() any { return new(produceCall) }}
	produceRuns  = sync.Pool{New: func() any { return new(produceRun) }}
)

// produce serves Produce v3-v13: v9 flexible, v10 leader and endpoints for
// NOT_LEADER_OR_FOLLOWER (KIP-951), v13 topic ids (KIP-516). A run is neighbouring
// requests of one connection; their batches for one partition become one append.
func (b *Broker) produce(c *server.Conn, run []*server.Request) {
	r := produceRuns.Get().(*produceRun)
	for _, request := range run {
		p := produceCalls.Get().(*produceCall)
		p.b, p.conn, p.request = b, c, request
		p.prepare()
		r.run = append(r.run, &p.Produce)
	}
	b.Replicas.Produce(r.run)
	clear(r.run)
	r.run = r.run[:0]
	produceRuns.Put(r)
}

// prepare turns the request into appends. The answer has its shape from here on,
// so that each append can be answered in place.
func (p *produceCall) prepare() {
	req := p.request.Msg.(*kmsg.ProduceRequest)
	p.Version, p.Acks, p.Caller = req.Version, req.Acks, p
	p.Internal = p.request.Header.ClientID == adminClientID
	p.Timeout = time.Duration(req.TimeoutMillis) * time.Millisecond
	p.Appends = p.Appends[:0]
	p.resp = kmsg.ProduceResponse{Version: req.Version, Topics: make([]kmsg.ProduceResponseTopic, 0, len(req.Topics))}
	may := p.mayWrite(req)
	for i := range req.Topics {
		if len(req.Topics[i].Partitions) > 0 { // others do not appear in an answer
			p.resp.Topics = append(p.resp.Topics, kmsg.ProduceResponseTopic{})
			p.prepareTopic(&req.Topics[i], &p.resp.Topics[len(p.resp.Topics)-1], may)
		}
	}
}

func (p *produceCall) prepareTopic(in *kmsg.ProduceRequestTopic, out *kmsg.ProduceResponseTopic, may kafka.ErrorCode) {
	topic, code := resolve(p.b.Image(), p.Version >= 13, in.Topic, in.TopicID)
	out.TopicID = in.TopicID
	if p.Version < 13 {
		out.Topic = topic // not the request's: its bytes are gone when an answer has waited
	}
	c := call{Request: p.request, conn: p.conn, authorizer: p.b.Authorizer}
	switch {
	case may != kafka.ErrNone:
		code = may
	case code == kafka.ErrUnknownTopicID: // has no name to be asked about
	case !c.mayTopic(kmsg.ACLOperationWrite, topic):
		code = kafka.ErrTopicAuthorizationFailed
	}
	out.Partitions = make([]kmsg.ProduceResponseTopicPartition, len(in.Partitions))
	for j := range in.Partitions {
		o := &out.Partitions[j]
		o.Default()
		o.Partition, o.ErrorCode = in.Partitions[j].Partition, int16(code)
		if code != kafka.ErrNone {
			o.BaseOffset = -1
			o.LogStartOffset = -1
		}
		p.Appends = append(p.Appends, replica.Append{Topic: topic, Records: in.Partitions[j].Records, Out: o})
	}
}

// adminClientID is the client id that may write to internal topics (an old rule
// of Apache's, AdminUtils.ADMIN_CLIENT_ID).
const adminClientID = "__admin_client"

// mayWrite is the error for the whole request, if any: who sends a batch of a
// transaction names a transactional id that is his, and all such batches are of one
// producer. A request without such a batch is like any other, whatever id it names.
func (p *produceCall) mayWrite(req *kmsg.ProduceRequest) kafka.ErrorCode {
	found, several := transactionalProducers(req)
	if !found {
		return kafka.ErrNone
	}
	c := call{Request: p.request, conn: p.conn, authorizer: p.b.Authorizer}
	switch {
	case req.TransactionID == nil || !c.mayTransactionalID(kmsg.ACLOperationWrite, *req.TransactionID):
		return kafka.ErrTransactionalIDAuthorizationFailed
	case several:
		return kafka.ErrInvalidProducerIDMapping
	}
	p.TransactionalID = *req.TransactionID
	return kafka.ErrNone
}

// transactionalProducers says whether there are batches of transactions, and whether
// they are of several producers.
func transactionalProducers(req *kmsg.ProduceRequest) (found, several bool) {
	type producer struct {
		id    kafka.ProducerID
		epoch kafka.ProducerEpoch
	}
	first := producer{kafka.NoProducerID, kafka.NoProducerEpoch}
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			b, _, err := record.Next(req.Topics[i].Partitions[j].Records)
			if err != nil || !b.IsTransactional() {
				continue
			}
			found = true
			of := producer{b.ProducerID(), b.ProducerEpoch()}
			switch {
			case of.id == kafka.NoProducerID:
			case first.id == kafka.NoProducerID:
				first = of
			default:
				several = several || of != first
			}
		}
	}
	return found, several
}

// Placed lets the connection read on.
func (p *produceCall) Placed(*replica.Produce) { p.request.Ordered() }

// errRefused closes the connection of an acks=0 request that failed: it is the
// only way in which its client can learn of it.
var errRefused = errors.New("a produce request with acks=0 failed")

// Answered sends the answer, if the client wants one.
func (p *produceCall) Answered(*replica.Produce) {
	request := p.request
	for i := range p.Appends {
		p.b.errors.add(request.Header.Key, p.Appends[i].Out.ErrorCode)
	}
	if p.Acks == replica.AcksNone {
		err := p.firstError()
		p.release()
		if err != nil {
			request.Abort(err)
		} else {
			request.NoReply()
		}
		return
	}
	if p.Version >= 10 {
		p.addEndpoints()
	}
	body := p.resp.AppendTo(make([]byte, 0, 64+64*len(p.Appends)))
	p.release()
	request.Reply(server.Piece{Bytes: body})
}

func (p *produceCall) firstError() error {
	for i := range p.Appends {
		if code := kafka.ErrorCode(p.Appends[i].Out.ErrorCode); code != kafka.ErrNone {
			return fmt.Errorf("%w: %s-%d: %s", errRefused, p.Appends[i].Topic, p.Appends[i].Out.Partition, code)
		}
	}
	return nil
}

// addEndpoints tells where the leaders are that the answer names.
func (p *produceCall) addEndpoints() {
	var told map[int32]bool
	for i := range p.Appends {
		o := p.Appends[i].Out
		if kafka.ErrorCode(o.ErrorCode) != kafka.ErrNotLeaderOrFollower || o.CurrentLeader.LeaderID < 0 || told[o.CurrentLeader.LeaderID] {
			continue
		}
		leader, at, ok := p.b.leaderEndpoint(p.b.Image(), kafka.BrokerID(o.CurrentLeader.LeaderID), p.conn)
		if !ok {
			continue
		}
		if told == nil {
			told = map[int32]bool{}
		}
		told[o.CurrentLeader.LeaderID] = true
		n := kmsg.NewProduceResponseBroker()
		n.NodeID, n.Host, n.Port, n.Rack = int32(leader.ID), at.host, at.port, leader.Rack
		p.resp.Brokers = append(p.resp.Brokers, n)
	}
}

func (p *produceCall) release() {
	clear(p.Appends)
	*p = produceCall{Produce: replica.Produce{Appends: p.Appends[:0]}}
	produceCalls.Put(p)
}

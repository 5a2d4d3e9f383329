package api

import (
	"barnabas/internal/controller"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The kinds of keys of FindCoordinator (FindCoordinatorRequest.CoordinatorType).
const (
	groupKey       int8 = 0
	transactionKey int8 = 1
	shareKey       int8 = 2
)

// coordinatorTexts stand beside the error codes of v1-v3 where the refusal has no text
// of its own, in success too; later versions have none there [4.4].
var coordinatorTexts = map[kafka.ErrorCode]string{
	kafka.ErrNone:                               "NONE",
	kafka.ErrCoordinatorNotAvailable:            "The coordinator is not available.",
	kafka.ErrInvalidRequest:                     textInvalidRequest,
	kafka.ErrGroupAuthorizationFailed:           "Group authorization failed.",
	kafka.ErrTransactionalIDAuthorizationFailed: "Transactional Id authorization failed.",
}

// findCoordinator serves FindCoordinator v0-v6: v1 kinds of keys, v4 several keys
// (KIP-699), v5 TRANSACTION_ABORTABLE, v6 share groups (KIP-932).
//
// Share groups have no coordinator here. They are refused with INVALID_REQUEST, which
// clients do not try again, as Apache refuses a kind of which it has no coordinator.
func (b *Broker) findCoordinator(c *call) {
	req := c.Msg.(*kmsg.FindCoordinatorRequest)
	f := coordinatorSearch{b: b, c: c, req: req, img: b.Image()}
	resp := kmsg.NewPtrFindCoordinatorResponse()
	if req.Version >= 4 {
		for _, key := range req.CoordinatorKeys {
			resp.Coordinators = append(resp.Coordinators, f.find(key))
		}
		f.create()
		c.ReplyMessage(resp)
		return
	}
	found := f.find(req.CoordinatorKey)
	f.create()
	if text, ok := coordinatorTexts[kafka.ErrorCode(found.ErrorCode)]; ok && *found.ErrorMessage == "" {
		found.ErrorMessage = &text
	}
	resp.ErrorCode, resp.ErrorMessage = found.ErrorCode, found.ErrorMessage
	resp.NodeID, resp.Host, resp.Port = found.NodeID, found.Host, found.Port
	c.ReplyMessage(resp)
}

// coordinatorSearch is the search for the coordinators of one request.
type coordinatorSearch struct {
	b       *Broker
	c       *call
	req     *kmsg.FindCoordinatorRequest
	img     *image.Image
	missing bool // the topic of the coordinators is not there
}

func (f *coordinatorSearch) find(key string) kmsg.FindCoordinatorResponseCoordinator {
	out := kmsg.NewFindCoordinatorResponseCoordinator()
	out.Key = key
	code, text := f.refusal(key)
	if code == kafka.ErrNone {
		code = f.locate(key, &out)
	}
	if code != kafka.ErrNone {
		out.NodeID, out.Host, out.Port = int32(kafka.NoBroker), "", -1
	}
	out.ErrorCode, out.ErrorMessage = int16(code), &text
	return out
}

// refusal says why a key has no coordinator here.
func (f *coordinatorSearch) refusal(key string) (code kafka.ErrorCode, text string) {
	switch f.req.CoordinatorType {
	case groupKey:
		if !f.c.mayGroup(kmsg.ACLOperationDescribe, key) {
			return kafka.ErrGroupAuthorizationFailed, ""
		}
		return kafka.ErrNone, ""
	case transactionKey:
		if !f.c.mayTransactionalID(kmsg.ACLOperationDescribe, key) {
			return kafka.ErrTransactionalIDAuthorizationFailed, ""
		}
		return kafka.ErrNone, ""
	case shareKey:
		if f.req.Version >= 6 && !f.c.mayCluster(kmsg.ACLOperationClusterAction) {
			return kafka.ErrClusterAuthorizationFailed, ""
		}
		return kafka.ErrInvalidRequest, ""
	}
	return kafka.ErrInvalidRequest, textInvalidRequest
}

// topic is the internal topic in which keys of the kind live.
func (f *coordinatorSearch) topic() string {
	if f.req.CoordinatorType == transactionKey {
		return kafka.TransactionStateTopic
	}
	return kafka.ConsumerOffsetsTopic
}

// locate finds the leader of the partition in which a key lives.
func (f *coordinatorSearch) locate(key string, out *kmsg.FindCoordinatorResponseCoordinator) kafka.ErrorCode {
	topic := f.img.Topics.ByName(f.topic())
	if topic == nil {
		f.missing = true
		return kafka.ErrCoordinatorNotAvailable
	}
	p := topic.Partition(kafka.CoordinatorPartition(key, int32(topic.Len())))
	if p == nil {
		return kafka.ErrCoordinatorNotAvailable
	}
	_, at, ok := f.b.leaderEndpoint(f.img, p.Leader, f.c.conn)
	if !ok {
		return kafka.ErrCoordinatorNotAvailable
	}
	out.NodeID, out.Host, out.Port = int32(p.Leader), at.host, at.port
	return kafka.ErrNone
}

// create has the topic made if somebody needed it. Clients come back.
func (f *coordinatorSearch) create() {
	if f.missing {
		ctx := controller.Context{Principal: f.c.conn.Principal(), ClientID: f.c.Header.ClientID, Received: f.c.Arrived}
		f.b.createOnDemand(ctx, []string{f.topic()})
	}
}

package api

import (
	"strings"

	"barnabas/internal/controller"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/security"
	"barnabas/internal/server"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// call is one request with what its function needs to know.
type call struct {
	*server.Request
	conn       *server.Conn
	authorizer security.Authorizer
	errors     *errorCounter
}

// ReplyMessage answers, and counts the errors in the answer.
func (c *call) ReplyMessage(resp kmsg.Response) {
	c.errors.count(c.Header.Key, resp)
	c.Request.ReplyMessage(resp)
}

func (c *call) client() security.Client {
	return security.Client{Principal: c.conn.Principal(), Address: c.conn.RemoteAddr().Addr()}
}

// mayTopic says whether the client may do op with the topic.
func (c *call) mayTopic(op kmsg.ACLOperation, topic string) bool {
	return c.authorizer.Allows(c.client(), op, kmsg.ACLResourceTypeTopic, topic)
}

// mayCluster says whether the client may do op with the cluster.
func (c *call) mayCluster(op kmsg.ACLOperation) bool {
	return c.authorizer.Allows(c.client(), op, kmsg.ACLResourceTypeCluster, security.ClusterName)
}

// mayGroup says whether the client may do op with the group.
func (c *call) mayGroup(op kmsg.ACLOperation, group string) bool {
	return c.authorizer.Allows(c.client(), op, kmsg.ACLResourceTypeGroup, group)
}

// mayTransactionalID says whether the client may do op with the transactional id.
func (c *call) mayTransactionalID(op kmsg.ACLOperation, id string) bool {
	return c.authorizer.Allows(c.client(), op, kmsg.ACLResourceTypeTransactionalId, id)
}

// context is what the controller needs to know of the request.
func (c *call) context() controller.Context {
	return controller.Context{
		Principal: c.conn.Principal(),
		ClientID:  c.Header.ClientID,
		Received:  c.Arrived,
		Authorize: func(op kmsg.ACLOperation, topic string) bool {
			if topic == "" {
				return c.mayCluster(op)
			}
			return c.mayTopic(op, topic)
		},
	}
}

// noOperations in a bit field of authorized operations: they were not asked for.
const noOperations = -1 << 31

// topicOperations is the bit field of what the client may do with the topic.
func (c *call) topicOperations(topic string) int32 {
	return security.AuthorizedOperations(c.authorizer, c.client(), kmsg.ACLResourceTypeTopic, topic)
}

// groupOperations is the bit field of what the client may do with the group.
func (c *call) groupOperations(group string) int32 {
	return security.AuthorizedOperations(c.authorizer, c.client(), kmsg.ACLResourceTypeGroup, group)
}

func (c *call) clusterOperations() int32 {
	return security.AuthorizedOperations(c.authorizer, c.client(), kmsg.ACLResourceTypeCluster, security.ClusterName)
}

// Apache's texts for codes that have no better one.
const (
	textUnknownTopic   = "This server does not host this topic-partition."
	textTopicRefused   = "Topic authorization failed."
	textClusterRefused = "Cluster authorization failed."
	textInvalidRequest = "This most likely occurs because of a request being malformed by the client library or the message was sent to an incompatible broker. See the broker logs for more details."
)

// resolve finds a topic by name, or by id where the version of the request goes
// by ids. Which of the two errors it gives depends on that. The name that it gives
// does not lie in the request's bytes.
func resolve(img *image.Image, byID bool, name string, id kafka.UUID) (topic string, code kafka.ErrorCode) {
	if !byID {
		t := img.Topics.ByName(name)
		if t == nil {
			return strings.Clone(name), kafka.ErrUnknownTopicOrPartition
		}
		return t.Name, kafka.ErrNone
	}
	t := img.Topics.ByID(id)
	if t == nil {
		return "", kafka.ErrUnknownTopicID
	}
	return t.Name, kafka.ErrNone
}

func ids(list []kafka.BrokerID) []int32 {
	out := make([]int32, len(list))
	for i, id := range list {
		out[i] = int32(id)
	}
	return out
}

package api

import (
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topics are created, deleted and enlarged by the controller, whichever listener
// the request comes to. In a combined node the controller is asked directly; what
// a client may do is known here and there alike.

// createTopics serves CreateTopics v2-v7.
func (b *Broker) createTopics(c *call) { createTopics(b.Options, c) }

func (c *Controller) createTopics(call *call) { createTopics(c.Options, call) }

func createTopics(o Options, c *call) {
	req := c.Msg.(*kmsg.CreateTopicsRequest)
	o.Controller.CreateTopics(c.context(), req, func(resp *kmsg.CreateTopicsResponse) { c.ReplyMessage(resp) })
}

// deleteTopics serves DeleteTopics v1-v6; v6 goes by name or id.
func (b *Broker) deleteTopics(c *call) { deleteTopics(b.Options, c) }

func (c *Controller) deleteTopics(call *call) { deleteTopics(c.Options, call) }

func deleteTopics(o Options, c *call) {
	req := c.Msg.(*kmsg.DeleteTopicsRequest)
	o.Controller.DeleteTopics(c.context(), req, func(resp *kmsg.DeleteTopicsResponse) { c.ReplyMessage(resp) })
}

// createPartitions serves CreatePartitions v0-v3.
func (b *Broker) createPartitions(c *call) { createPartitions(b.Options, c) }

func (c *Controller) createPartitions(call *call) { createPartitions(c.Options, call) }

func createPartitions(o Options, c *call) {
	req := c.Msg.(*kmsg.CreatePartitionsRequest)
	o.Controller.CreatePartitions(c.context(), req, func(resp *kmsg.CreatePartitionsResponse) { c.ReplyMessage(resp) })
}

// unregisterBroker serves UnregisterBroker v0.
func (b *Broker) unregisterBroker(c *call) { unregisterBroker(b.Options, c) }

func (c *Controller) unregisterBroker(call *call) { unregisterBroker(c.Options, call) }

func unregisterBroker(o Options, c *call) {
	req := c.Msg.(*kmsg.UnregisterBrokerRequest)
	if !c.mayCluster(kmsg.ACLOperationAlter) {
		resp, text := kmsg.NewPtrUnregisterBrokerResponse(), textClusterRefused
		resp.ErrorCode, resp.ErrorMessage = int16(kafka.ErrClusterAuthorizationFailed), &text
		c.ReplyMessage(resp)
		return
	}
	o.Controller.UnregisterBroker(c.context(), req, func(resp *kmsg.UnregisterBrokerResponse) { c.ReplyMessage(resp) })
}

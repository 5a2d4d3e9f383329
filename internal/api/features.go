package api

import (
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// updateFeatures serves UpdateFeatures v0-v2.
func (b *Broker) updateFeatures(c *call) { updateFeatures(b.Options, c) }

func (c *Controller) updateFeatures(call *call) { updateFeatures(c.Options, call) }

func updateFeatures(o Options, c *call) {
	req := c.Msg.(*kmsg.UpdateFeaturesRequest)
	if !c.mayCluster(kmsg.ACLOperationAlter) {
		resp, text := kmsg.NewPtrUpdateFeaturesResponse(), textClusterRefused
		resp.ErrorCode, resp.ErrorMessage = int16(kafka.ErrClusterAuthorizationFailed), &text
		c.ReplyMessage(resp)
		return
	}
	o.Controller.UpdateFeatures(c.context(), req, func(resp *kmsg.UpdateFeaturesResponse) { c.ReplyMessage(resp) })
}

// unregisterController serves UnregisterController v0.
func (b *Broker) unregisterController(c *call) { unregisterController(b.Options, c) }

func (c *Controller) unregisterController(call *call) { unregisterController(c.Options, call) }

func unregisterController(o Options, c *call) {
	req := c.Msg.(*kmsg.UnregisterControllerRequest)
	if !c.mayCluster(kmsg.ACLOperationAlter) {
		resp, text := kmsg.NewPtrUnregisterControllerResponse(), textClusterRefused
		resp.ErrorCode, resp.ErrorMessage = int16(kafka.ErrClusterAuthorizationFailed), &text
		c.ReplyMessage(resp)
		return
	}
	o.Controller.UnregisterController(c.context(), req, func(resp *kmsg.UnregisterControllerResponse) { c.ReplyMessage(resp) })
}

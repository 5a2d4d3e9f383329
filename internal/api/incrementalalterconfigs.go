package api

import (
	"barnabas/internal/controller"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// incrementalAlterConfigs serves IncrementalAlterConfigs v0-v1 (KIP-339).
func (b *Broker) incrementalAlterConfigs(c *call) {
	req := c.Msg.(*kmsg.IncrementalAlterConfigsRequest)
	changes := incrementalChanges(req)
	how := controller.AlterConfigsOptions{ValidateOnly: req.ValidateOnly, FromBroker: true}
	b.alterConfigs(c, changes, how, b.screenAtBroker(c, changes, req.ValidateOnly), func(answers []controller.ConfigAnswer) {
		c.ReplyMessage(incrementalAnswer(req, changes, answers))
	})
}

// incrementalAlterConfigs serves what comes to a controller directly.
func (c *Controller) incrementalAlterConfigs(call *call) {
	req := call.Msg.(*kmsg.IncrementalAlterConfigsRequest)
	changes, repeated := withoutRepeated(incrementalChanges(req))
	how := controller.AlterConfigsOptions{ValidateOnly: req.ValidateOnly}
	c.alterConfigs(call, changes, how, c.screenAtController(call, req.ValidateOnly), func(answers []controller.ConfigAnswer) {
		all := append(duplicates(repeated), answers...)
		call.ReplyMessage(incrementalAnswer(req, append(repeated, changes...), all))
	})
}

func incrementalChanges(req *kmsg.IncrementalAlterConfigsRequest) []controller.ConfigChange {
	out := make([]controller.ConfigChange, len(req.Resources))
	for i := range req.Resources {
		r := &req.Resources[i]
		out[i] = controller.ConfigChange{Type: r.ResourceType, Name: r.ResourceName}
		for _, k := range r.Configs {
			out[i].Ops = append(out[i].Ops, controller.ConfigOp{Name: k.Name, Op: k.Op, Value: k.Value})
		}
	}
	return out
}

func incrementalAnswer(req kmsg.Request, changes []controller.ConfigChange, answers []controller.ConfigAnswer) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	for i := range changes {
		row := kmsg.NewIncrementalAlterConfigsResponseResource()
		row.ResourceType, row.ResourceName = changes[i].Type, changes[i].Name
		row.ErrorCode, row.ErrorMessage = int16(answers[i].Code), answers[i].Text
		resp.Resources = append(resp.Resources, row)
	}
	return resp
}

// duplicates are the answers of a controller for resources that are named again.
func duplicates(changes []controller.ConfigChange) []controller.ConfigAnswer {
	out := make([]controller.ConfigAnswer, len(changes))
	for i := range out {
		out[i] = *configRefusal(duplicateResource, "Duplicate resource.")
	}
	return out
}

package api

import (
	"barnabas/internal/controller"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// duplicateResource is a controller's answer to a resource that is named twice.
const duplicateResource = kafka.ErrInvalidRequest

// legacyAlterConfigs serves AlterConfigs v0-v2: what a resource has and the request does
// not name is removed.
func (b *Broker) legacyAlterConfigs(c *call) {
	req := c.Msg.(*kmsg.AlterConfigsRequest)
	changes := replacements(req)
	how := controller.AlterConfigsOptions{ValidateOnly: req.ValidateOnly, FromBroker: true}
	b.alterConfigs(c, changes, how, b.screenAtBroker(c, changes, req.ValidateOnly), func(answers []controller.ConfigAnswer) {
		c.ReplyMessage(alterAnswer(req, changes, answers))
	})
}

// legacyAlterConfigs serves what comes to a controller directly.
func (c *Controller) legacyAlterConfigs(call *call) {
	req := call.Msg.(*kmsg.AlterConfigsRequest)
	changes, repeated := withoutRepeated(replacements(req))
	how := controller.AlterConfigsOptions{ValidateOnly: req.ValidateOnly}
	c.alterConfigs(call, changes, how, c.screenAtController(call, req.ValidateOnly), func(answers []controller.ConfigAnswer) {
		all := append(duplicates(repeated), answers...)
		call.ReplyMessage(alterAnswer(req, append(repeated, changes...), all))
	})
}

func replacements(req *kmsg.AlterConfigsRequest) []controller.ConfigChange {
	out := make([]controller.ConfigChange, len(req.Resources))
	for i := range req.Resources {
		r := &req.Resources[i]
		out[i] = controller.ConfigChange{Type: r.ResourceType, Name: r.ResourceName, Replace: true}
		for _, k := range r.Configs {
			out[i].Ops = append(out[i].Ops, controller.ConfigOp{Name: k.Name, Op: configOpSet, Value: k.Value})
		}
	}
	return out
}

func alterAnswer(req kmsg.Request, changes []controller.ConfigChange, answers []controller.ConfigAnswer) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	for i := range changes {
		row := kmsg.NewAlterConfigsResponseResource()
		row.ResourceType, row.ResourceName = changes[i].Type, changes[i].Name
		row.ErrorCode, row.ErrorMessage = int16(answers[i].Code), answers[i].Text
		resp.Resources = append(resp.Resources, row)
	}
	return resp
}

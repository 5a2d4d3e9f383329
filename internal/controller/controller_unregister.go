package controller

import (
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// UnregisterController serves UnregisterController v0 (KIP-1312).
func (c *Controller) UnregisterController(ctx Context, req *kmsg.UnregisterControllerRequest, done func(*kmsg.UnregisterControllerResponse)) {
	answer := req.ResponseKind().(*kmsg.UnregisterControllerResponse)
	c.submit(operation{
		name: "unregister controller",
		decide: func(a *active) (decision, *refusal) {
			id := kafka.BrokerID(req.ControllerID)
			_, registered := a.image.Cluster.Controllers.Get(id)
			switch {
			case a.version < kafka.MetadataVersionUnregisterController:
				return decision{}, refuse(kafka.ErrUnsupportedVersion, "The current metadata.version %v does not support unregistering controllers.", a.version)
			case !registered:
				return decision{}, refuse(kafka.ErrControllerIDNotRegistered, "Controller ID %d is not currently registered.", id)
			case id == a.o.ID:
				return decision{}, refuse(kafka.ErrInvalidRequest, "Controller cannot unregister itself while it is active.")
			}
			a.o.Logger.Info("unregistering a controller", "controller", id, "principal", ctx.Principal)
			record := metarec.NewUnregisterControllerRecord()
			record.ControllerID = id
			return decision{records: []metarec.Message{record}, answer: func() { done(answer) }}, nil
		},
		refuse: func(r refusal) {
			answer.ErrorCode, answer.ErrorMessage = int16(r.code), r.text()
			done(answer)
		},
	})
}

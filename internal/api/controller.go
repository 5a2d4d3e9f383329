package api

import (
	"barnabas/internal/controller"
	"barnabas/internal/kafka"
	"barnabas/internal/server"
	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Controller answers what comes to controller listeners.
type Controller struct {
	Options
	served    *wire.Served
	functions [kmsg.MaxKey + 1]func(*Controller, *call)
	errors    *errorCounter
}

func controllerFunctions() map[kmsg.Key]func(*Controller, *call) {
	return map[kmsg.Key]func(*Controller, *call){
		kmsg.ApiVersions:             (*Controller).apiVersions,
		kmsg.CreateTopics:            (*Controller).createTopics,
		kmsg.DeleteTopics:            (*Controller).deleteTopics,
		kmsg.CreatePartitions:        (*Controller).createPartitions,
		kmsg.DescribeConfigs:         (*Controller).describeConfigs,
		kmsg.AlterConfigs:            (*Controller).legacyAlterConfigs,
		kmsg.IncrementalAlterConfigs: (*Controller).incrementalAlterConfigs,
		kmsg.AlterPartition:          (*Controller).alterPartition,
		kmsg.DescribeCluster:         (*Controller).describeCluster,
		kmsg.BrokerRegistration:      (*Controller).registerBroker,
		kmsg.BrokerHeartbeat:         (*Controller).brokerHeartbeat,
		kmsg.UnregisterBroker:        (*Controller).unregisterBroker,
		kmsg.AllocateProducerIDs:     (*Controller).allocateProducerIDs,
		kmsg.AssignReplicasToDirs:    (*Controller).assignReplicasToDirs,
		kmsg.DescribeQuorum:          (*Controller).describeQuorum,
		kmsg.UpdateFeatures:          (*Controller).updateFeatures,
		kmsg.UnregisterController:    (*Controller).unregisterController,
	}
}

// NewController returns the handler of controller listeners.
func NewController(o Options) *Controller {
	c := &Controller{Options: o}
	var keys []kmsg.Key
	for key, f := range controllerFunctions() {
		keys = append(keys, key)
		c.functions[key] = f
	}
	c.served, c.errors = wire.NewServed(keys...), newErrorCounter(o.Errors, keys)
	return c
}

// Served is the set of requests that the handler answers.
func (c *Controller) Served() *wire.Served { return c.served }

// Serve answers a run of requests of one connection.
func (c *Controller) Serve(conn *server.Conn, run []*server.Request) {
	for _, r := range run {
		c.functions[r.Header.Key](c, &call{Request: r, conn: conn, authorizer: c.Authorizer, errors: c.errors})
	}
}

// clusterAction refuses requests between nodes from whom may not send them: it
// answers with the error code set by set, and is false.
func clusterAction(c *call, resp kmsg.Response, set func(code int16)) bool {
	if c.mayCluster(kmsg.ACLOperationClusterAction) {
		return true
	}
	set(int16(kafka.ErrClusterAuthorizationFailed))
	c.ReplyMessage(resp)
	return false
}

// registerBroker serves BrokerRegistration v0-v4, see the controller.
func (c *Controller) registerBroker(call *call) {
	req := call.Msg.(*kmsg.BrokerRegistrationRequest)
	refused := kmsg.NewPtrBrokerRegistrationResponse()
	if clusterAction(call, refused, func(code int16) { refused.ErrorCode = code }) {
		c.Options.Controller.RegisterBroker(call.context(), req, controller.Registration{},
			func(resp *kmsg.BrokerRegistrationResponse) { call.ReplyMessage(resp) })
	}
}

// brokerHeartbeat serves BrokerHeartbeat v0-v2.
func (c *Controller) brokerHeartbeat(call *call) {
	req := call.Msg.(*kmsg.BrokerHeartbeatRequest)
	refused := kmsg.NewPtrBrokerHeartbeatResponse()
	if clusterAction(call, refused, func(code int16) { refused.ErrorCode = code }) {
		c.Options.Controller.BrokerHeartbeat(call.context(), req,
			func(resp *kmsg.BrokerHeartbeatResponse) { call.ReplyMessage(resp) })
	}
}

// alterPartition serves AlterPartition v2-v3.
func (c *Controller) alterPartition(call *call) {
	req := call.Msg.(*kmsg.AlterPartitionRequest)
	refused := kmsg.NewPtrAlterPartitionResponse()
	if clusterAction(call, refused, func(code int16) { refused.ErrorCode = code }) {
		if len(req.Topics) == 0 { // nothing is asked, whoever asks
			call.ReplyMessage(kmsg.NewPtrAlterPartitionResponse())
			return
		}
		c.Options.Controller.AlterPartition(call.context(), req,
			func(resp *kmsg.AlterPartitionResponse) { call.ReplyMessage(resp) })
	}
}

// allocateProducerIDs serves AllocateProducerIds v0.
func (c *Controller) allocateProducerIDs(call *call) {
	req := call.Msg.(*kmsg.AllocateProducerIDsRequest)
	refused := kmsg.NewPtrAllocateProducerIDsResponse()
	if clusterAction(call, refused, func(code int16) { refused.ErrorCode = code }) {
		c.Options.Controller.AllocateProducerIDs(call.context(), req,
			func(resp *kmsg.AllocateProducerIDsResponse) { call.ReplyMessage(resp) })
	}
}

// assignReplicasToDirs serves AssignReplicasToDirs v0 (KIP-858).
func (c *Controller) assignReplicasToDirs(call *call) {
	req := call.Msg.(*kmsg.AssignReplicasToDirsRequest)
	refused := kmsg.NewPtrAssignReplicasToDirsResponse()
	if clusterAction(call, refused, func(code int16) { refused.ErrorCode = code }) {
		c.Options.Controller.AssignReplicasToDirs(call.context(), req,
			func(resp *kmsg.AssignReplicasToDirsResponse) { call.ReplyMessage(resp) })
	}
}

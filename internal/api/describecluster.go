package api

import (
	"fmt"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Endpoint types of DescribeCluster (KIP-919).
const (
	endpointBroker     int8 = 1
	endpointController int8 = 2
)

// describeCluster serves DescribeCluster v0-v2: v1 endpoint type, v2 fenced
// brokers (KIP-1073).
func (b *Broker) describeCluster(c *call) {
	req := c.Msg.(*kmsg.DescribeClusterRequest)
	resp, ok := b.beginDescribeCluster(c, req, endpointBroker)
	if ok {
		img := b.Image()
		resp.ControllerID = int32(b.someBroker(img))
		for _, br := range img.Cluster.Brokers.All() {
			if br.Fenced && !req.IncludeFencedBrokers {
				continue
			}
			at, ok := b.endpoint(br, c.conn)
			if !ok {
				continue
			}
			n := kmsg.NewDescribeClusterResponseBroker()
			n.NodeID, n.Host, n.Port, n.Rack, n.IsFenced = int32(br.ID), at.host, at.port, br.Rack, br.Fenced
			resp.Brokers = append(resp.Brokers, n)
		}
	}
	c.ReplyMessage(resp)
}

// describeCluster of a controller names controllers. Unlike that of a broker it is
// not for everybody, as in Apache.
func (c *Controller) describeCluster(call *call) {
	req := call.Msg.(*kmsg.DescribeClusterRequest)
	if !call.mayCluster(kmsg.ACLOperationAlter) {
		resp, text := kmsg.NewPtrDescribeClusterResponse(), textClusterRefused
		resp.ErrorCode, resp.ErrorMessage = int16(kafka.ErrClusterAuthorizationFailed), &text
		resp.ControllerID, resp.ClusterAuthorizedOperations = -1, noOperations
		call.ReplyMessage(resp)
		return
	}
	resp, ok := c.beginDescribeCluster(call, req, endpointController)
	if ok {
		resp.ControllerID = int32(c.NodeID)
		for id, r := range c.Image().Cluster.Controllers.All() {
			for _, e := range r.EndPoints {
				if e.Name != call.conn.Listener() {
					continue
				}
				n := kmsg.NewDescribeClusterResponseBroker()
				n.NodeID, n.Host, n.Port = int32(id), e.Host, int32(e.Port)
				resp.Brokers = append(resp.Brokers, n)
			}
		}
	}
	call.ReplyMessage(resp)
}

// beginDescribeCluster checks what both kinds check; ok is false if the answer is
// complete. A refusal says nothing of its own endpoint type. Version 0 has no
// field for one and means brokers.
func (o *Options) beginDescribeCluster(c *call, req *kmsg.DescribeClusterRequest, own int8) (resp *kmsg.DescribeClusterResponse, ok bool) {
	resp = kmsg.NewPtrDescribeClusterResponse()
	resp.ControllerID = -1
	resp.ClusterAuthorizedOperations = noOperations
	wanted := req.EndpointType
	if req.Version == 0 {
		wanted = endpointBroker
	}
	if wanted != own {
		code, text := kafka.ErrMismatchedEndpointType, fmt.Sprintf("The request was sent to an endpoint of type %s, but we wanted an endpoint of type %s",
			endpointName(own), endpointName(wanted))
		switch {
		case wanted != endpointBroker && wanted != endpointController:
			code, text = kafka.ErrUnsupportedEndpointType, fmt.Sprintf("Unsupported endpoint type %d", wanted)
		case req.Version == 0:
			code = kafka.ErrInvalidRequest // a client of this version does not know the other
		}
		resp.ErrorCode, resp.ErrorMessage = int16(code), &text
		return resp, false
	}
	resp.EndpointType = own
	resp.ClusterID = o.ClusterID
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = 0
		if c.mayCluster(kmsg.ACLOperationDescribe) {
			resp.ClusterAuthorizedOperations = c.clusterOperations()
		}
	}
	return resp, true
}

func endpointName(t int8) string {
	if t == endpointController {
		return "CONTROLLER"
	}
	return "BROKER"
}

// someBroker is what clients are told to be the controller: a broker that is
// alive, since brokers pass on what the controller has to do. It is this one.
func (o *Options) someBroker(img *image.Image) kafka.BrokerID {
	if b := img.Cluster.Broker(o.NodeID); b != nil && !b.Fenced {
		return o.NodeID
	}
	for id, b := range img.Cluster.Brokers.All() {
		if !b.Fenced {
			return id
		}
	}
	return kafka.NoBroker
}

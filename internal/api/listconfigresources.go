package api

import (
	"slices"
	"strconv"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// listConfigResources serves ListConfigResources v0-v1.
//
//	v0 client-metrics resources (KIP-714, ListClientMetricsResources)
//	v1 any kinds of resources; none named is all of them (KIP-1142)
//
// Topics and brokers are listed because they are there, the others because
// something is set on them.
func (b *Broker) listConfigResources(c *call) {
	req := c.Msg.(*kmsg.ListConfigResourcesRequest)
	resp := req.ResponseKind().(*kmsg.ListConfigResourcesResponse)
	kinds := listedKinds(req)
	switch {
	case !c.mayCluster(kmsg.ACLOperationDescribeConfigs):
		resp.ErrorCode = int16(kafka.ErrClusterAuthorizationFailed)
	case slices.ContainsFunc(kinds, func(k int8) bool { return !slices.Contains(listableKinds, k) }):
		resp.ErrorCode = int16(kafka.ErrUnsupportedVersion)
	default:
		for _, kind := range listableKinds {
			if slices.Contains(kinds, kind) {
				b.listKind(kind, resp, c)
			}
		}
	}
	c.ReplyMessage(resp)
}

// listableKinds are the kinds of resources that can be listed, in the order in
// which Apache Kafka lists them.
var listableKinds = []int8{
	int8(kmsg.ConfigResourceTypeGroupConfig), int8(kmsg.ConfigResourceTypeClientMetrics), int8(kmsg.ConfigResourceTypeBrokerLogger),
	int8(kmsg.ConfigResourceTypeBroker), int8(kmsg.ConfigResourceTypeTopic),
}

// listedKinds are the kinds that a request asks for.
func listedKinds(req *kmsg.ListConfigResourcesRequest) []int8 {
	switch {
	case req.Version == 0:
		return []int8{int8(kmsg.ConfigResourceTypeClientMetrics)}
	case len(req.ResourceTypes) == 0:
		return listableKinds
	}
	return req.ResourceTypes
}

func (b *Broker) listKind(kind int8, resp *kmsg.ListConfigResourcesResponse, c *call) {
	add := func(name string) {
		row := kmsg.NewListConfigResourcesResponseConfigResource()
		row.Name, row.Type = name, kind
		resp.ConfigResources = append(resp.ConfigResources, row)
	}
	img := b.Image()
	switch kmsg.ConfigResourceType(kind) {
	case kmsg.ConfigResourceTypeTopic:
		for t := range img.Topics.All() {
			add(t.Name)
		}
	case kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger:
		b.alive(img, c.conn, func(broker *image.Broker, _ address) { add(strconv.Itoa(int(broker.ID))) })
	default:
		for r := range img.Configs.All() {
			if int8(r.Type) == kind {
				add(r.Name)
			}
		}
	}
}

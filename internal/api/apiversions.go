package api

import (
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/server"
	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// apiVersions serves ApiVersions v0-v5, in every version that a client may send.
func (b *Broker) apiVersions(c *call) { b.answerApiVersions(c, b.served, wire.Broker) }

func (c *Controller) apiVersions(call *call) {
	c.answerApiVersions(call, c.served, wire.Controller)
}

func (o *Options) answerApiVersions(c *call, served *wire.Served, scope wire.Scope) {
	img := o.Image()
	a := wire.ApiVersions{
		Served: served, Scope: scope, ClusterID: o.ClusterID, NodeID: o.NodeID,
		Supported: SupportedFeatures(), Finalized: o.finalized(img), FinalizedEpoch: int64(img.Position.Offset),
	}
	req := c.Msg.(*kmsg.ApiVersionsRequest)
	resp := a.Answer(c.Header.Version, req)
	if resp.ErrorCode == 0 {
		c.conn.SetSoftware(req.ClientSoftwareName, req.ClientSoftwareVersion)
	}
	c.Reply(server.Piece{Bytes: resp.AppendTo(nil)})
}

// SupportedFeatures are the levels of features whose records this node can
// replay, keep and hand back.
func SupportedFeatures() []wire.FeatureRange {
	out := []wire.FeatureRange{{Name: kafka.FeatureMetadataVersion, Min: int16(kafka.MinMetadataVersion), Max: int16(kafka.LatestMetadataVersion)}}
	for _, f := range kafka.Features() {
		out = append(out, wire.FeatureRange{Name: f.Name, Min: 0, Max: f.Max()})
	}
	return out
}

func (o *Options) finalized(img *image.Image) []wire.FeatureLevel {
	out := []wire.FeatureLevel{{Name: kafka.FeatureKRaftVersion, Level: o.KRaftVersion()}}
	if img.Features.MetadataVersion > 0 {
		out = append(out, wire.FeatureLevel{Name: kafka.FeatureMetadataVersion, Level: int16(img.Features.MetadataVersion)})
	}
	for name, level := range img.Features.Levels.All() {
		out = append(out, wire.FeatureLevel{Name: name, Level: level})
	}
	return out
}

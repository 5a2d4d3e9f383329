package api

import (
	"fmt"
	"slices"
	"strconv"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeConfigs serves DescribeConfigs v1-v4 for topics and for this broker: v3
// types and documentation (there is none to give). Other kinds of resources are
// refused by name.
func (b *Broker) describeConfigs(c *call) {
	req := c.Msg.(*kmsg.DescribeConfigsRequest)
	resp := kmsg.NewPtrDescribeConfigsResponse()
	answered := map[configResource]int{}
	for i := range req.Resources {
		r := &req.Resources[i]
		this := configResource{r.ResourceType, r.ResourceName}
		if answered[this]++; answered[this] > maxSameResource {
			continue
		}
		out := kmsg.NewDescribeConfigsResponseResource()
		out.ResourceType, out.ResourceName = r.ResourceType, r.ResourceName
		entries, code, text := b.configEntries(c, r)
		out.ErrorCode, out.ErrorMessage = int16(code), &text // Apache's is never null
		for j := range entries {
			if len(r.ConfigNames) == 0 || slices.Contains(r.ConfigNames, entries[j].Name) {
				out.Configs = append(out.Configs, b.configAnswer(&entries[j], r.ResourceType, req))
			}
		}
		resp.Resources = append(resp.Resources, out)
	}
	c.ReplyMessage(resp)
}

// maxSameResource is how often a request may name one resource; Apache knows no
// limit. More are left out, or a small request would make a huge answer.
const maxSameResource = 8

// configResource names what a request asks about.
type configResource struct {
	kind kmsg.ConfigResourceType
	name string
}

func (b *Broker) configEntries(c *call, r *kmsg.DescribeConfigsRequestResource) ([]config.Entry, kafka.ErrorCode, string) {
	switch r.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		return b.topicConfigEntries(c, r.ResourceName)
	case kmsg.ConfigResourceTypeBroker:
		return b.brokerConfigEntries(c, r.ResourceName)
	case kmsg.ConfigResourceTypeBrokerLogger, kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeGroupConfig:
		return nil, kafka.ErrInvalidRequest, fmt.Sprintf("Configurations of resource type %d are not supported by this release, only those of topics and brokers.", r.ResourceType)
	}
	return nil, kafka.ErrInvalidRequest, textInvalidRequest
}

func (b *Broker) topicConfigEntries(c *call, topic string) ([]config.Entry, kafka.ErrorCode, string) {
	if !c.mayTopic(kmsg.ACLOperationDescribeConfigs, topic) {
		return nil, kafka.ErrTopicAuthorizationFailed, textTopicRefused
	}
	if err := kafka.CheckTopicName(topic); err != nil {
		return nil, kafka.ErrInvalidTopicException, err.Error()
	}
	img := b.Image()
	if img.Topics.ByName(topic) == nil {
		return nil, kafka.ErrUnknownTopicOrPartition, ""
	}
	overrides := map[string]string{}
	for k, v := range img.Configs.Of(image.ConfigResource{Type: image.TopicResource, Name: topic}).All() {
		overrides[k] = v
	}
	return b.Effective().DescribeTopic(overrides), kafka.ErrNone, ""
}

func (b *Broker) brokerConfigEntries(c *call, name string) ([]config.Entry, kafka.ErrorCode, string) {
	if !c.mayCluster(kmsg.ACLOperationDescribeConfigs) {
		return nil, kafka.ErrClusterAuthorizationFailed, textClusterRefused
	}
	entries := b.Effective().DescribeBroker()
	if name == "" {
		entries = slices.DeleteFunc(entries, func(e config.Entry) bool { return e.Source != config.SourceDynamicDefaultBroker })
		return entries, kafka.ErrNone, ""
	}
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return nil, kafka.ErrInvalidRequest, fmt.Sprintf("Broker id must be an integer, but it is: %s", name)
	}
	if kafka.BrokerID(id) != b.NodeID {
		return nil, kafka.ErrInvalidRequest, fmt.Sprintf("Unexpected broker id, expected %d or empty string, but received %s", b.NodeID, name)
	}
	return entries, kafka.ErrNone, ""
}

func (b *Broker) configAnswer(e *config.Entry, resource kmsg.ConfigResourceType, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	out := kmsg.NewDescribeConfigsResponseResourceConfig()
	out.Name, out.Value, out.Source = e.Name, e.Value, kmsg.ConfigSource(e.Source)
	out.ConfigType = kmsg.ConfigType(e.Type)
	if k := config.BrokerKeys().Lookup(e.Name); k != nil && resource == kmsg.ConfigResourceTypeBroker {
		out.ReadOnly, out.IsSensitive = k.Update == config.ReadOnly, k.Sensitive()
	}
	if out.IsSensitive {
		out.Value = nil
	}
	if req.IncludeSynonyms {
		for _, s := range e.Synonyms {
			o := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			o.Name, o.Value, o.Source = s.Name, &s.Value, kmsg.ConfigSource(s.Source)
			if out.IsSensitive {
				o.Value = nil
			}
			out.ConfigSynonyms = append(out.ConfigSynonyms, o)
		}
	}
	return out
}

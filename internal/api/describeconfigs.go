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

// describeConfigs serves DescribeConfigs v1-v4.
//
//	v3 types and documentation (KIP-569)
//
// Brokers and controllers describe alike: topics, groups and client-metrics
// resources from the metadata, themselves, and their loggers.
func (b *Broker) describeConfigs(c *call) { describeConfigs(&b.Options, c) }

func (c *Controller) describeConfigs(call *call) { describeConfigs(&c.Options, call) }

func describeConfigs(o *Options, c *call) {
	req := c.Msg.(*kmsg.DescribeConfigsRequest)
	resp := kmsg.NewPtrDescribeConfigsResponse()
	answered := newRepeats[configResource](len(req.Resources))
	named := 0 // groups and client-metrics resources
	for i := range req.Resources {
		r := &req.Resources[i]
		this := configResource{r.ResourceType, r.ResourceName}
		if id, err := strconv.ParseInt(r.ResourceName, 10, 32); err == nil && r.ResourceType != kmsg.ConfigResourceTypeTopic {
			this.name = strconv.FormatInt(id, 10) // 01 is broker 1
		}
		if answered.tooOften(this) {
			continue
		}
		if r.ResourceType == kmsg.ConfigResourceTypeGroupConfig || r.ResourceType == kmsg.ConfigResourceTypeClientMetrics {
			named++
		}
		out := kmsg.NewDescribeConfigsResponseResource()
		out.ResourceType, out.ResourceName = r.ResourceType, r.ResourceName
		entries, code, text := o.configEntries(c, r)
		if named > maxDescribedNames {
			entries, code, text = nil, kafka.ErrInvalidRequest, fmt.Sprintf("A request may name %d groups and client-metrics resources.", maxDescribedNames)
		}
		out.ErrorCode, out.ErrorMessage = int16(code), &text // Apache's is never null
		for j := range entries {
			if len(r.ConfigNames) == 0 || slices.Contains(r.ConfigNames, entries[j].Name) {
				out.Configs = append(out.Configs, configAnswer(&entries[j], req))
			}
		}
		resp.Resources = append(resp.Resources, out)
	}
	c.ReplyMessage(resp)
}

// maxDescribedNames is how many groups and client-metrics resources a request may
// name: any name has an answer, which is a thousand times as large.
const maxDescribedNames = 1000

// configResource names what a request asks about.
type configResource struct {
	kind kmsg.ConfigResourceType
	name string
}

func (o *Options) configEntries(c *call, r *kmsg.DescribeConfigsRequestResource) ([]config.Entry, kafka.ErrorCode, string) {
	if code, text := c.mayConfig(kmsg.ACLOperationDescribeConfigs, r.ResourceType, r.ResourceName); code != kafka.ErrNone {
		return nil, code, text
	}
	switch r.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		return o.topicConfigEntries(r.ResourceName)
	case kmsg.ConfigResourceTypeBroker:
		return o.brokerConfigEntries(r.ResourceName)
	case kmsg.ConfigResourceTypeBrokerLogger:
		return o.loggerEntries(r.ResourceName)
	case kmsg.ConfigResourceTypeClientMetrics:
		if r.ResourceName == "" {
			return nil, kafka.ErrInvalidRequest, "Client metrics subscription name must not be empty"
		}
		return o.Effective().ClientMetricsSources(o.configsOf(image.ClientMetricsResource, r.ResourceName)), kafka.ErrNone, ""
	case kmsg.ConfigResourceTypeGroupConfig:
		if r.ResourceName == "" {
			return nil, kafka.ErrInvalidRequest, "Group name must not be empty"
		}
		return o.Effective().GroupSources(o.configsOf(image.GroupResource, r.ResourceName)), kafka.ErrNone, ""
	}
	return nil, kafka.ErrInvalidRequest, textInvalidRequest
}

// configsOf is what is set on a resource.
func (o *Options) configsOf(kind image.ResourceType, name string) map[string]string {
	out := map[string]string{}
	for k, v := range o.Image().Configs.Of(image.ConfigResource{Type: kind, Name: name}).All() {
		out[k] = v
	}
	return out
}

func (o *Options) topicConfigEntries(topic string) ([]config.Entry, kafka.ErrorCode, string) {
	if err := kafka.CheckTopicName(topic); err != nil {
		return nil, kafka.ErrInvalidTopicException, err.Error()
	}
	if o.Image().Topics.ByName(topic) == nil {
		return nil, kafka.ErrUnknownTopicOrPartition, ""
	}
	return o.Effective().DescribeTopic(o.configsOf(image.TopicResource, topic)), kafka.ErrNone, ""
}

func (o *Options) brokerConfigEntries(name string) ([]config.Entry, kafka.ErrorCode, string) {
	if name == "" {
		return o.Effective().DescribeClusterDefault(), kafka.ErrNone, ""
	}
	switch id, err := strconv.ParseInt(name, 10, 32); {
	case err != nil:
		return nil, kafka.ErrInvalidRequest, fmt.Sprintf("Broker id must be an integer, but it is: %s", name)
	case kafka.BrokerID(id) != o.NodeID:
		return nil, kafka.ErrInvalidRequest, fmt.Sprintf("Unexpected broker id, expected %d or empty string, but received %s", o.NodeID, name)
	}
	return o.Effective().DescribeBroker(), kafka.ErrNone, ""
}

func configAnswer(e *config.Entry, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	out := kmsg.NewDescribeConfigsResponseResourceConfig()
	out.Name, out.Value, out.Source = e.Name, e.Value, kmsg.ConfigSource(e.Source)
	out.ConfigType, out.ReadOnly, out.IsSensitive = kmsg.ConfigType(e.Type), e.ReadOnly, e.Sensitive
	if req.IncludeDocumentation && e.Doc != "" || e.Source == config.SourceLogger { // a logger's is empty, not null
		out.Documentation = &e.Doc
	}
	if !req.IncludeSynonyms {
		return out
	}
	for _, s := range e.Synonyms {
		o := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
		o.Name, o.Source = s.Name, kmsg.ConfigSource(s.Source)
		if !e.Sensitive {
			o.Value = &s.Value
		}
		out.ConfigSynonyms = append(out.ConfigSynonyms, o)
	}
	return out
}

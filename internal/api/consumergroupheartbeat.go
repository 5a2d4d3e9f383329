package api

import (
	"slices"
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroupHeartbeat serves ConsumerGroupHeartbeat v0-v1 (KIP-848): v1 regular
// expressions, and ids that members make (KIP-1082).
func (b *Broker) consumerGroupHeartbeat(c *call) {
	req := c.Msg.(*kmsg.ConsumerGroupHeartbeatRequest)
	refuse := func(code kafka.ErrorCode, text string) {
		resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
		resp.ErrorCode = int16(code)
		if text != "" {
			resp.ErrorMessage = &text
		}
		c.ReplyMessage(resp)
	}
	hidden := func(topic string) bool { return !c.mayTopic(kmsg.ACLOperationDescribe, topic) }
	switch {
	case !b.servesConsumerGroups():
		refuse(kafka.ErrUnsupportedVersion, textUnsupportedVersion)
		return
	case !c.mayGroup(kmsg.ACLOperationRead, req.Group):
		refuse(kafka.ErrGroupAuthorizationFailed, "Group authorization failed.")
		return
	case slices.ContainsFunc(req.SubscribedTopicNames, hidden):
		refuse(kafka.ErrTopicAuthorizationFailed, textTopicRefused)
		return
	}
	if resp := b.GroupSettings.CheckConsumerHeartbeat(req); resp != nil {
		c.ReplyMessage(resp)
		return
	}
	client, from := c.client(), group.Client{ID: c.Header.ClientID, Host: javaAddress(c.conn.RemoteAddr().Addr())}
	allowed := func(topic string) bool {
		return b.Authorizer.Allows(client, kmsg.ACLOperationDescribe, kmsg.ACLResourceTypeTopic, topic)
	}
	b.withGroup(req.Group, func(core *group.Core, now time.Time) machine.Decision {
		return core.ConsumerHeartbeat(now, from, req, allowed, func(resp *kmsg.ConsumerGroupHeartbeatResponse) { c.ReplyMessage(resp) })
	}, func(code kafka.ErrorCode) { refuse(code, "") })
}

const textUnsupportedVersion = "The version of API is not supported."

// servesConsumerGroups says whether groups of the consumer protocol are served: the
// configuration and the level of group.version allow it.
func (b *Broker) servesConsumerGroups() bool {
	return slices.Contains(b.Config.Groups.RebalanceProtocols, "consumer") && b.Image().Features.Level(kafka.FeatureGroup) >= 1
}

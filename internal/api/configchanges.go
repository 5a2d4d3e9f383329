package api

import (
	"fmt"
	"strconv"
	"strings"

	"barnabas/internal/config"
	"barnabas/internal/controller"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Configurations are changed by the controller. Before it is asked, a broker checks
// what only it can: its own configuration and what it would become. Levels of
// loggers are changed by the node that is asked, and stand in no metadata.

// configOpSet and its brother are what the broker looks for.
const (
	configOpSet    = kmsg.IncrementalAlterConfigOpSet
	configOpDelete = kmsg.IncrementalAlterConfigOpDelete
)

// mayConfig says whether the client may do op with the configuration of a resource.
func (c *call) mayConfig(op kmsg.ACLOperation, kind kmsg.ConfigResourceType, name string) (kafka.ErrorCode, string) {
	switch {
	case kind == kmsg.ConfigResourceTypeTopic && !c.mayTopic(op, name):
		return kafka.ErrTopicAuthorizationFailed, textTopicRefused
	case kind == kmsg.ConfigResourceTypeGroupConfig && !c.authorizer.Allows(c.client(), op, kmsg.ACLResourceTypeGroup, name):
		return kafka.ErrGroupAuthorizationFailed, "Group authorization failed."
	case kind == kmsg.ConfigResourceTypeTopic, kind == kmsg.ConfigResourceTypeGroupConfig:
		return kafka.ErrNone, ""
	}
	if !c.mayCluster(op) {
		return kafka.ErrClusterAuthorizationFailed, textClusterRefused
	}
	return kafka.ErrNone, ""
}

func configRefusal(code kafka.ErrorCode, format string, args ...any) *controller.ConfigAnswer {
	text := fmt.Sprintf(format, args...)
	return &controller.ConfigAnswer{Code: code, Text: &text}
}

// alterConfigs answers each change: those that screen has an answer for with that,
// the others with the controller's.
func (o *Options) alterConfigs(c *call, changes []controller.ConfigChange, how controller.AlterConfigsOptions,
	screen func(*controller.ConfigChange) *controller.ConfigAnswer, done func([]controller.ConfigAnswer)) {
	answers := make([]controller.ConfigAnswer, len(changes))
	var ask []controller.ConfigChange
	var asked []int
	for i := range changes {
		if answer := screen(&changes[i]); answer != nil {
			answers[i] = *answer
			continue
		}
		ask, asked = append(ask, changes[i]), append(asked, i)
	}
	if len(ask) == 0 {
		done(answers)
		return
	}
	o.Controller.AlterConfigs(c.context(), ask, how, func(made []controller.ConfigAnswer) {
		for i, answer := range made {
			answers[asked[i]] = answer
		}
		done(answers)
	})
}

// screenAtBroker answers what a client's listener can answer by itself; nil leaves
// the rest to the controller.
func (b *Broker) screenAtBroker(c *call, changes []controller.ConfigChange, validateOnly bool) func(*controller.ConfigChange) *controller.ConfigAnswer {
	count := map[configResource]int{}
	for i := range changes {
		count[configResource{changes[i].Type, changes[i].Name}]++
	}
	return func(change *controller.ConfigChange) *controller.ConfigAnswer {
		if count[configResource{change.Type, change.Name}] > 1 {
			return configRefusal(kafka.ErrInvalidRequest, "Each resource must appear at most once.")
		}
		if code, text := c.mayConfig(kmsg.ACLOperationAlterConfigs, change.Type, change.Name); code != kafka.ErrNone {
			return &controller.ConfigAnswer{Code: code, Text: &text}
		}
		if refused := checkOps(change); refused != nil {
			return refused
		}
		switch {
		case change.Type == kmsg.ConfigResourceTypeTopic, change.Type == kmsg.ConfigResourceTypeClientMetrics, change.Type == kmsg.ConfigResourceTypeGroupConfig:
			return nil
		case change.Type == kmsg.ConfigResourceTypeBroker:
			return b.screenBrokerConfig(change)
		case change.Type == kmsg.ConfigResourceTypeBrokerLogger && !change.Replace:
			return b.alterLoggers(change, validateOnly)
		}
		return configRefusal(kafka.ErrInvalidRequest, "Unknown resource type %d", change.Type)
	}
}

// checkOps refuses keys that are named twice, and values that are missing.
func checkOps(change *controller.ConfigChange) *controller.ConfigAnswer {
	seen := map[string]bool{}
	var nulls []string
	for _, op := range change.Ops {
		if seen[op.Name] {
			return configRefusal(kafka.ErrInvalidRequest, "Error due to duplicate config keys")
		}
		seen[op.Name] = true
		if op.Op != configOpDelete && op.Value == nil {
			nulls = append(nulls, op.Name)
		}
	}
	if len(nulls) > 0 {
		return configRefusal(kafka.ErrInvalidRequest, "Null value not supported for : %s", strings.Join(nulls, ", "))
	}
	return nil
}

// screenBrokerConfig checks this broker's configuration, or the default of all, as
// the change would make it.
func (b *Broker) screenBrokerConfig(change *controller.ConfigChange) *controller.ConfigAnswer {
	level := config.AllBrokers
	if change.Name != "" {
		level = config.ThisBroker
		id, err := strconv.ParseInt(change.Name, 10, 32)
		if err != nil {
			return configRefusal(kafka.ErrInvalidRequest, "Node id must be an integer, but it is: %s", change.Name)
		}
		if kafka.BrokerID(id) != b.NodeID || change.Name != strconv.Itoa(int(id)) { // nobody reads what is set on "01"
			return configRefusal(kafka.ErrInvalidRequest, "Unexpected broker id, expected %d, but received %s", b.NodeID, change.Name)
		}
	}
	effective := b.Effective()
	wanted := map[string]string{}
	if !change.Replace {
		wanted = effective.DynamicValues(b.configsOf(image.BrokerResource, change.Name))
	}
	for _, op := range change.Ops {
		if refused := applyBrokerOp(effective, op, wanted); refused != nil {
			return refused
		}
	}
	if err := effective.ValidateDynamic(level, wanted); err != nil {
		return configRefusal(kafka.ErrInvalidRequest, "%s", err)
	}
	return nil
}

func applyBrokerOp(c *config.Broker, op controller.ConfigOp, wanted map[string]string) *controller.ConfigAnswer {
	verb := ""
	switch op.Op {
	case configOpSet:
		wanted[op.Name] = *op.Value
		return nil
	case configOpDelete:
		delete(wanted, op.Name)
		return nil
	case kmsg.IncrementalAlterConfigOpAppend:
		verb = "append"
	case kmsg.IncrementalAlterConfigOpSubtract:
		verb = "subtract"
	default:
		return configRefusal(kafka.ErrInvalidRequest, "Unknown operations type %d", op.Op)
	}
	base, isList := c.DynamicList(config.BrokerKeys(), op.Name)
	switch {
	case config.BrokerKeys().Lookup(op.Name) == nil:
		return configRefusal(kafka.ErrInvalidConfig, "Unknown config name: %s", op.Name)
	case !isList:
		return configRefusal(kafka.ErrInvalidConfig, "Config value %s is not allowed for config key: %s", verb, op.Name)
	}
	if current, set := wanted[op.Name]; set {
		base = current
	}
	wanted[op.Name] = controller.ChangeList(base, op)
	return nil
}

// screenAtController answers what a controller's listener can answer by itself.
func (o *Options) screenAtController(c *call, validateOnly bool) func(*controller.ConfigChange) *controller.ConfigAnswer {
	return func(change *controller.ConfigChange) *controller.ConfigAnswer {
		switch change.Type {
		case kmsg.ConfigResourceTypeTopic, kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger, kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeGroupConfig:
		default:
			return configRefusal(kafka.ErrUnsupportedVersion, "Unknown resource type %d.", change.Type)
		}
		if code, text := c.mayConfig(kmsg.ACLOperationAlterConfigs, change.Type, change.Name); code != kafka.ErrNone {
			return &controller.ConfigAnswer{Code: code, Text: &text}
		}
		switch {
		case change.Type != kmsg.ConfigResourceTypeBrokerLogger:
			return nil
		case change.Replace:
			return configRefusal(kafka.ErrInvalidRequest, "Unexpected resource type BROKER_LOGGER.")
		}
		return o.alterLoggers(change, validateOnly)
	}
}

// withoutRepeated splits the changes of resources that are named once from those
// that are named again and again.
func withoutRepeated(changes []controller.ConfigChange) (once, repeated []controller.ConfigChange) {
	count := map[configResource]int{}
	for i := range changes {
		count[configResource{changes[i].Type, changes[i].Name}]++
	}
	for i := range changes {
		this := configResource{changes[i].Type, changes[i].Name}
		switch {
		case count[this] == 1:
			once = append(once, changes[i])
		case count[this] > 1:
			repeated = append(repeated, changes[i])
			count[this] = -1
		}
	}
	return once, repeated
}

package controller

import (
	"slices"
	"strings"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConfigChange is what a request wants of the configuration of one resource.
type ConfigChange struct {
	Type kmsg.ConfigResourceType
	Name string
	Ops  []ConfigOp
	// Replace takes away what is set and not named (AlterConfigs).
	Replace bool
}

// ConfigOp is what is to become of one key. A nil value to set is to delete.
type ConfigOp struct {
	Name  string
	Op    kmsg.IncrementalAlterConfigOp
	Value *string
}

// ConfigAnswer is the outcome of a ConfigChange.
type ConfigAnswer struct {
	Code kafka.ErrorCode
	Text *string
}

// AlterConfigsOptions say how changes are meant. The zero value is for what comes
// to a controller listener.
type AlterConfigsOptions struct {
	ValidateOnly bool
	// FromBroker says that the broker whose configuration is concerned has checked
	// the values: it knows things that a controller does not, such as its
	// directories.
	FromBroker bool
}

// Operations of IncrementalAlterConfigs; kmsg has names for them, and these are
// shorter.
const (
	opSet      = kmsg.IncrementalAlterConfigOpSet
	opDelete   = kmsg.IncrementalAlterConfigOpDelete
	opAppend   = kmsg.IncrementalAlterConfigOpAppend
	opSubtract = kmsg.IncrementalAlterConfigOpSubtract
)

// AlterConfigs changes configurations, each resource by itself: done is told of
// each in the order of the changes. The context's Authorize is not asked.
func (c *Controller) AlterConfigs(ctx Context, changes []ConfigChange, o AlterConfigsOptions, done func([]ConfigAnswer)) {
	answers := make([]ConfigAnswer, len(changes))
	work := len(changes)
	for i := range changes {
		work += len(changes[i].Ops)
	}
	if work > maxRecords { // also where few of them would become records
		refused := tooManyRecords()
		for i := range answers {
			answers[i] = ConfigAnswer{refused.code, refused.text()}
		}
		done(answers)
		return
	}
	c.submit(operation{
		name: "alter configs",
		decide: func(a *active) (decision, *refusal) {
			var records []metarec.Message
			for i := range changes {
				made, refused := a.alterConfig(&changes[i], o)
				answers[i] = ConfigAnswer{}
				if refused != nil {
					answers[i] = ConfigAnswer{refused.code, refused.text()}
				}
				records = append(records, made...)
			}
			if o.ValidateOnly {
				records = nil
			}
			return decision{records: records, answer: func() {
				if len(records) > 0 {
					c.o.Logger.Info("configurations changed", "records", len(records), "principal", ctx.Principal, "client_id", ctx.ClientID)
				}
				done(answers)
			}}, nil
		},
		refuse: func(r refusal) {
			for i := range answers {
				answers[i] = ConfigAnswer{r.code, r.text()}
			}
			done(answers)
		},
	})
}

// alterConfig decides on one resource, in Apache's order of checks (class
// ConfigurationControlManager).
func (a *active) alterConfig(change *ConfigChange, o AlterConfigsOptions) ([]metarec.Message, *refusal) {
	resource := image.ConfigResource{Type: image.ResourceType(change.Type), Name: change.Name}
	existing := asMap(a.image.Configs.Of(resource))
	wanted, named, refused := a.applyOps(change, existing)
	if refused == nil {
		refused = a.checkMinISRChange(resource, existing, wanted, named)
	}
	if refused == nil && !o.FromBroker {
		refused = a.checkCordonChange(resource, existing, wanted)
	}
	if refused == nil {
		refused = a.validateConfig(resource, wanted, existing)
	}
	if refused == nil {
		refused = a.checkResourceExists(resource)
	}
	if refused != nil {
		return nil, refused
	}
	return a.configChangeRecords(resource, existing, wanted, named), nil
}

// applyOps returns the values that the resource is to have, and the keys that the
// request names.
func (a *active) applyOps(change *ConfigChange, existing map[string]string) (wanted map[string]string, named []string, refused *refusal) {
	wanted = map[string]string{}
	if !change.Replace {
		for name, value := range existing {
			wanted[name] = value
		}
	}
	for _, op := range change.Ops {
		named = append(named, op.Name)
		switch {
		case op.Op == opDelete, op.Op == opSet && op.Value == nil:
			delete(wanted, op.Name)
			continue
		case op.Op == opSet:
			wanted[op.Name] = *op.Value
		case op.Op == opAppend || op.Op == opSubtract:
			current, isSet := wanted[op.Name]
			base, isList := a.o.Config.DynamicList(listKeys(change.Type), op.Name)
			if !isList {
				verb := map[kmsg.IncrementalAlterConfigOp]string{opAppend: "APPEND", opSubtract: "SUBTRACT"}[op.Op]
				return nil, nil, refuse(kafka.ErrInvalidConfig, "Can't %s to key %s because its type is not LIST.", verb, op.Name)
			}
			if !isSet {
				current = base
			}
			wanted[op.Name] = ChangeList(current, op)
		default:
			return nil, nil, refuse(kafka.ErrInvalidRequest, "Unknown operations type %d", op.Op)
		}
		if len(wanted[op.Name]) > maxConfigValue {
			return nil, nil, refuse(kafka.ErrInvalidConfig, "The configuration value cannot be added because it exceeds the maximum value size of %d bytes.", maxConfigValue)
		}
	}
	return wanted, named, nil
}

// listKeys are the keys whose types the controller knows when it changes a list.
func listKeys(kind kmsg.ConfigResourceType) *config.Set {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
		return config.TopicKeys()
	case kmsg.ConfigResourceTypeBroker:
		return config.BrokerKeys()
	}
	return config.NoKeys()
}

// ChangeList is a list after APPEND or SUBTRACT: it appends the items that are not there, or takes items away. Blanks
// around items count, as they do in Apache.
func ChangeList(current string, op ConfigOp) string {
	var items []string
	if current != "" {
		items = strings.Split(current, ",")
	}
	if op.Value == nil {
		return current
	}
	for _, item := range strings.Split(*op.Value, ",") {
		at := slices.Index(items, item)
		switch {
		case op.Op == opAppend && at < 0:
			items = append(items, item)
		case op.Op == opSubtract && at >= 0:
			items = slices.Delete(items, at, at+1)
		}
	}
	return strings.Join(items, ",")
}

// configChangeRecords are the records of a change that is allowed: of a broker also
// for keys that stay as they are, so that it loads them anew.
func (a *active) configChangeRecords(resource image.ConfigResource, existing, wanted map[string]string, named []string) []metarec.Message {
	for name := range existing {
		if _, stays := wanted[name]; !stays {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	var records []metarec.Message
	minISR := false
	for _, name := range slices.Compact(named) {
		before, was := existing[name]
		after, is := wanted[name]
		if before == after && was == is && resource.Type != image.BrokerResource {
			continue
		}
		r := &metarec.ConfigRecord{ResourceType: int8(resource.Type), ResourceName: resource.Name, Name: name}
		if is {
			r.Value = &after
		}
		records = append(records, r)
		minISR = minISR || name == minInsyncReplicas
	}
	if minISR && a.image.Features.ELREnabled() {
		records = append(records, clearELR(resource))
	}
	return records
}

// clearELR forgets the eligible leader replicas that another min.insync.replicas
// would have chosen otherwise.
func clearELR(resource image.ConfigResource) *metarec.ClearElrRecord {
	r := metarec.NewClearElrRecord()
	if resource.Type == image.TopicResource {
		r.TopicName = resource.Name
	}
	return r
}

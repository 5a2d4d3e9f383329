package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
	"barnabas/internal/config"
)

func configsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server to connect to", Help: "The Kafka server to connect to."},
		options.Option{Name: "bootstrap-controller", Argument: options.Required, Value: "controller to connect to", Help: "The controller to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "command config property file", Help: "Properties for the admin client."},
		options.Option{Name: "alter", Help: "Change the configuration of an entity."},
		options.Option{Name: "describe", Help: "Print the configurations of entities."},
		options.Option{Name: "all", Help: "With --describe: also what is not set."},
		options.Option{Name: "entity-type", Argument: options.Required, Value: "String", Many: true, Help: "topics, brokers, broker-loggers, groups, client-metrics, users, clients or ips."},
		options.Option{Name: "entity-name", Argument: options.Required, Value: "String", Many: true, Help: "The name of the entity."},
		options.Option{Name: "entity-default", Help: "The default of all entities of the type."},
		options.Option{Name: "add-config", Argument: options.Required, Value: "String", Help: "key=value,... to set; lists in brackets: key=[a,b]."},
		options.Option{Name: "add-config-file", Argument: options.Required, Value: "String", Help: "A file of properties to set."},
		options.Option{Name: "delete-config", Argument: options.Required, Value: "String", Help: "Keys to delete, separated by commas."},
		options.Option{Name: "topic", Argument: options.Required, Value: "String", Help: "The topic's name."},
		options.Option{Name: "broker", Argument: options.Required, Value: "String", Help: "The broker's id."},
		options.Option{Name: "broker-defaults", Help: "The default of all brokers."},
		options.Option{Name: "broker-logger", Argument: options.Required, Value: "String", Help: "The id of the broker whose loggers are meant."},
		options.Option{Name: "group", Argument: options.Required, Value: "String", Help: "The group's id."},
		options.Option{Name: "client-metrics", Argument: options.Required, Value: "String", Help: "The name of the client-metrics resource."},
		options.Option{Name: "client", Argument: options.Required, Value: "String", Help: "The client's id."},
		options.Option{Name: "client-defaults", Help: "The default of all clients."},
		options.Option{Name: "user", Argument: options.Required, Value: "String", Help: "The user's name."},
		options.Option{Name: "user-defaults", Help: "The default of all users."},
		options.Option{Name: "ip", Argument: options.Required, Value: "String", Help: "The client's address."},
		options.Option{Name: "ip-defaults", Help: "The default of all addresses."},
		outputOption,
	)
}

// entityKind is a type of entity that can be configured.
type entityKind struct {
	plural, singular string // "topics", "topic"
	resource         kmsg.ConfigResourceType
	own              config.Source // of what is set on an entity itself
}

var entityKinds = []entityKind{
	{"broker-loggers", "broker-logger", kmsg.ConfigResourceTypeBrokerLogger, config.SourceLogger},
	{"topics", "topic", kmsg.ConfigResourceTypeTopic, config.SourceDynamicTopic},
	{"clients", "client", 0, 0},
	{"users", "user", 0, 0},
	{"brokers", "broker", kmsg.ConfigResourceTypeBroker, config.SourceDynamicBroker},
	{"ips", "ip", 0, 0},
	{"client-metrics", "client-metric", kmsg.ConfigResourceTypeClientMetrics, config.SourceClientMetrics},
	{"groups", "group", kmsg.ConfigResourceTypeGroupConfig, config.SourceGroup},
}

// entity is what --entity-type and its brothers name.
type entity struct {
	kind  entityKind
	name  string
	named bool // a name, or the default with name ""
}

// Configs is kafka-configs.
func Configs(args []string, o IO) int {
	set := configsOptions()
	if len(args) == 0 {
		return usageExit(set, o, errors.New("This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, client-metrics or group"))
	}
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	action, ok := set.OneOf("describe", "alter")
	if !ok {
		return usageExit(set, o, errors.New("Command must include exactly one action: --describe, --alter"))
	}
	if action == "describe" {
		for _, other := range []string{"add-config", "add-config-file", "delete-config"} {
			if err := excludes(set, action, other); err != nil {
				return usageExit(set, o, err)
			}
		}
	}
	if err := excludes(set, "alter", "o"); err != nil {
		return usageExit(set, o, err)
	}
	e, err := configuredEntity(set, action)
	if err != nil {
		return toldExit(o, err)
	}
	if err := runConfigs(set, action, e, o); err != nil {
		var misuse *plainError
		if errors.As(err, &misuse) {
			return toldExit(o, err)
		}
		fmt.Fprintf(o.Stderr, "Error while executing config command with args '%s'\n", strings.Join(args, " "))
		fmt.Fprintf(o.Stderr, "java.util.concurrent.ExecutionException: %[1]s: %[2]s\nCaused by: %[1]s: %[2]s\n", exception(err), err)
		return 1
	}
	return 0
}

func runConfigs(set *options.Set, action string, e entity, o IO) error {
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	if err != nil {
		return err
	}
	var ops []configOp
	if action == "alter" {
		if ops, err = configOps(set); err != nil {
			return err
		}
	}
	if e.kind.resource == 0 {
		return plain("Entity type %s is not supported by this release: quotas and SCRAM credentials are not served by it.", e.kind.plural)
	}
	ctx, a, done, err := openConfigAdmin(set, o, set.Get("bootstrap-controller"))
	if err != nil {
		return err
	}
	defer done()
	if action == "describe" {
		return describeEntities(ctx, a, e, set.Has("all"), asJSON)
	}
	if e.kind.plural == "broker-loggers" {
		if err := checkLoggers(ctx, a, e, ops); err != nil {
			return err
		}
	}
	if err := a.alter(ctx, e.kind.resource, e.name, ops); err != nil {
		return err
	}
	if e.name == "" {
		fmt.Fprintf(o.Stdout, "Completed updating default config for %s in the cluster.\n", e.kind.plural)
	} else {
		fmt.Fprintf(o.Stdout, "Completed updating config for %s %s.\n", e.kind.singular, e.name)
	}
	return nil
}

// checkLoggers refuses loggers that the broker does not have.
func checkLoggers(ctx context.Context, a *configAdmin, e entity, ops []configOp) error {
	rows, err := a.describe(ctx, e.kind.resource, e.name)
	if err != nil {
		return err
	}
	var unknown []string
	for _, op := range ops {
		known := false
		for _, r := range rows {
			known = known || r.Name == op.key
		}
		if !known {
			unknown = append(unknown, op.key)
		}
	}
	if len(unknown) > 0 {
		return plain("Invalid broker logger(s): %s", strings.Join(unknown, ","))
	}
	return nil
}

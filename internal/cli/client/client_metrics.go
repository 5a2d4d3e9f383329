package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
)

func clientMetricsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server to connect to", Help: "The Kafka server to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "command config property file", Help: "Properties for the admin client."},
		options.Option{Name: "list", Help: "List the client-metrics resources."},
		options.Option{Name: "describe", Help: "Print client-metrics resources."},
		options.Option{Name: "alter", Help: "Change or make a client-metrics resource."},
		options.Option{Name: "delete", Help: "Delete a client-metrics resource."},
		options.Option{Name: "name", Argument: options.Required, Value: "name", Help: "The name of the resource."},
		options.Option{Name: "generate-name", Help: "With --alter: a name that is made up."},
		options.Option{Name: "interval", Argument: options.Required, Value: "push interval", Help: "How often clients push, in milliseconds; empty for the default."},
		options.Option{Name: "match", Argument: options.Required, Value: "k1=v1,k2=v2", Help: "Which clients are meant; empty for all."},
		options.Option{Name: "metrics", Argument: options.Required, Value: "m1,m2", Help: "Prefixes of the metrics to push; empty for none."},
		outputOption,
	)
}

// ClientMetrics is kafka-client-metrics.
func ClientMetrics(args []string, o IO) int {
	set := clientMetricsOptions()
	if len(args) == 0 {
		return usageExit(set, o, errors.New("This tool helps to manipulate and describe client metrics configurations."))
	}
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	action, err := checkClientMetrics(set)
	if err != nil {
		return usageExit(set, o, err)
	}
	if err := runClientMetrics(set, action, o); err != nil {
		fmt.Fprintf(o.Stdout, "Error while executing client metrics command : %s\n", err)
		o.logf("ERROR", "org.apache.kafka.tools.ClientMetricsCommand", "%s: %s\n", exception(err), err)
		return 1
	}
	return 0
}

func checkClientMetrics(set *options.Set) (string, error) {
	action, ok := set.OneOf("alter", "delete", "describe", "list")
	switch {
	case !ok:
		return "", errors.New("Command must include exactly one action: --alter, --delete, --describe or --list.")
	case !set.Has("bootstrap-server"):
		return "", errors.New("java.lang.IllegalArgumentException: --bootstrap-server must be specified.")
	case action == "delete" && !set.Has("name"):
		return "", errors.New("A client metrics resource name must be specified with --delete.")
	case action == "alter" && set.Has("name") == set.Has("generate-name"):
		return "", errors.New("One of --name or --generate-name must be specified with --alter.")
	}
	if text := strings.TrimSpace(set.Get("interval")); action == "alter" && text != "" {
		if _, err := strconv.ParseInt(text, 10, 32); err != nil {
			return "", errors.New("Invalid interval value. Enter an integer, or leave empty to reset.")
		}
	}
	for option, actions := range map[string][]string{"generate-name": {"alter"}, "interval": {"alter"}, "match": {"alter"}, "metrics": {"alter"}, "name": {"alter", "delete", "describe"}, "o": {"describe", "list"}} {
		if set.Has(option) && !slices.Contains(actions, action) {
			return "", fmt.Errorf(`Option "[%s]" can't be used with option "[%s]"`, action, option)
		}
	}
	return action, nil
}

func runClientMetrics(set *options.Set, action string, o IO) error {
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	if err != nil {
		return err
	}
	ctx, a, done, err := openConfigAdmin(set, o, "")
	if err != nil {
		return err
	}
	defer done()
	const kind = kmsg.ConfigResourceTypeClientMetrics
	name := set.Get("name")
	switch action {
	case "list":
		names, err := a.names(ctx, kind)
		if asJSON && err == nil {
			return printJSON(o, append([]string{}, names...))
		}
		for _, n := range names {
			fmt.Fprintln(o.Stdout, n)
		}
		return err
	case "describe":
		return describeClientMetrics(ctx, a, set, asJSON)
	case "delete":
		rows, err := a.describe(ctx, kind, name)
		if err != nil {
			return err
		}
		var ops []configOp
		for _, r := range rows {
			if len(r.ConfigSynonyms) > 0 { // only what is set has any
				ops = append(ops, configOp{r.Name, nil})
			}
		}
		if err := a.alter(ctx, kind, name, ops); err != nil {
			return err
		}
		fmt.Fprintf(o.Stdout, "Deleted client metrics config for %s.\n", name)
		return nil
	}
	if set.Has("generate-name") {
		id, err := kafka.RandomUUID(rand.Reader)
		if err != nil {
			return err
		}
		name = id.String()
	}
	if err := a.alter(ctx, kind, name, clientMetricsOps(set)); err != nil {
		return err
	}
	fmt.Fprintf(o.Stdout, "Altered client metrics config for %s.\n", name)
	return nil
}

// clientMetricsOps are the changes that the options ask for: an empty value lets
// the default hold again.
func clientMetricsOps(set *options.Set) []configOp {
	var ops []configOp
	for _, k := range []struct{ option, key string }{{"interval", "interval.ms"}, {"match", "match"}, {"metrics", "metrics"}} {
		if !set.Has(k.option) {
			continue
		}
		value := set.Get(k.option)
		op := configOp{k.key, &value}
		if strings.TrimSpace(value) == "" {
			op.value = nil
		}
		ops = append(ops, op)
	}
	return ops
}

func describeClientMetrics(ctx context.Context, a *configAdmin, set *options.Set, asJSON bool) error {
	kind := kindOf("client-metrics")
	names, err := a.names(ctx, kind.resource)
	if err != nil {
		return err
	}
	if name := set.Get("name"); set.Has("name") {
		names = slices.DeleteFunc(names, func(n string) bool { return n != name })
		if len(names) == 0 && !asJSON {
			fmt.Fprintf(a.o.Stdout, "The client metric resource %s doesn't exist and doesn't have dynamic config.\n", name)
			return nil
		}
	}
	out := []entityJSON{}
	for _, name := range names {
		rows, err := a.rows(ctx, kind, name, true)
		if err != nil {
			return err
		}
		if asJSON {
			out = append(out, entityInJSON(kind.plural, name, rows))
			continue
		}
		fmt.Fprintf(a.o.Stdout, "Client metrics configs for %s are:\n", name)
		for _, r := range rows {
			fmt.Fprintf(a.o.Stdout, "  %s=%s\n", r.Name, orNull(r.Value))
		}
	}
	if asJSON {
		return printJSON(a.o, out)
	}
	return nil
}

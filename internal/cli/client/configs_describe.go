package client

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/config"
)

// sourceNames are Apache's names of the places that values come from.
var sourceNames = map[kmsg.ConfigSource]string{
	kmsg.ConfigSource(config.SourceDynamicTopic): "DYNAMIC_TOPIC_CONFIG", kmsg.ConfigSource(config.SourceDynamicBroker): "DYNAMIC_BROKER_CONFIG",
	kmsg.ConfigSource(config.SourceDynamicDefaultBroker): "DYNAMIC_DEFAULT_BROKER_CONFIG", kmsg.ConfigSource(config.SourceStaticBroker): "STATIC_BROKER_CONFIG",
	kmsg.ConfigSource(config.SourceDefault): "DEFAULT_CONFIG", kmsg.ConfigSource(config.SourceLogger): "DYNAMIC_BROKER_LOGGER_CONFIG",
	kmsg.ConfigSource(config.SourceClientMetrics): "DYNAMIC_CLIENT_METRICS_CONFIG", kmsg.ConfigSource(config.SourceGroup): "DYNAMIC_GROUP_CONFIG",
}

// describeEntities prints the configurations of one entity, or of all of its kind; all
// says that those that are not set are printed too.
func describeEntities(ctx context.Context, a *configAdmin, e entity, all, asJSON bool) error {
	names := []string{e.name}
	if e.named {
		exists, err := a.exists(ctx, e)
		switch {
		case err != nil:
			return err
		case !exists && asJSON:
			names = nil
		case !exists:
			fmt.Fprintf(a.o.Stdout, "The %s '%s' doesn't exist and doesn't have dynamic config.\n", e.kind.singular, e.name)
			return nil
		}
	} else {
		var err error
		if names, err = a.names(ctx, e.kind.resource); err != nil {
			return err
		}
	}
	out := []entityJSON{}
	for _, name := range names {
		rows, err := a.rows(ctx, e.kind, name, all)
		switch {
		case err != nil:
			return err
		case asJSON:
			out = append(out, entityInJSON(e.kind.plural, name, rows))
		default:
			printEntity(a.o, e.kind, name, rows, all)
		}
	}
	if asJSON {
		return printJSON(a.o, out)
	}
	return nil
}

// rows are the configurations of an entity by name: all, or those that are set on it.
func (a *configAdmin) rows(ctx context.Context, kind entityKind, name string, all bool) ([]kmsg.DescribeConfigsResponseResourceConfig, error) {
	rows, err := a.describe(ctx, kind.resource, name)
	own := kmsg.ConfigSource(kind.own)
	if name == "" {
		own = kmsg.ConfigSource(config.SourceDynamicDefaultBroker)
	}
	rows = slices.DeleteFunc(rows, func(r kmsg.DescribeConfigsResponseResourceConfig) bool { return !all && r.Source != own })
	slices.SortFunc(rows, func(x, y kmsg.DescribeConfigsResponseResourceConfig) int { return strings.Compare(x.Name, y.Name) })
	return rows, err
}

func printEntity(o IO, kind entityKind, name string, rows []kmsg.DescribeConfigsResponseResourceConfig, all bool) {
	switch {
	case name == "":
		fmt.Fprintf(o.Stdout, "Default configs for %s in the cluster are:\n", kind.plural)
	case all:
		fmt.Fprintf(o.Stdout, "All configs for %s %s are:\n", kind.singular, name)
	default:
		fmt.Fprintf(o.Stdout, "Dynamic configs for %s %s are:\n", kind.singular, name)
	}
	for _, r := range rows {
		var synonyms []string
		for _, s := range r.ConfigSynonyms {
			synonyms = append(synonyms, fmt.Sprintf("%s:%s=%s", sourceNames[s.Source], s.Name, orNull(s.Value)))
		}
		fmt.Fprintf(o.Stdout, "  %s=%s sensitive=%v synonyms={%s}\n", r.Name, orNull(r.Value), r.IsSensitive, strings.Join(synonyms, ", "))
	}
}

func orNull(text *string) string {
	if text == nil {
		return "null"
	}
	return *text
}

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

// describeEntities prints the configurations of one entity, or of all of its kind.
func describeEntities(ctx context.Context, a *configAdmin, e entity, all bool, o IO) error {
	if !e.named {
		names, err := a.names(ctx, e.kind.resource)
		if err != nil {
			return err
		}
		return describeAll(ctx, a, e.kind, names, all, o)
	}
	exists, err := a.exists(ctx, e)
	if err != nil {
		return err
	}
	if !exists {
		fmt.Fprintf(o.Stdout, "The %s '%s' doesn't exist and doesn't have dynamic config.\n", e.kind.singular, e.name)
		return nil
	}
	return describeAll(ctx, a, e.kind, []string{e.name}, all, o)
}

func describeAll(ctx context.Context, a *configAdmin, kind entityKind, names []string, all bool, o IO) error {
	for _, name := range names {
		if err := describeEntity(ctx, a, kind, name, all, o); err != nil {
			return err
		}
	}
	return nil
}

func describeEntity(ctx context.Context, a *configAdmin, kind entityKind, name string, all bool, o IO) error {
	rows, err := a.describe(ctx, kind.resource, name)
	if err != nil {
		return err
	}
	own := kmsg.ConfigSource(kind.own)
	switch {
	case name == "":
		own = kmsg.ConfigSource(config.SourceDynamicDefaultBroker)
		fmt.Fprintf(o.Stdout, "Default configs for %s in the cluster are:\n", kind.plural)
	case all:
		fmt.Fprintf(o.Stdout, "All configs for %s %s are:\n", kind.singular, name)
	default:
		fmt.Fprintf(o.Stdout, "Dynamic configs for %s %s are:\n", kind.singular, name)
	}
	slices.SortFunc(rows, func(x, y kmsg.DescribeConfigsResponseResourceConfig) int { return strings.Compare(x.Name, y.Name) })
	for _, r := range rows {
		if !all && r.Source != own {
			continue
		}
		var synonyms []string
		for _, s := range r.ConfigSynonyms {
			synonyms = append(synonyms, fmt.Sprintf("%s:%s=%s", sourceNames[s.Source], s.Name, orNull(s.Value)))
		}
		fmt.Fprintf(o.Stdout, "  %s=%s sensitive=%v synonyms={%s}\n", r.Name, orNull(r.Value), r.IsSensitive, strings.Join(synonyms, ", "))
	}
	return nil
}

func orNull(text *string) string {
	if text == nil {
		return "null"
	}
	return *text
}

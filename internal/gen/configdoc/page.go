package main

import (
	"fmt"
	"slices"
	"strings"

	"barnabas/internal/config"
)

const head = `# Configuration

Written by ` + "`go run ./internal/gen/configdoc`" + ` from the registry in ` + "`internal/config`" + `; do not edit it by hand.

A node reads, later before earlier: the file of ` + "`barnabas server FILE`" + `, the environment (` + "`KAFKA_LOG_DIRS`" + ` is ` + "`log.dirs`" + `, then
` + "`BARNABAS_LOG_DIRS`" + `), ` + "`--override key=value`" + `, and while it runs what ` + "`barnabas configs`" + ` has set for all brokers and for it.

Names, types, defaults and checks are those of Apache Kafka 4.4. **Changes**: *at start* needs a restart; *running* can be changed on a running
broker, for one (` + "`--broker ID`" + `) or as the default of all (` + "`--broker-defaults`" + `); *running, one broker* only for one. **Here** says what this release does
with a key: *yes* acts on it; *no effect* takes it and warns once; *refused* does not start, and does not take it while running, unless the value is
the default, since its silent absence would open a door or lose a rule.

Loggers of ` + "`barnabas configs --broker-logger ID`" + ` are ` + "`root`" + ` and one for each part of a node, such as ` + "`barnabas.server`, `barnabas.api`,\n`barnabas.controller`, `barnabas.quorum`, `barnabas.replicas`, `barnabas.membership`, `barnabas.metadata`" + `; a part without a level of its own follows ` + "`root`" + `.
Levels are TRACE, DEBUG, INFO, WARN, ERROR and FATAL, and are forgotten when the node stops.
`

// page is docs/configure.md.
func page() string {
	var b strings.Builder
	b.WriteString(head)
	own := config.OtherKeys().Keys()
	section(&b, "Node", "Keys of the node itself, set in its file.", append(config.BrokerKeys().Keys(), own...), true)
	section(&b, "Topics", "Keys of a topic, set when it is created or by `barnabas configs --topic NAME`. What is not set comes from the node's key that is named.", config.TopicKeys().Keys(), false)
	section(&b, "Groups", "Keys of a group, set by `barnabas configs --group NAME`.", config.GroupKeys().Keys(), false)
	section(&b, "Client metrics", "Keys of a client-metrics resource, set by `barnabas configs --client-metrics NAME` or `barnabas client-metrics`.", config.ClientMetricsKeys().Keys(), false)
	return b.String()
}

func section(b *strings.Builder, title, about string, keys []config.Key, node bool) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", title, about)
	third := "Node's key"
	if node {
		third = "Changes"
	}
	fmt.Fprintf(b, "| Key | Type, default, values | %s | Here | What for |\n|---|---|---|---|---|\n", third)
	slices.SortFunc(keys, func(a, b config.Key) int { return strings.Compare(a.Name, b.Name) })
	for i := range keys {
		k := &keys[i]
		if k.Internal {
			continue
		}
		where := links(k)
		if node {
			where = changes(k)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", k.Name, kind(k), where, status(k), cell(k.Doc()))
	}
}

func kind(k *config.Key) string {
	out := strings.ToLower(k.Type.String())
	switch {
	case k.Required():
		out += ", required"
	case !k.HasDefault():
		out += ", unset"
	case k.Default == "":
		out += ", empty"
	default:
		out += ", `" + cell(k.Default) + "`"
	}
	if k.Check != nil && k.Check.String() != "" {
		out += ", " + cell(k.Check.String())
	}
	return out
}

func changes(k *config.Key) string {
	switch {
	case k.OnlyAtStart():
		return "at start (Apache's broker also while it runs)"
	case k.Update == config.PerBroker:
		return "running, one broker"
	case k.Update == config.ClusterWide:
		return "running"
	}
	return "at start"
}

func links(k *config.Key) string {
	var out []string
	for _, l := range k.Links {
		out = append(out, "`"+l.Name+"`")
	}
	return strings.Join(out, ", ")
}

func status(k *config.Key) string {
	switch {
	case k.Status == config.Honoured:
		return "yes"
	case k.Status.Refused():
		return "refused: " + k.Status.Reason()
	}
	return "no effect: " + k.Status.Reason()
}

// cell is text inside a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

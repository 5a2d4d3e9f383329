package client

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
)

func groupsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server to connect to", Help: "The servers to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "command config property file", Help: "Properties for the admin client."},
		options.Option{Name: "list", Help: "List the groups of all types."},
		options.Option{Name: "group-type", Argument: options.Required, Value: "type", Help: "Only groups of this type: classic, consumer, share or streams."},
		options.Option{Name: "protocol", Argument: options.Required, Value: "protocol", Help: "Only groups of this protocol type."},
		options.Option{Name: "consumer", Help: "Only consumer groups: of the type consumer, and classic ones of the protocol consumer or of none."},
		options.Option{Name: "share", Help: "Only share groups."},
		options.Option{Name: "streams", Help: "Only streams groups."},
		outputOption,
	)
}

// groupsTimeout is how long the groups tool waits for the cluster.
const groupsTimeout = 30 * time.Second

// Groups is kafka-groups.
//
// "groups why GROUP" is a command of this project: see groups_why.go.
func Groups(args []string, o IO) int {
	if len(args) > 0 && args[0] == "why" {
		return why("group", &groupWhy{}, args[1:], o)
	}
	set := groupsOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if err := checkGroupsOptions(set); err != nil {
		return usageExit(set, o, err)
	}
	if set.Has("group-type") && typeName(set.Get("group-type"), "") == "" {
		err := illegalArgument("--group-type must be a valid group type.")
		fmt.Fprintf(o.Stderr, "%s\n%s: %s\n\n", err, exception(err), err)
		return 1
	}
	for _, one := range []string{"consumer", "share", "streams"} {
		if err := excludes(set, one, "consumer", "group-type", "protocol", "share", "streams"); err != nil {
			return usageExit(set, o, err)
		}
	}
	if err := listAllGroups(set, o); err != nil {
		fmt.Fprintf(o.Stdout, "Error while executing groups command : %s\n", err)
		o.logf("ERROR", "org.apache.kafka.tools.GroupsCommand", "%s: %s\n", exception(err), err)
		return 1
	}
	return 0
}

func checkGroupsOptions(set *options.Set) error {
	switch {
	case !set.Has("bootstrap-server"):
		return errors.New("Missing required option(s) [bootstrap-server]")
	case !set.Has("list"):
		return errors.New("Command must include exactly one action: --list.")
	}
	return nil
}

func listAllGroups(set *options.Set, o IO) error {
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	if err != nil {
		return err
	}
	ctx, cl, done, err := connectAdmin(set, o, groupsTimeout)
	if err != nil {
		return err
	}
	defer done()
	groups, err := listGroups(ctx, cl, groupFilter{})
	if err != nil {
		return named(err)
	}
	groups = slices.DeleteFunc(groups, func(g kmsg.ListGroupsResponseGroup) bool { return !wantedGroup(set, g) })
	if asJSON {
		return printJSON(o, listedGroups(groups))
	}
	var rows [][3]string
	width := 20
	for _, g := range groups {
		row := [3]string{g.Group, typeName(g.GroupType, ""), g.ProtocolType}
		for _, column := range row {
			width = max(width, len(column))
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(o.Stdout, "%-*s %-*s %-*s\n", width, "GROUP", width, "TYPE", width, "PROTOCOL")
	for _, r := range rows {
		fmt.Fprintf(o.Stdout, "%-*s %-*s %-*s \n", width, r[0], width, r[1], width, r[2])
	}
	return nil
}

func wantedGroup(set *options.Set, g kmsg.ListGroupsResponseGroup) bool {
	kind := typeName(g.GroupType, "")
	switch {
	case set.Has("group-type"):
		return kind == typeName(set.Get("group-type"), "") && (!set.Has("protocol") || g.ProtocolType == set.Get("protocol"))
	case set.Has("protocol"):
		return g.ProtocolType == set.Get("protocol")
	case set.Has("consumer"):
		return g.ProtocolType == "consumer" || g.ProtocolType == "" || kind == "Consumer"
	case set.Has("share"):
		return kind == "Share"
	case set.Has("streams"):
		return kind == "Streams"
	}
	return true
}

package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/argparse"
)

// clusterTool is the command line of kafka-cluster.
func clusterTool() *argparse.Tool {
	shared := []argparse.Option{
		{Long: "--bootstrap-server", Short: "-b", Group: "door", Required: true},
		{Long: "--bootstrap-controller", Short: "-C", Group: "door", Required: true},
		{Long: "--config"}, {Long: "--command-config", Short: "-c"}, outputArgument,
	}
	id := argparse.Option{Long: "--id", Short: "-i", Required: true, Number: "Integer"}
	command := func(name, usage, about string, more ...argparse.Option) argparse.Command {
		usage = "usage: kafka-cluster " + name + " [-h] [--config CONFIG]\n                     [--command-config COMMAND_CONFIG]" + usage + usageDoor
		return argparse.Command{Name: name, Usage: usage, Help: usage + "\n\n" + about + "\n\n" + helpCluster, Options: append(more, shared...)}
	}
	return &argparse.Tool{
		Name: "kafka-cluster", Usage: usageCluster, Help: usageCluster + "\n\nTells of a cluster as a whole, and forgets nodes.\n",
		Commands: []argparse.Command{
			command("cluster-id", "", "Prints the id of the cluster."),
			command("unregister", " --id ID", "Forgets a broker that is gone for good.", id),
			command("unregister-controller", " --id ID", "Forgets a controller that is gone for good.", id),
			command("list-endpoints", "\n                     [--include-fenced-brokers]", "Lists the nodes and where they listen.",
				argparse.Option{Long: "--include-fenced-brokers", Flag: true}),
			command("api-versions", "", "Lists the requests that each node serves."),
		},
	}
}

const (
	usageCluster = `usage: kafka-cluster [-h]
                     {cluster-id,unregister,unregister-controller,list-endpoints,api-versions}
                     ...`
	usageDoor = `
                     (--bootstrap-server BOOTSTRAP_SERVER |
                     --bootstrap-controller BOOTSTRAP_CONTROLLER)`
	helpCluster = `options:
  -h, --help            show this text
  --bootstrap-server BOOTSTRAP_SERVER, -b BOOTSTRAP_SERVER
                        brokers to connect to, host:port, divided by commas
  --bootstrap-controller BOOTSTRAP_CONTROLLER, -C BOOTSTRAP_CONTROLLER
                        controllers to connect to
  --command-config COMMAND_CONFIG, -c COMMAND_CONFIG
                        a file of properties for the client
  --config CONFIG       the same, deprecated
  --output json, -o json
                        print a JSON document
`
)

// Cluster is kafka-cluster.
func Cluster(args []string, o IO) int {
	parsed, done, exit := parseArgs(clusterTool(), args, o)
	if done {
		return exit
	}
	return toldExit(o, cluster(parsed, o))
}

func cluster(args *argparse.Args, o IO) error {
	asJSON, err := wantsJSONOf(args, "cluster-id", "list-endpoints", "api-versions")
	if err != nil {
		return err
	}
	file, given := args.Value("--command-config")
	old, oldGiven := args.Value("--config")
	switch {
	case given && oldGiven:
		return plain("--config and --command-config cannot be specified together.")
	case oldGiven:
		fmt.Fprintln(o.Stdout, "Option --config has been deprecated and will be removed in a future version. Use --command-config instead.")
		file = old
	}
	if args.Has("--include-fenced-brokers") && args.Has("--bootstrap-controller") {
		return plain("The option --include-fenced-brokers is only supported with --bootstrap-server option")
	}
	ctx, d, done, err := openDoorOf(o, args, file)
	if err != nil {
		return err
	}
	defer done()
	switch args.Command {
	case "cluster-id":
		return d.clusterID(ctx, asJSON)
	case "unregister":
		return d.unregister(ctx, args)
	case "unregister-controller":
		return d.unregisterController(ctx, args)
	case "list-endpoints":
		return d.listEndpoints(ctx, args.Has("--include-fenced-brokers"), asJSON)
	}
	return printAPIVersions(ctx, d, asJSON)
}

func (d *door) clusterID(ctx context.Context, asJSON bool) error {
	c, err := d.describeCluster(ctx, false)
	switch {
	case err != nil:
		return err
	case asJSON:
		return printJSON(d.o, map[string]string{"clusterId": c.ClusterID})
	case c.ClusterID == "":
		fmt.Fprintln(d.o.Stdout, "No cluster ID found. The Kafka version is probably too old.")
	default:
		fmt.Fprintf(d.o.Stdout, "Cluster ID: %s\n", c.ClusterID)
	}
	return nil
}

func (d *door) unregister(ctx context.Context, args *argparse.Args) error {
	id, _ := args.Int("--id")
	req := kmsg.NewPtrUnregisterBrokerRequest()
	req.BrokerID = int32(id)
	resp, err := d.askActive(ctx, req)
	if isUnsupported(err) {
		return plain("The target cluster does not support the broker unregistration API.")
	}
	if err != nil {
		return err
	}
	r := resp.(*kmsg.UnregisterBrokerResponse)
	if err := codeError(r.ErrorCode, r.ErrorMessage); err != nil {
		return err
	}
	fmt.Fprintf(d.o.Stdout, "Broker %d is no longer registered.\n", id)
	return nil
}

func (d *door) unregisterController(ctx context.Context, args *argparse.Args) error {
	id, _ := args.Int("--id")
	req := kmsg.NewPtrUnregisterControllerRequest()
	req.ControllerID = int32(id)
	resp, err := d.askActive(ctx, req)
	if isUnsupported(err) {
		return plain("The target cluster does not support the controller unregistration API.")
	}
	if err != nil {
		return err
	}
	r := resp.(*kmsg.UnregisterControllerResponse)
	if err := codeError(r.ErrorCode, r.ErrorMessage); err != nil {
		return err
	}
	fmt.Fprintf(d.o.Stdout, "Controller %d is no longer registered.\n", id)
	return nil
}

// endpoint is a node as list-endpoints tells of it.
type endpoint struct {
	ID    int32   `json:"id"`
	Host  string  `json:"host"`
	Port  int32   `json:"port"`
	Rack  *string `json:"rack"`
	State string  `json:"state,omitempty"` // of brokers: "unfenced" or "fenced"
	Type  string  `json:"endpointType"`
}

func (d *door) listEndpoints(ctx context.Context, fenced, asJSON bool) error {
	c, err := d.describeCluster(ctx, fenced)
	if err != nil {
		return err
	}
	slices.SortFunc(c.Brokers, func(a, b kmsg.DescribeClusterResponseBroker) int { return cmp.Compare(a.NodeID, b.NodeID) })
	nodes := []endpoint{}
	hostWidth, rackWidth := len("HOST"), 10
	for _, n := range c.Brokers {
		e := endpoint{ID: n.NodeID, Host: n.Host, Port: n.Port, Rack: n.Rack, Type: "controller"}
		if !d.controllers {
			e.Type, e.State = "broker", "unfenced"
			if n.IsFenced {
				e.State = "fenced"
			}
		}
		hostWidth = max(hostWidth, len(e.Host))
		if e.Rack != nil {
			rackWidth = max(rackWidth, len(*e.Rack))
		}
		nodes = append(nodes, e)
	}
	if asJSON {
		return printJSON(d.o, nodes)
	}
	row := func(id, host, port, rack, state, kind string) {
		fmt.Fprintf(d.o.Stdout, "%-10s %-*s %-10s %-*s ", id, hostWidth, host, port, rackWidth, rack)
		if !d.controllers {
			fmt.Fprintf(d.o.Stdout, "%-10s ", state)
		}
		fmt.Fprintf(d.o.Stdout, "%-15s\n", kind)
	}
	row("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE")
	for _, e := range nodes {
		rack := "null"
		if e.Rack != nil {
			rack = *e.Rack
		}
		row(fmt.Sprint(e.ID), e.Host, fmt.Sprint(e.Port), rack, e.State, e.Type)
	}
	return nil
}

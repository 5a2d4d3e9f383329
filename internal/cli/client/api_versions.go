package client

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
	"barnabas/internal/wire"
)

// brokerAPIVersionsOptions are the options of kafka-broker-api-versions.
func brokerAPIVersionsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server(s) to use for bootstrapping", Help: "The servers to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "command config property file", Help: "Properties for the admin client."},
		outputOption,
	)
}

// BrokerAPIVersions is kafka-broker-api-versions.
func BrokerAPIVersions(args []string, o IO) int {
	set := brokerAPIVersionsOptions()
	if len(args) == 0 {
		return usageExit(set, o, fmt.Errorf("This tool helps to retrieve broker version information."))
	}
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if err := missingArgument(set, "bootstrap-server"); err != nil {
		return usageExit(set, o, err)
	}
	return toldExit(o, brokerAPIVersions(set, o))
}

func brokerAPIVersions(set *options.Set, o IO) error {
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	if err != nil {
		return err
	}
	ctx, d, done, err := openDoor(o, set.Get("bootstrap-server"), "", set.Get("command-config"))
	if err != nil {
		return err
	}
	defer done()
	return printAPIVersions(ctx, d, asJSON)
}

// nodeAPIs is what a node says of the requests that it serves.
type nodeAPIs struct {
	ID    int32        `json:"id"`
	Host  string       `json:"host"`
	Port  int32        `json:"port"`
	Rack  *string      `json:"rack"`
	Error string       `json:"error,omitempty"`
	APIs  []apiVersion `json:"apis,omitempty"`
}

type apiVersion struct {
	Key  int16  `json:"key"`
	Name string `json:"name"`
	// Min and Max are nil for what a client may ask and the node does not serve.
	Min *int16 `json:"min"`
	Max *int16 `json:"max"`
}

// printAPIVersions asks each node behind the door what it serves.
func printAPIVersions(ctx context.Context, d *door, asJSON bool) error {
	nodes, err := d.describeCluster(ctx, false)
	if err != nil {
		return err
	}
	slices.SortFunc(nodes.Brokers, func(a, b kmsg.DescribeClusterResponseBroker) int { return cmp.Compare(a.NodeID, b.NodeID) })
	var all []nodeAPIs
	for _, n := range nodes.Brokers {
		one := nodeAPIs{ID: n.NodeID, Host: n.Host, Port: n.Port, Rack: n.Rack}
		if one.APIs, err = apisOf(ctx, d, n.NodeID); err != nil {
			one.Error = fmt.Sprintf("%s: %s", exception(err), err)
		}
		all = append(all, one)
	}
	if asJSON {
		return printJSON(d.o, all)
	}
	for _, n := range all {
		fmt.Fprintln(d.o.Stdout, n.text())
	}
	return nil
}

// apiVersionsRequest names the software that asks, without which nobody answers.
func apiVersionsRequest() *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "barnabas", kafka.Release
	return req
}

func apisOf(ctx context.Context, d *door, id int32) ([]apiVersion, error) {
	resp, err := d.askNode(ctx, id, apiVersionsRequest())
	if err != nil {
		return nil, err
	}
	versions := resp.(*kmsg.ApiVersionsResponse)
	if err := codeError(versions.ErrorCode, nil); err != nil {
		return nil, err
	}
	var out []apiVersion
	served := map[int16]bool{}
	for _, k := range versions.ApiKeys {
		a := apiVersion{Key: k.ApiKey, Name: "UNKNOWN", Min: &k.MinVersion, Max: &k.MaxVersion}
		if known, ok := wire.Lookup(k.ApiKey); ok {
			a.Name = known.Name
		}
		served[k.ApiKey] = true
		out = append(out, a)
	}
	for _, known := range wire.All() {
		if known.Scope&wire.Broker != 0 && !served[int16(known.Key)] {
			out = append(out, apiVersion{Key: int16(known.Key), Name: known.Name})
		}
	}
	slices.SortFunc(out, func(a, b apiVersion) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
}

// text is the node in the words of Apache's NodeApiVersions.
func (n nodeAPIs) text() string {
	rack := "null"
	if n.Rack != nil {
		rack = *n.Rack
	}
	head := fmt.Sprintf("%s (id: %d rack: %s isFenced: false) -> ", net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port))), n.ID, rack)
	if n.Error != "" {
		return head + "ERROR: " + n.Error
	}
	lines := make([]string, len(n.APIs))
	for i, a := range n.APIs {
		lines[i] = "\t" + a.text()
	}
	return head + "(\n" + strings.Join(lines, ",\n") + "\n)"
}

func (a apiVersion) text() string {
	head := fmt.Sprintf("%s(%d): ", a.Name, a.Key)
	if a.Min == nil {
		return head + "UNSUPPORTED"
	}
	head += strconv.Itoa(int(*a.Min))
	if *a.Min != *a.Max {
		head += fmt.Sprintf(" to %d", *a.Max)
	}
	known, ok := wire.Lookup(a.Key)
	switch {
	case !ok:
		return head
	case known.Max < *a.Min:
		return head + " [unusable: node too new]"
	case *a.Max < known.Min:
		return head + " [unusable: node too old]"
	}
	return fmt.Sprintf("%s [usable: %d]", head, min(known.Max, *a.Max))
}

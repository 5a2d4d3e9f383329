package client

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
)

// configAdmin asks a cluster about configurations, through its brokers or through
// its controllers.
type configAdmin struct {
	client      *kgo.Client
	controllers bool
	nodes       []int32 // brokers; of a controller: itself
}

// openConfigAdmin connects to what --bootstrap-server or --bootstrap-controller
// names. Of several controllers the active one is asked.
func openConfigAdmin(ctx context.Context, set *options.Set, o IO) (*configAdmin, error) {
	if set.Has("bootstrap-server") {
		return openBrokerAdmin(ctx, set, o)
	}
	props, err := readProperties(set.Get("command-config"), nil)
	if err != nil {
		return nil, err
	}
	props["bootstrap.servers"] = set.Get("bootstrap-controller")
	cl, warnings, err := kafkaclient.New(kafkaclient.Admin, props)
	for _, w := range warnings {
		o.logf("WARN", "barnabas.client", "%s", w)
	}
	if err != nil {
		return nil, err
	}
	a := &configAdmin{client: cl, controllers: true}
	if err := a.findController(ctx, props); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// openBrokerAdmin connects to the brokers that --bootstrap-server names.
func openBrokerAdmin(ctx context.Context, set *options.Set, o IO) (*configAdmin, error) {
	cl, err := connect(kafkaclient.Admin, set, o, set.Get("command-config"), nil)
	if err != nil {
		return nil, err
	}
	a := &configAdmin{client: cl}
	if err := a.findBrokers(ctx); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *configAdmin) close() { a.client.Close() }

func (a *configAdmin) findBrokers(ctx context.Context) error {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return err
	}
	for _, b := range resp.Brokers {
		a.nodes = append(a.nodes, b.NodeID)
	}
	slices.Sort(a.nodes)
	return nil
}

// findController connects to the active controller, if it is another than the one
// that was named.
func (a *configAdmin) findController(ctx context.Context, props map[string]string) error {
	const controllers = 2 // EndpointType
	req := kmsg.NewPtrDescribeClusterRequest()
	req.EndpointType = controllers
	resp, err := req.RequestWith(ctx, a.client.SeedBrokers()[0])
	if err != nil {
		return err
	}
	if err := codeError(resp.ErrorCode, resp.ErrorMessage); err != nil {
		return err
	}
	a.nodes = []int32{resp.ControllerID}
	for _, b := range resp.Brokers {
		address := b.Host + ":" + strconv.Itoa(int(b.Port))
		if b.NodeID != resp.ControllerID || address == props["bootstrap.servers"] {
			continue
		}
		props["bootstrap.servers"] = address
		other, _, err := kafkaclient.New(kafkaclient.Admin, props)
		if err != nil {
			return err
		}
		a.client.Close()
		a.client = other
	}
	return nil
}

// send asks the node that is to be asked about a resource: brokers know themselves
// alone.
func (a *configAdmin) send(ctx context.Context, kind kmsg.ConfigResourceType, name string, req kmsg.Request) (kmsg.Response, error) {
	if a.controllers {
		return a.client.SeedBrokers()[0].RetriableRequest(ctx, req)
	}
	if (kind == kmsg.ConfigResourceTypeBroker || kind == kmsg.ConfigResourceTypeBrokerLogger) && name != "" {
		id, err := strconv.ParseInt(name, 10, 32)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(a.nodes, int32(id)) {
			return nil, &failure{"org.apache.kafka.common.errors.TimeoutException", "Timed out waiting for a node assignment. Call: " + callName(req)}
		}
		return a.client.Broker(int(id)).RetriableRequest(ctx, req)
	}
	return a.client.Broker(int(a.nodes[0])).RetriableRequest(ctx, req)
}

// callName is how Apache's admin client calls a request.
func callName(req kmsg.Request) string {
	if _, alter := req.(*kmsg.IncrementalAlterConfigsRequest); alter {
		return "incrementalAlterConfigs"
	}
	return "describeBrokerConfigs"
}

func (a *configAdmin) describe(ctx context.Context, kind kmsg.ConfigResourceType, name string) ([]kmsg.DescribeConfigsResponseResourceConfig, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms = true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	req.Resources = append(req.Resources, r)
	got, err := a.send(ctx, kind, name, req)
	if err != nil {
		return nil, err
	}
	row := got.(*kmsg.DescribeConfigsResponse).Resources[0]
	return row.Configs, codeError(row.ErrorCode, row.ErrorMessage)
}

func (a *configAdmin) alter(ctx context.Context, kind kmsg.ConfigResourceType, name string, ops []configOp) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, op := range ops {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		if c.Name, c.Value = op.key, op.value; op.value == nil {
			c.Op = kmsg.IncrementalAlterConfigOpDelete
		}
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	got, err := a.send(ctx, kind, name, req)
	if err != nil {
		return err
	}
	row := got.(*kmsg.IncrementalAlterConfigsResponse).Resources[0]
	return codeError(row.ErrorCode, row.ErrorMessage)
}

// names are the entities of a kind, in the order of Apache's tools; brokers are followed by their default.
func (a *configAdmin) names(ctx context.Context, kind kmsg.ConfigResourceType) ([]string, error) {
	var out []string
	switch kind {
	case kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger:
		for _, id := range a.nodes {
			out = append(out, strconv.Itoa(int(id)))
		}
		if kind == kmsg.ConfigResourceTypeBroker {
			out = append(out, "")
		}
		return out, nil
	case kmsg.ConfigResourceTypeTopic:
		req := kmsg.NewPtrMetadataRequest()
		resp, err := req.RequestWith(ctx, a.client)
		if err != nil {
			return nil, err
		}
		for _, t := range resp.Topics {
			out = append(out, *t.Topic)
		}
	default:
		listed, err := a.listed(ctx, kind)
		if err != nil {
			return nil, err
		}
		out = listed
		if kind == kmsg.ConfigResourceTypeGroupConfig {
			groups, err := a.groups(ctx)
			if err != nil {
				return nil, err
			}
			out = append(out, groups...)
		}
	}
	slices.Sort(out)
	return asInHashMap(slices.Compact(out), stringHash, smallestTable), nil
}

// listed are the resources on which something is set.
func (a *configAdmin) listed(ctx context.Context, kind kmsg.ConfigResourceType) ([]string, error) {
	req := kmsg.NewPtrListConfigResourcesRequest()
	req.ResourceTypes = []int8{int8(kind)}
	resp, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range resp.ConfigResources {
		if r.Type == int8(kind) {
			out = append(out, r.Name)
		}
	}
	return out, codeError(resp.ErrorCode, nil)
}

// groups are the groups of all brokers.
func (a *configAdmin) groups(ctx context.Context) ([]string, error) {
	var out []string
	for _, id := range a.nodes {
		got, err := a.client.Broker(int(id)).RetriableRequest(ctx, kmsg.NewPtrListGroupsRequest())
		if err != nil {
			return nil, fmt.Errorf("list groups of broker %d: %w", id, err)
		}
		resp := got.(*kmsg.ListGroupsResponse)
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil && resp.ErrorCode != int16(kafka.ErrCoordinatorNotAvailable) {
			return nil, err
		}
		for _, g := range resp.Groups {
			out = append(out, g.Group)
		}
	}
	return out, nil
}

// exists says whether there is something to be told of an entity. Groups that have
// a configuration need no members.
func (a *configAdmin) exists(ctx context.Context, e entity) (bool, error) {
	var names []string
	var err error
	switch e.kind.resource {
	case kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger:
		if a.controllers { // each knows itself, and says so
			return true, nil
		}
		names, err = a.names(ctx, kmsg.ConfigResourceTypeBroker)
	case kmsg.ConfigResourceTypeGroupConfig:
		if names, err = a.listed(ctx, e.kind.resource); err == nil && !slices.Contains(names, e.name) {
			names, err = a.groups(ctx)
		}
	default:
		names, err = a.names(ctx, e.kind.resource)
	}
	return slices.Contains(names, e.name), err
}

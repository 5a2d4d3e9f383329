package client

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
)

// configAdmin asks a cluster about configurations, through its brokers or through
// its controllers, of which the active one is asked.
type configAdmin struct {
	*door
	nodes []int32 // brokers; of controllers: the active one
}

// openConfigAdmin opens the door of brokers, or of controllers if those are named.
// The context ends after what default.api.timeout.ms says; done releases all.
func openConfigAdmin(set *options.Set, o IO, controllers string) (ctx context.Context, a *configAdmin, done func(), err error) {
	ctx, d, done, err := openDoor(o, set.Get("bootstrap-server"), controllers, set.Get("command-config"))
	if err != nil {
		return nil, nil, nil, err
	}
	a = &configAdmin{door: d}
	if a.nodes, err = a.findNodes(ctx); err != nil {
		done()
		return nil, nil, nil, err
	}
	return ctx, a, done, nil
}

func (a *configAdmin) findNodes(ctx context.Context) ([]int32, error) {
	if !a.controllers {
		return brokerIDs(ctx, a.cl)
	}
	c, err := a.describeCluster(ctx, false)
	if err != nil {
		return nil, err
	}
	return []int32{c.ControllerID}, nil
}

// ofBroker says whether the configuration is that of one broker or of its loggers,
// which it alone knows.
func ofBroker(kind kmsg.ConfigResourceType, name string) bool {
	return (kind == kmsg.ConfigResourceTypeBroker || kind == kmsg.ConfigResourceTypeBrokerLogger) && name != ""
}

// send asks the node that is to be asked about a resource.
func (a *configAdmin) send(ctx context.Context, kind kmsg.ConfigResourceType, name string, req kmsg.Request) (kmsg.Response, error) {
	if a.controllers || !ofBroker(kind, name) {
		return a.askActive(ctx, req)
	}
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(a.nodes, int32(id)) {
		return nil, &failure{kafka.ErrRequestTimedOut.Exception(), "Timed out waiting for a node assignment. Call: " + callName(req)}
	}
	return a.askNode(ctx, int32(id), req)
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
	rows := got.(*kmsg.DescribeConfigsResponse).Resources
	if len(rows) != 1 {
		return nil, fmt.Errorf("the answer to DescribeConfigs has %d resources, one was asked for", len(rows))
	}
	return rows[0].Configs, codeError(rows[0].ErrorCode, rows[0].ErrorMessage)
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
	rows := got.(*kmsg.IncrementalAlterConfigsResponse).Resources
	if len(rows) != 1 {
		return fmt.Errorf("the answer to IncrementalAlterConfigs has %d resources, one was asked for", len(rows))
	}
	return codeError(rows[0].ErrorCode, rows[0].ErrorMessage)
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
		resp, err := req.RequestWith(ctx, a.cl)
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
			groups, err := groupIDs(ctx, a.cl, groupFilter{})
			if err != nil {
				return nil, named(err)
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
	resp, err := req.RequestWith(ctx, a.cl)
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
			names, err = groupIDs(ctx, a.cl, groupFilter{})
		}
	default:
		names, err = a.names(ctx, e.kind.resource)
	}
	return slices.Contains(names, e.name), err
}

package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/argparse"
	"barnabas/internal/kafka"
)

// door is a way into a cluster: by its brokers, or by its controllers (KIP-919).
type door struct {
	cl          *kgo.Client
	controllers bool
	props       map[string]string
	opened      bool        // a client was opened, and its warnings are told
	active      *kgo.Client // to the active controller; nil: not looked for yet
	o           IO
}

// openDoor opens the door of brokers, or of controllers if those are named; file
// holds properties of the client. The context ends after what default.api.timeout.ms
// says; done releases all.
func openDoor(o IO, servers, controllers, file string) (ctx context.Context, d *door, done func(), err error) {
	d = &door{controllers: controllers != "", o: o}
	if d.props, err = readProperties(file, nil); err != nil {
		return nil, nil, nil, err
	}
	atMost, err := kafkaclient.APITimeout(d.props)
	if err != nil {
		return nil, nil, nil, asConfigError(err)
	}
	if d.cl, err = d.dial(cmp.Or(controllers, servers)); err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(o.Context, atMost)
	return ctx, d, func() { cancel(); d.close() }, nil
}

// openDoorOf opens the door that a command line names.
func openDoorOf(o IO, args *argparse.Args, file string) (ctx context.Context, d *door, done func(), err error) {
	servers, _ := args.Value("--bootstrap-server")
	controllers, _ := args.Value("--bootstrap-controller")
	return openDoor(o, servers, controllers, file)
}

func (d *door) dial(servers string) (*kgo.Client, error) {
	d.props["bootstrap.servers"] = servers
	o := d.o
	if d.opened {
		o.Stderr = io.Discard
	}
	d.opened = true
	return open(kafkaclient.ForAdmin, d.props, o)
}

func (d *door) close() {
	if d.active != nil {
		d.active.Close()
	}
	d.cl.Close()
}

// ask sends a request to any node behind the door; the engine sends what only a
// controller answers to that one.
func (d *door) ask(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	if !d.controllers {
		resp, err := d.cl.Request(ctx, req)
		return resp, asUnsupported(req, err)
	}
	var failed error
	for _, seed := range d.cl.SeedBrokers() {
		resp, err := seed.RetriableRequest(ctx, req)
		if err == nil {
			return resp, nil
		}
		failed = err
	}
	return nil, asUnsupported(req, failed)
}

// askActive sends a request to the active controller, or by a broker that passes
// it on.
func (d *door) askActive(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	if !d.controllers {
		return d.ask(ctx, req)
	}
	if d.active == nil {
		nodes, err := d.describeCluster(ctx, false)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes.Brokers {
			if n.NodeID == nodes.ControllerID {
				if d.active, err = d.dial(net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port)))); err != nil {
					return nil, err
				}
			}
		}
		if d.active == nil {
			return nil, codeError(int16(kafka.ErrNotController), nil)
		}
	}
	resp, err := d.active.SeedBrokers()[0].RetriableRequest(ctx, req)
	return resp, asUnsupported(req, err)
}

// askNode sends a request to the node of an id.
func (d *door) askNode(ctx context.Context, id int32, req kmsg.Request) (kmsg.Response, error) {
	if !d.controllers {
		resp, err := d.cl.Broker(int(id)).RetriableRequest(ctx, req)
		return resp, asUnsupported(req, err)
	}
	nodes, err := d.describeCluster(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes.Brokers {
		if n.NodeID != id {
			continue
		}
		cl, err := d.dial(net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port))))
		if err != nil {
			return nil, err
		}
		defer cl.Close()
		resp, err := cl.SeedBrokers()[0].RetriableRequest(ctx, req)
		return resp, asUnsupported(req, err)
	}
	return nil, &failure{kafka.ErrRequestTimedOut.Exception(), fmt.Sprintf("There is no controller %d", id)}
}

// describeCluster asks for the nodes behind the door.
func (d *door) describeCluster(ctx context.Context, fenced bool) (*kmsg.DescribeClusterResponse, error) {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.EndpointType, req.IncludeFencedBrokers = 1, fenced
	if d.controllers {
		req.EndpointType = 2
	}
	resp, err := d.ask(ctx, req)
	if err != nil {
		return nil, err
	}
	c := resp.(*kmsg.DescribeClusterResponse)
	return c, codeError(c.ErrorCode, c.ErrorMessage)
}

// brokerIDs are the ids of the brokers, sorted.
func brokerIDs(ctx context.Context, cl *kgo.Client) ([]int32, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // of no topic
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	var ids []int32
	for _, b := range resp.Brokers {
		ids = append(ids, b.NodeID)
	}
	slices.Sort(ids)
	return ids, nil
}

// asUnsupported gives the engine's error for a request that the server does not
// know the name that Apache's client has for it.
func asUnsupported(req kmsg.Request, err error) error {
	if !isUnsupported(err) {
		return err
	}
	return &failure{kafka.ErrUnsupportedVersion.Exception(), fmt.Sprintf("The node does not support %s", kmsg.NameForKey(req.Key()))}
}

// isUnsupported says whether the server does not know the request at all. The
// engine keeps the two errors that say so to itself.
func isUnsupported(err error) bool {
	var f *failure
	if errors.As(err, &f) {
		return f.exception == kafka.ErrUnsupportedVersion.Exception()
	}
	return err != nil && (strings.Contains(err.Error(), "broker is too old") || strings.Contains(err.Error(), "request key is unknown"))
}

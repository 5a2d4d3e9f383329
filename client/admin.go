package client

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Admin manages a cluster (Admin, AdminClient). All its methods may be called by
// several goroutines. Each call takes default.api.timeout.ms at most, then fails with
// ErrTimeout.
//
// A call about several topics, groups and so on goes on when one is refused; its error
// then joins a ResourceError for each that was, and errors.Is finds Kafka's codes in it.
type Admin struct {
	engine *kgo.Client
	kadm   *kadm.Client
	limit  time.Duration
}

// NewAdmin makes an admin client. It connects to nothing yet.
func NewAdmin(properties Properties, options ...Option) (*Admin, error) {
	s, engine, err := translated(ForAdmin, properties, options)
	if err != nil {
		return nil, err
	}
	limit, err := APITimeout(properties)
	if err != nil {
		return nil, err
	}
	e, err := kgo.NewClient(append(engine, s.engine...)...)
	if err != nil {
		return nil, err
	}
	return &Admin{e, kadm.NewClient(e), limit}, nil
}

// Close ends all that belongs to the client.
func (a *Admin) Close() error {
	a.engine.Close()
	return nil
}

// Engine is the franz-go admin client below, a door for what has no words here, such as
// quotas, ACLs and reassignments. It belongs to the Admin; don't close it.
func (a *Admin) Engine() *kadm.Client { return a.kadm }

// call runs f within the limit.
func (a *Admin) call(ctx context.Context, what string, f func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	err := f(limited)
	if err != nil && (limited.Err() == nil || ctx.Err() == nil && isRefusal(err)) {
		return told(err) // what each resource was refused for says more
	}
	return outOfTime(ctx, err, what)
}

func isRefusal(err error) bool {
	code, _ := Code(err)
	return code != 0
}

// Node is a broker of the cluster.
type Node struct {
	ID   int32
	Host string
	Port int32
	Rack string
}

// Cluster is what a cluster is made of (describeCluster).
type Cluster struct {
	ID         string
	Controller int32 // -1 when it isn't known
	Nodes      []Node
}

// DescribeCluster describes the cluster.
func (a *Admin) DescribeCluster(ctx context.Context) (c Cluster, err error) {
	err = a.call(ctx, "describeCluster", func(ctx context.Context) error {
		m, err := a.kadm.BrokerMetadata(ctx)
		if err != nil {
			return err
		}
		c = Cluster{ID: m.Cluster, Controller: m.Controller}
		for _, b := range m.Brokers {
			n := Node{ID: b.NodeID, Host: b.Host, Port: b.Port}
			if b.Rack != nil {
				n.Rack = *b.Rack
			}
			c.Nodes = append(c.Nodes, n)
		}
		return nil
	})
	return c, err
}

// Feature is a feature of the cluster: the levels that a broker supports, and the one
// in use.
type Feature struct {
	Min, Max  int16
	Finalized int16 // 0 is not in use
}

// DescribeFeatures describes the features of the cluster (describeFeatures).
func (a *Admin) DescribeFeatures(ctx context.Context) (features map[string]Feature, err error) {
	err = a.call(ctx, "describeFeatures", func(ctx context.Context) error {
		r, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, a.engine)
		if err != nil {
			return err
		}
		features = make(map[string]Feature)
		for _, f := range r.SupportedFeatures {
			features[f.Name] = Feature{Min: f.MinVersion, Max: f.MaxVersion}
		}
		for _, f := range r.FinalizedFeatures {
			one := features[f.Name]
			one.Finalized = f.MaxVersionLevel
			features[f.Name] = one
		}
		return kerr.ErrorForCode(r.ErrorCode)
	})
	return features, err
}

// UpgradeType is what UpdateFeatures may do to a level (FeatureUpdate.UpgradeType).
type UpgradeType int8

// The types of upgrades.
const (
	Upgrade         UpgradeType = iota + 1 // only upwards
	SafeDowngrade                          // also down, if nothing is lost by that
	UnsafeDowngrade                        // also down, losing what the level doesn't have
)

// UpdateFeatures sets levels of features, all or none of them (updateFeatures). Level 0
// takes a feature out of use.
func (a *Admin) UpdateFeatures(ctx context.Context, how UpgradeType, levels map[string]int16) error {
	return a.call(ctx, "updateFeatures", func(ctx context.Context) error {
		request := kmsg.NewPtrUpdateFeaturesRequest()
		request.TimeoutMillis = int32(a.limit.Milliseconds())
		for name, level := range levels {
			u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
			u.Feature, u.MaxVersionLevel, u.UpgradeType = name, level, int8(how)
			u.AllowDowngrade = how != Upgrade
			request.FeatureUpdates = append(request.FeatureUpdates, u)
		}
		r, err := request.RequestWith(ctx, a.engine)
		if err != nil {
			return err
		}
		var all refusals
		for _, f := range r.Results {
			all.add("feature "+f.Feature, kerr.ErrorForCode(f.ErrorCode), textOf(f.ErrorMessage))
		}
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			all.add("features", err, textOf(r.ErrorMessage))
		}
		return all.join()
	})
}

// LogDir is a log directory of a broker.
type LogDir struct {
	Broker   int32
	Path     string
	Total    int64 // bytes of the volume, -1 when the broker doesn't say
	Usable   int64 // bytes that are free in it, -1 when the broker doesn't say
	Replicas map[TopicPartition]ReplicaInfo
	Err      error // such as KAFKA_STORAGE_ERROR of a directory that is offline
}

// ReplicaInfo is a replica in a log directory.
type ReplicaInfo struct {
	Size   int64 // bytes
	Lag    int64 // records
	Future bool  // it is being moved here from another directory
}

// DescribeLogDirs describes the log directories of brokers, of all if none are named
// (describeLogDirs).
func (a *Admin) DescribeLogDirs(ctx context.Context, brokers ...int32) (dirs []LogDir, err error) {
	err = a.call(ctx, "describeLogDirs", func(ctx context.Context) error {
		all := kadm.DescribedAllLogDirs{}
		if len(brokers) == 0 {
			if all, err = a.kadm.DescribeAllLogDirs(ctx, nil); err != nil {
				return err
			}
		}
		for _, b := range brokers {
			if all[b], err = a.kadm.DescribeBrokerLogDirs(ctx, b, nil); err != nil {
				return err
			}
		}
		for _, d := range all.Sorted() {
			dir := LogDir{Broker: d.Broker, Path: d.Dir, Total: d.TotalBytes, Usable: d.UsableBytes, Err: d.Err, Replicas: map[TopicPartition]ReplicaInfo{}}
			for _, partitions := range d.Topics {
				for _, p := range partitions {
					dir.Replicas[TopicPartition{p.Topic, p.Partition}] = ReplicaInfo{p.Size, p.OffsetLag, p.IsFuture}
				}
			}
			dirs = append(dirs, dir)
		}
		return nil
	})
	return dirs, err
}

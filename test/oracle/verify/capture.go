package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Keys of APIs that a cluster need not serve to be captured.
const (
	keyDescribeConfigs = 32
	keyListGroups      = 16
)

func (v *verifier) serves(key int16) bool {
	_, ok := v.advertised[key]
	return ok
}

// capture writes down what a cluster says now, as a variant "captured" that can be given to -expect afterwards.
// It holds what every cluster has: topics, configs, offsets, records, times and group offsets.
func (v *verifier) capture(file string) error {
	m, err := v.metadata()
	if err != nil {
		return err
	}
	e := &Expect{Topics: map[string]*Topic{}, Configs: map[string]map[string]*string{}, Groups: map[string]*Group{}}
	e.Cluster.ID = *m.ClusterID
	for _, b := range m.Brokers {
		e.Cluster.Nodes = append(e.Cluster.Nodes, b.NodeID)
	}
	v.want = e
	for _, t := range m.Topics {
		name := *t.Topic
		x := &Topic{ID: uuid(t.TopicID), Internal: t.IsInternal, PartitionCount: len(t.Partitions)}
		if v.serves(keyDescribeConfigs) {
			if x.Configs, err = v.describe(2, name, 1); err != nil {
				return err
			}
		}
		e.Topics[name] = x
		if !strings.HasPrefix(name, "__") {
			for range t.Partitions {
				x.Partitions = append(x.Partitions, &Partition{})
			}
		}
	}
	if v.serves(keyDescribeConfigs) {
		if e.Configs["broker default"], err = v.describe(4, "", 3); err != nil {
			return err
		}
	}
	if err := v.ready(); err != nil {
		return err
	}
	if err := v.captureOffsets(); err != nil {
		return err
	}
	if err := v.each(v.capturePartition); err != nil {
		return err
	}
	if err := v.captureTimes(); err != nil {
		return err
	}
	if v.serves(keyListGroups) {
		if err := v.captureGroups(); err != nil {
			return err
		}
	}
	if v.differences > 0 {
		return fmt.Errorf("%d errors while reading", v.differences)
	}
	b, err := json.MarshalIndent(map[string]*Expect{"captured": e}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}

func (v *verifier) captureOffsets() error {
	for i, k := range []struct {
		isolation int8
		at        int64
	}{{0, -2}, {0, -1}, {1, -1}} {
		got, err := v.list(k.isolation, func(string, int32, *Partition) (int64, bool) { return k.at, true })
		if err != nil {
			return err
		}
		v.each(func(topic string, part int32, p *Partition) error {
			g, ok := got[fmt.Sprintf("%s-%d", topic, part)]
			if !ok {
				return fmt.Errorf("no offset")
			}
			*[]*int64{&p.Start, &p.HighWatermark, &p.LastStableOffset}[i] = g[0]
			return nil
		})
	}
	return nil
}

func (v *verifier) capturePartition(topic string, part int32, p *Partition) error {
	for at := p.Start; at < p.HighWatermark; {
		f, err := v.fetch(topic, part, at, false, 8<<20)
		if err != nil {
			return err
		}
		if f.next <= at {
			return fmt.Errorf("nothing more at %d of %d", at, p.HighWatermark)
		}
		p.Batches = append(p.Batches, f.batches...)
		for _, r := range f.records {
			if r.Offset >= at {
				p.Records = append(p.Records, row(r))
			}
		}
		at = f.next
	}
	var committed []int64
	for at := p.Start; at < p.LastStableOffset; {
		f, err := v.fetch(topic, part, at, true, 8<<20)
		if err != nil {
			return err
		}
		if f.next <= at {
			return fmt.Errorf("read_committed: nothing more at %d of %d", at, p.LastStableOffset)
		}
		for _, r := range f.records {
			if r.Offset >= at {
				committed = append(committed, r.Offset)
			}
		}
		at = f.next
	}
	p.Committed = ranges(committed)
	return nil
}

func (v *verifier) captureTimes() error {
	for _, t := range v.want.Topics {
		for _, p := range t.Partitions {
			ask := []int64{0}
			for i := 0; i < len(p.Records); i += max(1, len(p.Records)/12) {
				ts := p.Records[i][1].(int64)
				ask = append(ask, ts-1, ts, ts+1)
			}
			slices.Sort(ask)
			for _, ts := range slices.Compact(ask) {
				p.Times = append(p.Times, []int64{max(ts, 0), -1, -1})
			}
		}
	}
	for i, some := 0, true; some; i++ {
		some = false
		got, err := v.list(0, func(_ string, _ int32, p *Partition) (int64, bool) {
			if i >= len(p.Times) {
				return 0, false
			}
			some = true
			return p.Times[i][0], true
		})
		if err != nil {
			return err
		}
		v.each(func(topic string, part int32, p *Partition) error {
			if i < len(p.Times) {
				g := got[fmt.Sprintf("%s-%d", topic, part)]
				p.Times[i][1], p.Times[i][2] = g[0], g[1]
			}
			return nil
		})
	}
	got, err := v.list(0, func(string, int32, *Partition) (int64, bool) { return -3, v.advertised[2] >= 7 })
	if err != nil {
		return err
	}
	return v.each(func(topic string, part int32, p *Partition) error {
		g := got[fmt.Sprintf("%s-%d", topic, part)]
		p.MaxTimestamp = g[:]
		return nil
	})
}

func (v *verifier) captureGroups() error {
	if _, ok := v.advertised[16]; !ok {
		return nil
	}
	listed, err := v.adm.ListGroups(v.ctx)
	if err != nil {
		return err
	}
	for id, g := range listed {
		x := &Group{Type: "classic", ProtocolType: g.ProtocolType, State: g.State}
		if g.GroupType != "" {
			x.Type = g.GroupType
		}
		if strings.EqualFold(x.Type, "share") {
			continue
		}
		if x.Offsets, err = v.committedOffsets(id); err != nil {
			return err
		}
		v.want.Groups[id] = x
	}
	return nil
}

// describe returns what is set on a resource at the given source.
func (v *verifier) describe(typ int8, name string, source int8) (map[string]*string, error) {
	q := kmsg.NewPtrDescribeConfigsRequest()
	rr := kmsg.NewDescribeConfigsRequestResource()
	rr.ResourceType, rr.ResourceName = kmsg.ConfigResourceType(typ), name
	q.Resources = append(q.Resources, rr)
	req := v.cl.Request
	if id := 0; typ == 4 {
		if _, err := fmt.Sscan(name, &id); err == nil {
			req = v.cl.Broker(id).Request
		}
	}
	r, err := req(v.ctx, q)
	if err != nil {
		return nil, err
	}
	res := r.(*kmsg.DescribeConfigsResponse).Resources
	if len(res) != 1 {
		return nil, fmt.Errorf("DescribeConfigs of %q: %d answers", name, len(res))
	}
	if e := kerr.ErrorForCode(res[0].ErrorCode); e != nil {
		return nil, fmt.Errorf("DescribeConfigs of %q: %w", name, e)
	}
	got := map[string]*string{}
	for _, c := range res[0].Configs {
		if int8(c.Source) == source {
			got[c.Name] = c.Value
		}
	}
	return got, nil
}

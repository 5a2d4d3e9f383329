package client

// topicJSON is a topic as -o json has it.
type topicJSON struct {
	Name              string            `json:"topic"`
	ID                string            `json:"topicId"`
	PartitionCount    int               `json:"partitionCount"`
	ReplicationFactor int               `json:"replicationFactor"`
	Configs           map[string]string `json:"configs"`
	Partitions        []partitionJSON   `json:"partitions"`
}

// partitionJSON is a partition; a null list is one that the server does not tell.
type partitionJSON struct {
	Partition    int32   `json:"partition"`
	Leader       *int32  `json:"leader"` // null: none
	Replicas     []int32 `json:"replicas"`
	ISR          []int32 `json:"isr"`
	ELR          []int32 `json:"elr"`
	LastKnownELR []int32 `json:"lastKnownElr"`
	Adding       []int32 `json:"addingReplicas,omitempty"`
	Removing     []int32 `json:"removingReplicas,omitempty"`
}

// printJSON prints topics with those of their partitions that the report options
// let through; topics of which none is left are left out then.
func (t topicsTool) printJSON(topics []*describedTopic) error {
	out := []topicJSON{}
	reports := t.reports()
	for _, d := range topics {
		one := topicJSON{Name: d.name, ID: d.id.String(), PartitionCount: len(d.partitions), ReplicationFactor: d.replicationFactor(),
			Configs: map[string]string{}, Partitions: []partitionJSON{}}
		for _, c := range d.configs {
			one.Configs[c.Key] = c.MaybeValue()
		}
		for _, p := range d.partitions {
			if !reports || t.reported(d, p) {
				one.Partitions = append(one.Partitions, p.json())
			}
		}
		if reports && len(one.Partitions) == 0 || t.set.Has("topics-with-overrides") && len(d.configs) == 0 {
			continue
		}
		out = append(out, one)
	}
	return printJSON(t.o, out)
}

func (p describedPartition) json() partitionJSON {
	list := func(ids []int32) []int32 { return append([]int32{}, ids...) }
	out := partitionJSON{Partition: p.partition, Replicas: list(p.replicas), ISR: list(p.isr), Adding: p.adding, Removing: p.removing}
	if p.leader >= 0 {
		out.Leader = &p.leader
	}
	if p.knowsELR {
		out.ELR, out.LastKnownELR = list(p.elr), list(p.lastKnownELR)
	}
	return out
}

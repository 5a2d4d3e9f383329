package client

import "barnabas/internal/kafka"

// listedGroup is a group as -o json lists it.
type listedGroup struct {
	Group    string `json:"group"`
	Type     string `json:"type"`
	Protocol string `json:"protocol"`
	State    string `json:"state"`
}

// groupJSON is a described group as -o json has it. Of Partitions and Members there is
// what the options ask for; null is what a group does not have or a broker not tell.
type groupJSON struct {
	Group           string               `json:"group"`
	State           string               `json:"state"`
	Assignor        string               `json:"assignor"`
	Coordinator     endpointJSON         `json:"coordinator"`
	Epoch           *int32               `json:"groupEpoch"`
	AssignmentEpoch *int32               `json:"targetAssignmentEpoch"`
	MemberCount     int                  `json:"memberCount"`
	Partitions      []groupPartitionJSON `json:"partitions,omitzero"`
	Members         []groupMemberJSON    `json:"members,omitzero"`
}

// resetGroupJSON is a group whose offsets are reset, with the new ones.
type resetGroupJSON struct {
	Group      string            `json:"group"`
	Committed  bool              `json:"committed"` // false with --dry-run
	Error      string            `json:"error,omitempty"`
	Partitions []partitionOffset `json:"partitions"`
}

// deletedGroupJSON is a group that was deleted, or why it was not.
type deletedGroupJSON struct {
	Group string `json:"group"`
	Error string `json:"error,omitempty"`
}

// deletedOffsetsJSON is a group of which offsets were deleted. A topic that is not
// there has the partition null.
type deletedOffsetsJSON struct {
	Group      string                 `json:"group"`
	Error      string                 `json:"error,omitempty"`
	Partitions []deletedPartitionJSON `json:"partitions"`
}

type deletedPartitionJSON struct {
	Topic     string `json:"topic"`
	Partition *int32 `json:"partition"`
	Error     string `json:"error,omitempty"`
}

type endpointJSON struct {
	ID   int32  `json:"id"`
	Host string `json:"host"`
	Port int32  `json:"port"`
}

type groupPartitionJSON struct {
	topicPartition
	LeaderEpoch *int32 `json:"leaderEpoch"`
	Offset      *int64 `json:"currentOffset"`
	End         *int64 `json:"logEndOffset"`
	Lag         *int64 `json:"lag"`
	// Of the owner; null: none.
	Member *string `json:"consumerId"`
	Host   *string `json:"host"`
	Client *string `json:"clientId"`
}

type groupMemberJSON struct {
	ID       string           `json:"consumerId"`
	Instance *string          `json:"groupInstanceId"`
	Host     string           `json:"host"`
	Client   string           `json:"clientId"`
	Epoch    *int32           `json:"currentEpoch"`
	Current  []topicPartition `json:"currentAssignment"`
	Target   []topicPartition `json:"targetAssignment,omitzero"` // of KIP-848
	Upgraded *bool            `json:"upgraded,omitempty"`
}

// json is the group without its partitions and members.
func (d *groupDescription) json() groupJSON {
	return groupJSON{Group: d.id, State: d.state, Assignor: d.assignor, Epoch: d.epoch, AssignmentEpoch: d.assignmentEpoch, MemberCount: len(d.members),
		Coordinator: endpointJSON{d.coordinator.NodeID, d.coordinator.Host, d.coordinator.Port}}
}

func (d *groupDescription) membersJSON() []groupMemberJSON {
	out := []groupMemberJSON{}
	for _, m := range d.members {
		one := groupMemberJSON{ID: m.id, Instance: orNil(m.instance), Host: m.host, Client: m.client, Epoch: m.epoch,
			Current: partitionsJSON(m.assigned), Upgraded: m.upgraded}
		if d.epoch != nil {
			one.Target = partitionsJSON(m.target)
		}
		out = append(out, one)
	}
	return out
}

func (r offsetRow) json() groupPartitionJSON {
	out := groupPartitionJSON{topicPartition: topicPartition{r.partition.Topic, r.partition.Partition}, LeaderEpoch: r.epoch, Offset: r.offset, End: r.end, Lag: r.lag}
	if r.member != missing {
		out.Member, out.Host, out.Client = &r.member, &r.host, &r.client
	}
	return out
}

func partitionsJSON(partitions []kafka.TopicPartition) []topicPartition {
	out := []topicPartition{}
	for _, p := range partitions {
		out = append(out, topicPartition{p.Topic, p.Partition})
	}
	return out
}

// orNil is nil for no text.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

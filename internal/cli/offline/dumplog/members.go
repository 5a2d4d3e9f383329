package dumplog

import (
	"bytes"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/internaltopics"
	"barnabas/internal/coordinator/grouprec"
)

// consumerProtocol is the protocol type whose subscriptions and assignments are
// known here; those of others are opaque bytes.
const consumerProtocol = "consumer"

type partitionsJSON struct {
	Topic      string  `json:"topic"`
	Partitions []int32 `json:"partitions"`
}

// subscriptionJSON is ConsumerProtocolSubscription; fields that the version does
// not have are left out.
type subscriptionJSON struct {
	Topics          []string          `json:"topics"`
	UserData        []byte            `json:"userData"`
	OwnedPartitions *[]partitionsJSON `json:"ownedPartitions,omitempty"` // 1 and later
	GenerationID    *int32            `json:"generationId,omitempty"`    // 2 and later
	RackID          **string          `json:"rackId,omitempty"`          // 3 and later
}

// assignmentJSON is ConsumerProtocolAssignment.
type assignmentJSON struct {
	AssignedPartitions []partitionsJSON `json:"assignedPartitions"`
	UserData           []byte           `json:"userData"`
}

// errTooShort has the text that Apache's tool shows for bytes that end too early:
// its exception has none.
var errTooShort = errors.New("null")

// groupMetadata is the JSON of a classic group's value. Where the group is one of
// consumers, what the members want and have is shown in place of its bytes.
func groupMetadata(plain []byte, m *grouprec.GroupMetadataValue) ([]byte, error) {
	if m.ProtocolType != consumerProtocol {
		return plain, nil
	}
	out := plain[:0:0]
	for i := range m.Members {
		for _, field := range []struct {
			name   string
			bytes  []byte
			decode func([]byte) (any, error)
		}{
			{"subscription", m.Members[i].Subscription, subscription},
			{"assignment", m.Members[i].Assignment, assignment},
		} {
			v, err := field.decode(field.bytes)
			if err != nil {
				return nil, err
			}
			// Quotes inside strings are escaped, so that this is the field.
			name := []byte(`"` + field.name + `":`)
			at := bytes.Index(plain, append(name, '"')) + len(name)
			end := at + 1 + bytes.IndexByte(plain[at+1:], '"') + 1
			out = append(append(out, plain[:at]...), internaltopics.Marshal(v)...)
			plain = plain[end:]
		}
	}
	return append(out, plain...), nil
}

func subscription(b []byte) (any, error) {
	var m kmsg.ConsumerMemberMetadata
	if err := m.ReadFrom(b); err != nil {
		return nil, errTooShort
	}
	out := subscriptionJSON{Topics: m.Topics, UserData: m.UserData}
	if out.Topics == nil {
		out.Topics = []string{}
	}
	if m.Version >= 1 {
		owned := []partitionsJSON{}
		for _, t := range m.OwnedPartitions {
			owned = append(owned, partitionsJSON{t.Topic, orEmpty(t.Partitions)})
		}
		out.OwnedPartitions = &owned
	}
	if m.Version >= 2 {
		out.GenerationID = &m.Generation
	}
	if m.Version >= 3 {
		out.RackID = &m.Rack
	}
	return out, nil
}

func assignment(b []byte) (any, error) {
	var m kmsg.ConsumerMemberAssignment
	if err := m.ReadFrom(b); err != nil {
		return nil, errTooShort
	}
	out := assignmentJSON{AssignedPartitions: []partitionsJSON{}, UserData: m.UserData}
	for _, t := range m.Topics {
		out.AssignedPartitions = append(out.AssignedPartitions, partitionsJSON{t.Topic, orEmpty(t.Partitions)})
	}
	return out, nil
}

func orEmpty(partitions []int32) []int32 {
	if partitions == nil {
		return []int32{}
	}
	return partitions
}

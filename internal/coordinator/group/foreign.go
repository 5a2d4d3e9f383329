package group

import (
	"encoding/binary"
	"slices"
	"strings"

	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// foreignKind is a kind of group that is kept but not served.
type foreignKind string

const (
	kindShare   foreignKind = "share"   // KIP-932
	kindStreams foreignKind = "streams" // KIP-1071
)

const streamsNotReady = "NotReady"

// foreignGroup is a group of a kind that this release does not serve, as the log has
// it. It is built while the log is loaded and does not change afterwards: it goes
// as a whole, when somebody deletes it.
type foreignGroup struct {
	kind      foreignKind
	keys      map[string]grouprec.RecordType // all its records
	members   map[string]foreignMember
	epoch     int32
	assigned  int32 // the epoch of the target assignment
	topology  int32 // of a streams group
	validated int32
}

type foreignMember struct {
	epoch  int32
	stable bool
	// topics is what a member of a share group is subscribed to.
	topics []string
}

// kindOf says to which kind of group a record type belongs.
func kindOf(t grouprec.RecordType) foreignKind {
	switch {
	case t >= grouprec.TypeShareGroupMemberMetadata && t <= grouprec.TypeShareGroupStatePartitionMetadata:
		return kindShare
	}
	return kindStreams
}

// isHead says whether a record is the one with which a group of its kind goes.
func isHead(t grouprec.RecordType) bool {
	return t == grouprec.TypeShareGroupMetadata || t == grouprec.TypeStreamsGroupMetadata
}

// replayForeign keeps a record of another kind of group.
func (c *Core) replayForeign(r machine.Replayed, key, value grouprec.Message) error {
	names := keyNames(r.Key)
	e, ok := c.groups.Get(names[0])
	if ok && e.foreign == nil && value != nil {
		// A simple group that this kind of group has taken over.
		ok = false
	}
	switch {
	case value == nil && (!ok || e.foreign == nil || e.foreign.kind != kindOf(key.Type())):
		return nil
	case c.loaded && value == nil:
		if isHead(key.Type()) {
			c.groups.Delete(names[0])
		}
		return nil
	case !ok || e.foreign.kind != kindOf(key.Type()):
		e = &entry{foreign: &foreignGroup{
			kind: kindOf(key.Type()), keys: map[string]grouprec.RecordType{}, members: map[string]foreignMember{}, topology: -1, validated: -1,
		}}
		c.groups.Set(names[0], e)
	}
	e.foreign.apply(r.Key, key.Type(), names[1], value)
	if len(e.foreign.keys) == 0 {
		c.groups.Delete(names[0])
	}
	return nil
}

// keyNames are the first two strings of a key, whose form has been checked: all
// these keys begin with the group and have, if anything, the member next.
func keyNames(key []byte) (names [2]string) {
	key = key[2:]
	for i := range names {
		if len(key) < 2 {
			break
		}
		n := int(binary.BigEndian.Uint16(key))
		names[i], key = string(key[2:2+n]), key[2+n:]
	}
	return names
}

// apply takes in a record while the log is loaded.
func (f *foreignGroup) apply(key []byte, t grouprec.RecordType, member string, value grouprec.Message) {
	if value == nil {
		delete(f.keys, string(key))
	} else {
		f.keys[string(key)] = t
	}
	m := f.members[member]
	switch v := value.(type) {
	case *grouprec.ShareGroupMetadataValue:
		f.epoch = v.Epoch
	case *grouprec.StreamsGroupMetadataValue:
		f.epoch, f.validated = v.Epoch, v.ValidatedTopologyEpoch
	case *grouprec.StreamsGroupTopologyValue:
		f.topology = v.Epoch
	case *grouprec.ShareGroupTargetAssignmentMetadataValue:
		f.assigned = v.AssignmentEpoch
	case *grouprec.StreamsGroupTargetAssignmentMetadataValue:
		f.assigned = v.AssignmentEpoch
	case *grouprec.ShareGroupMemberMetadataValue:
		m.topics = v.SubscribedTopicNames
		f.members[member] = m
	case *grouprec.StreamsGroupMemberMetadataValue:
		f.members[member] = m
	case *grouprec.ShareGroupCurrentMemberAssignmentValue:
		f.setEpoch(member, v.MemberEpoch, v.State)
	case *grouprec.StreamsGroupCurrentMemberAssignmentValue:
		f.setEpoch(member, v.MemberEpoch, v.State)
	case nil:
		f.forget(t, member)
	}
}

func (f *foreignGroup) setEpoch(member string, epoch int32, state int8) {
	if m, ok := f.members[member]; ok {
		m.epoch, m.stable = epoch, state == 0 || f.kind == kindStreams && state == 1
		f.members[member] = m
	}
}

func (f *foreignGroup) forget(t grouprec.RecordType, member string) {
	switch t {
	case grouprec.TypeShareGroupMemberMetadata, grouprec.TypeStreamsGroupMemberMetadata:
		delete(f.members, member)
	}
}

// state is the group's as its own coordinator would name it.
func (f *foreignGroup) state() string {
	switch {
	case len(f.members) == 0:
		return "Empty"
	case f.kind == kindShare:
		return "Stable"
	case f.kind == kindStreams && f.topology != f.validated:
		return streamsNotReady
	case f.epoch > f.assigned:
		return "Assigning"
	}
	for _, m := range f.members {
		if !m.stable || m.epoch != f.assigned {
			return "Reconciling"
		}
	}
	return "Stable"
}

// replaceable says whether a classic group may take the id: nobody is left in the
// group, and nothing of it lies elsewhere.
func (f *foreignGroup) replaceable() bool { return len(f.members) == 0 && f.kind != kindShare }

// mayDelete is why DeleteGroups may not delete it. The state of share groups lies in
// another topic that this release does not keep.
func (f *foreignGroup) mayDelete() kafka.ErrorCode {
	switch {
	case len(f.members) > 0:
		return kafka.ErrNonEmptyGroup
	case f.kind == kindShare:
		return kafka.ErrUnsupportedVersion
	}
	return kafka.ErrNone
}

// mayCommit is why the group does not take the offsets of OffsetCommit.
func (f *foreignGroup) mayCommit(req *kmsg.OffsetCommitRequest) kafka.ErrorCode {
	m, ok := f.members[req.MemberID]
	switch {
	case f.kind == kindShare:
		return kafka.ErrGroupIDNotFound
	case req.Generation < 0 && len(f.members) == 0:
		return kafka.ErrNone
	case !ok:
		return kafka.ErrUnknownMemberID
	case req.Version < 9:
		return kafka.ErrUnsupportedVersion
	case req.Generation != m.epoch:
		return kafka.ErrStaleMemberEpoch
	}
	return kafka.ErrNone
}

// mayFetch is why the group does not tell its offsets.
func (f *foreignGroup) mayFetch(req *kmsg.OffsetFetchRequestGroup) kafka.ErrorCode {
	if f.kind == kindShare || req.MemberID == nil && req.MemberEpoch < 0 {
		return kafka.ErrNone
	}
	var id string
	if req.MemberID != nil {
		id = *req.MemberID
	}
	switch m, ok := f.members[id]; {
	case !ok:
		return kafka.ErrUnknownMemberID
	case m.epoch != req.MemberEpoch:
		return kafka.ErrStaleMemberEpoch
	}
	return kafka.ErrNone
}

func (f *foreignGroup) mayDeleteOffsets() kafka.ErrorCode {
	if f.kind == kindShare {
		return kafka.ErrGroupIDNotFound
	}
	return kafka.ErrNone
}

// isSubscribed says whether a member names the topic. Streams groups name theirs in
// topologies; of those any topic may be one.
func (f *foreignGroup) isSubscribed(topic string) bool {
	if f.kind == kindStreams {
		return len(f.members) > 0
	}
	for _, m := range f.members {
		if slices.Contains(m.topics, topic) {
			return true
		}
	}
	return false
}

// tombstones are for all records of the group: those of members first, that of the
// group last.
func (f *foreignGroup) tombstones() []machine.Record {
	keys := make([]string, 0, len(f.keys))
	for key := range f.keys {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if x, y := isHead(f.keys[a]), isHead(f.keys[b]); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(b, a) // higher types first
	})
	records := make([]machine.Record, len(keys))
	for i, key := range keys {
		records[i].Key = []byte(key)
	}
	return records
}

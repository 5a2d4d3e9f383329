package group

import (
	"bytes"
	"slices"
	"time"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Client says where a request came from.
type Client struct {
	ID   string // client.id
	Host string // as Apache Kafka writes it: "/127.0.0.1"
}

// member is a member of a classic group.
type member struct {
	id               string
	instance         *string // group.instance.id of a static member
	client           Client
	protocolType     string
	protocols        []kmsg.JoinGroupRequestProtocol // each name once
	rebalanceTimeout time.Duration
	sessionTimeout   time.Duration
	assignment       []byte

	isNew    bool // since it was added, until the end of that rebalance
	unsynced bool // it has to fetch its assignment
	place    int  // in the order of the group
	session  timer

	join func(*kmsg.JoinGroupResponse) // not nil: it waits for the end of the rebalance
	sync func(*kmsg.SyncGroupResponse) // not nil: it waits for its assignment
}

// newMember makes a member of a request; bytes are copied, the request may go.
func newMember(g *classicGroup, id string, from Client, req *kmsg.JoinGroupRequest) *member {
	m := &member{id: id, instance: req.InstanceID, client: from, protocolType: req.ProtocolType}
	m.session = timer{kind: timerSession, group: g, member: m}
	m.take(req)
	return m
}

// take sets what a member may change each time it joins.
func (m *member) take(req *kmsg.JoinGroupRequest) {
	m.protocols = eachOnce(req.Protocols)
	m.sessionTimeout = milliseconds(req.SessionTimeoutMillis)
	m.rebalanceTimeout = milliseconds(req.RebalanceTimeoutMillis)
	if req.Version == 0 {
		m.rebalanceTimeout = m.sessionTimeout
	}
}

func milliseconds(ms int32) time.Duration { return time.Duration(ms) * time.Millisecond }

// eachOnce copies protocols; of those with one name the first counts.
func eachOnce(protocols []kmsg.JoinGroupRequestProtocol) []kmsg.JoinGroupRequestProtocol {
	list := make([]kmsg.JoinGroupRequestProtocol, 0, len(protocols))
	seen := make(map[string]struct{}, len(protocols))
	for i := range protocols {
		p := &protocols[i]
		if _, twice := seen[p.Name]; twice {
			continue
		}
		seen[p.Name] = struct{}{}
		list = append(list, kmsg.JoinGroupRequestProtocol{Name: p.Name, Metadata: bytes.Clone(p.Metadata)})
	}
	return list
}

// bytes is what the protocols of the member hold.
func (m *member) bytes() int { return protocolBytes(m.protocols) }

func protocolBytes(protocols []kmsg.JoinGroupRequestProtocol) int {
	n := 0
	for i := range protocols {
		n += len(protocols[i].Name) + len(protocols[i].Metadata)
	}
	return n
}

// metadata is the subscription with a protocol that the member supports.
func (m *member) metadata(protocol string) []byte {
	for i := range m.protocols {
		if m.protocols[i].Name == protocol {
			return m.protocols[i].Metadata
		}
	}
	return nil
}

// matches says whether a request has the protocols that the member has.
func (m *member) matches(protocols []kmsg.JoinGroupRequestProtocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b kmsg.JoinGroupRequestProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// heard says whether silence of the member is no failure: it waits for an answer.
// A new member may be gone while it waits.
func (m *member) heard() bool { return !m.isNew && (m.join != nil || m.sync != nil) }

// answerSync ends the waiting of the member for its assignment. It says whether it
// waited.
func (m *member) answerSync(resp *kmsg.SyncGroupResponse) bool {
	if m.sync == nil {
		return false
	}
	reply := m.sync
	m.sync = nil
	reply(resp)
	return true
}

func refusedJoin(memberID string, code kafka.ErrorCode) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.ErrorCode, resp.MemberID, resp.Generation = int16(code), memberID, -1
	return resp
}

func refusedSync(code kafka.ErrorCode) *kmsg.SyncGroupResponse {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.ErrorCode = int16(code)
	return resp
}

package load

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// subscription is what a member says of itself: version 0, topic "t", no user data.
const subscription = "\x00\x00\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff"

// memberIDRequired answers the first JoinGroup of a member, with an id for the next.
const memberIDRequired = 79

// Member is the only member of a group of the classic protocol.
type Member struct {
	Group      string
	id         string
	generation int32
}

// Join joins and is given an assignment: JoinGroup without an id and with one,
// SyncGroup.
func (m *Member) Join(c *Conn) error {
	req := kmsg.NewPtrJoinGroupRequest()
	req.SetVersion(9)
	req.Group, req.ProtocolType = m.Group, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 45_000, 45_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte(subscription)}}
	joined, err := c.join(req)
	if err == nil && joined.ErrorCode == memberIDRequired {
		req.MemberID = joined.MemberID
		joined, err = c.join(req)
	}
	if err != nil {
		return err
	}
	if joined.ErrorCode != 0 {
		return fmt.Errorf("join %s: error code %d", m.Group, joined.ErrorCode)
	}
	m.id, m.generation = joined.MemberID, joined.Generation
	return m.sync(c)
}

func (c *Conn) join(req *kmsg.JoinGroupRequest) (*kmsg.JoinGroupResponse, error) {
	resp, err := c.ask(req)
	if err != nil {
		return nil, err
	}
	return resp.(*kmsg.JoinGroupResponse), nil
}

func (m *Member) sync(c *Conn) error {
	req := kmsg.NewPtrSyncGroupRequest()
	req.SetVersion(5)
	req.Group, req.MemberID, req.Generation = m.Group, m.id, m.generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	req.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: m.id, MemberAssignment: []byte("mine")}}
	resp, err := c.ask(req)
	if err != nil {
		return err
	}
	if code := resp.(*kmsg.SyncGroupResponse).ErrorCode; code != 0 {
		return fmt.Errorf("sync %s: error code %d", m.Group, code)
	}
	return nil
}

// Leave leaves the group.
func (m *Member) Leave(c *Conn) error {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.SetVersion(5)
	req.Group = m.Group
	req.Members = []kmsg.LeaveGroupRequestMember{{MemberID: m.id}}
	resp, err := c.ask(req)
	if err != nil {
		return err
	}
	left := resp.(*kmsg.LeaveGroupResponse)
	if left.ErrorCode != 0 || len(left.Members) != 1 || left.Members[0].ErrorCode != 0 {
		return fmt.Errorf("leave %s: %+v", m.Group, left)
	}
	return nil
}

// Commit commits an offset of one partition.
func (m *Member) Commit(c *Conn, topic string) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.SetVersion(9)
	req.Group, req.MemberID, req.Generation = m.Group, m.id, m.generation
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset, p.LeaderEpoch = 1, -1
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
	resp, err := c.ask(req)
	if err != nil {
		return err
	}
	topics := resp.(*kmsg.OffsetCommitResponse).Topics
	if len(topics) != 1 || len(topics[0].Partitions) != 1 || topics[0].Partitions[0].ErrorCode != 0 {
		return fmt.Errorf("commit of %s: %+v", m.Group, topics)
	}
	return nil
}

// WaitGroups waits until the coordinator of each group serves it.
func WaitGroups(address string, groups []string) error {
	c, err := Dial(address)
	if err != nil {
		return err
	}
	defer c.Close()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.SetVersion(4)
	find.CoordinatorKeys = groups
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.SetVersion(5)
	describe.Groups = groups
	return poll(func() (bool, error) {
		found, err := c.ask(find)
		if err != nil {
			return false, err
		}
		for _, f := range found.(*kmsg.FindCoordinatorResponse).Coordinators {
			if f.ErrorCode != 0 {
				return false, nil
			}
		}
		described, err := c.ask(describe)
		if err != nil {
			return false, err
		}
		for _, g := range described.(*kmsg.DescribeGroupsResponse).Groups {
			if g.ErrorCode != 0 {
				return false, nil
			}
		}
		return true, nil
	})
}

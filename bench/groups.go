package main

import (
	"errors"
	"fmt"

	"barnabas/bench/load"
	"barnabas/bench/proc"
	"barnabas/bench/table"
	"barnabas/test/kit"
)

// groupMembers is how many groups of one member there are, each on a connection.
const groupMembers = 16

// runGroups times members that join, are given an assignment and leave, and then
// commits of members that stay. The delay before a group's first rebalance, which
// waits for members to come, is off for both.
func runGroups(s *side) (outcome, error) {
	n, err := s.runningWith("group.initial.rebalance.delay.ms=0")
	if err != nil {
		return outcome{}, err
	}
	topic := s.topicName()
	if _, err := load.CreateTopic(n.Address(), topic, 1, nil); err != nil {
		return outcome{}, err
	}
	members, names := make([]load.Member, groupMembers), make([]string, groupMembers)
	for i := range members {
		names[i] = fmt.Sprintf("group-%d", i)
		members[i].Group = names[i]
	}
	if err := load.WaitGroups(n.Address(), names); err != nil {
		return outcome{}, err
	}
	joined, joinCost, err := s.groupRounds(n, s.pick(5_000, 1_600), s.pick(20_000, 3_200), func(c *load.Conn, i int) error {
		return errors.Join(members[i].Join(c), members[i].Leave(c))
	})
	if err != nil {
		return outcome{}, err
	}
	if err := joinAll(n, members); err != nil {
		return outcome{}, err
	}
	committed, commitCost, err := s.groupRounds(n, s.pick(20_000, 3_200), s.pick(100_000, 16_000), func(c *load.Conn, i int) error {
		return members[i].Commit(c, topic)
	})
	if err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{
		{"joined and left", "per second", table.Goal{}, float64(joined.Requests) / joined.Wall.Seconds()},
		{"same, broker CPU", "us", table.Goal{}, perRequest(joinCost.Server, joined.Requests)},
		{"commits", "per second", table.Goal{}, float64(committed.Requests) / committed.Wall.Seconds()},
		{"same, broker CPU", "us/commit", table.Goal{}, perRequest(commitCost.Server, committed.Requests)},
		{"commits, p99", "ms", table.Goal{}, milliseconds(committed.Latencies.Percentile(0.99))},
	}}, nil
}

// groupRounds warms the server up with rounds, then measures more of them.
func (s *side) groupRounds(n *kit.Node, warm, measured int, round func(c *load.Conn, i int) error) (load.Result, proc.Cost, error) {
	l := load.Calls{Address: n.Address(), Connections: groupMembers, Rounds: warm, Round: round}
	if _, err := l.Run(); err != nil {
		return load.Result{}, proc.Cost{}, err
	}
	l.Rounds = measured
	return measure(s, n, l.Run)
}

// joinAll has each member join once more and stay.
func joinAll(n *kit.Node, members []load.Member) error {
	_, err := load.Calls{Address: n.Address(), Connections: groupMembers, Rounds: groupMembers,
		Round: func(c *load.Conn, i int) error { return members[i].Join(c) }}.Run()
	return err
}

package client

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/kafka"
)

// describe prints groups in order of their names; the first that cannot be
// described is the error.
func (t *groupsTool) describe() error {
	ids, err := t.groups()
	if err != nil {
		return err
	}
	found, failed, err := describeGroups(t.ctx, t.cl, ids)
	if err != nil {
		return &executionError{named(err)}
	}
	for _, id := range asInHashMap(ids, stringHash, powerOfTwo(len(ids))) {
		if err := failed[id]; err != nil {
			return &executionError{err}
		}
	}
	sorted := slices.Sorted(maps.Keys(found))
	rows := map[string][]offsetRow{}
	if !t.set.HasAny("members", "state") {
		for _, id := range sorted {
			if rows[id], err = t.offsetRows(found[id]); err != nil {
				return err
			}
		}
	}
	if t.asJSON {
		return t.printDescribedJSON(sorted, found, rows)
	}
	for _, id := range sorted {
		switch {
		case t.set.Has("members"):
			t.printMembers(found[id])
		case t.set.Has("state"):
			t.printState(found[id])
		default:
			t.printOffsets(found[id], rows[id])
		}
	}
	return nil
}

func (t *groupsTool) printDescribedJSON(ids []string, found map[string]*groupDescription, rows map[string][]offsetRow) error {
	out := []groupJSON{}
	for _, id := range ids {
		one := found[id].json()
		switch {
		case t.set.Has("members"):
			one.Members = found[id].membersJSON()
		case !t.set.Has("state"):
			one.Partitions = []groupPartitionJSON{}
			for _, r := range rows[id] {
				one.Partitions = append(one.Partitions, r.json())
			}
		}
		out = append(out, one)
	}
	return printJSON(t.o, out)
}

// worthPrinting says on standard error what is special about a group's state, and
// whether there is anything to print.
func (t *groupsTool) worthPrinting(d *groupDescription, rows int) bool {
	switch d.state {
	case "Dead":
		printGroupsError(t.o, fmt.Sprintf("Consumer group '%s' does not exist.", d.id))
	case "Empty":
		fmt.Fprintf(t.o.Stderr, "\nConsumer group '%s' has no active members.\n", d.id)
	case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
		fmt.Fprintf(t.o.Stderr, "\nWarning: Consumer group '%s' is rebalancing.\n", d.id)
	}
	return d.state != "Dead" && rows > 0
}

const missing = "-"

func orMissing[N int32 | int64](n *N) string {
	if n == nil {
		return missing
	}
	return strconv.FormatInt(int64(*n), 10)
}

// offsetRow is a partition of a group.
type offsetRow struct {
	partition            kafka.TopicPartition
	epoch                *int32
	offset, end, lag     *int64
	member, host, client string
}

// offsetRows are the partitions of the members, those with most of them first, and
// then the partitions that nobody owns.
func (t *groupsTool) offsetRows(d *groupDescription) ([]offsetRow, error) {
	offsets, order, err := committedOffsets(t.ctx, t.cl, d.id)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	owned := map[kafka.TopicPartition]bool{}
	members := slices.Clone(d.members)
	slices.SortStableFunc(members, func(a, b groupMember) int { return len(b.assigned) - len(a.assigned) })
	var rows []offsetRow
	for _, m := range members {
		for _, p := range m.assigned {
			owned[p] = true
		}
		more, err := t.partitionRows(m.assigned, offsets, offsetRow{member: m.id, host: m.host, client: m.client})
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	order = slices.DeleteFunc(order, func(p kafka.TopicPartition) bool { return owned[p] })
	more, err := t.partitionRows(order, offsets, offsetRow{member: missing, host: missing, client: missing})
	return append(rows, more...), err
}

// partitionRows fills in a row for each of the partitions, by topic and number.
func (t *groupsTool) partitionRows(partitions []kafka.TopicPartition, offsets map[kafka.TopicPartition]committed, owner offsetRow) ([]offsetRow, error) {
	_, leaderless, err := partitionsOf(t.ctx, t.cl, topicsOf(partitions))
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	led := slices.DeleteFunc(slices.Clone(partitions), func(p kafka.TopicPartition) bool { return leaderless[p] })
	ends, err := listOffsets(t.ctx, t.cl, led, kafka.TimestampLatest)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	var rows []offsetRow
	for _, p := range partitions {
		row := owner
		row.partition = p
		if c, ok := offsets[p]; ok {
			row.offset, row.epoch = &c.offset, c.epoch
		}
		if end, ok := ends[p]; ok {
			row.end = &end
			if row.offset != nil {
				lag := end - *row.offset
				row.lag = &lag
			}
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b offsetRow) int {
		if c := strings.Compare(a.partition.Topic, b.partition.Topic); c != 0 {
			return c
		}
		return int(a.partition.Partition - b.partition.Partition)
	})
	return rows, nil
}

func topicsOf(partitions []kafka.TopicPartition) []string {
	var topics []string
	for _, p := range partitions {
		topics = append(topics, p.Topic)
	}
	return distinct(topics)
}

func (t *groupsTool) printOffsets(d *groupDescription, rows []offsetRow) {
	if !t.worthPrinting(d, len(rows)) {
		return
	}
	group, topic, member, host := max(15, len(d.id)), 15, 15, 15
	for _, r := range rows {
		topic, member, host = max(topic, len(r.partition.Topic)), max(member, len(r.member)), max(host, len(r.host))
	}
	line := func(g, tp, p, epoch, offset, end, lag, m, h, c string) {
		fmt.Fprintf(t.o.Stdout, "\n%-*s %-*s %-10s ", group, g, topic, tp, p)
		if t.set.Has("verbose") {
			fmt.Fprintf(t.o.Stdout, "%-15s ", epoch)
		}
		fmt.Fprintf(t.o.Stdout, "%-15s %-15s %-15s %-*s %-*s %s", offset, end, lag, member, m, host, h, c)
	}
	line("GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")
	for _, r := range rows {
		line(d.id, r.partition.Topic, strconv.Itoa(int(r.partition.Partition)), orMissing(r.epoch), orMissing(r.offset), orMissing(r.end), orMissing(r.lag), r.member, r.host, r.client)
	}
	fmt.Fprintln(t.o.Stdout)
}

// memberWidths are the columns of the table of members.
type memberWidths struct {
	group, id, instance, host, client, current, target int
	withInstance, withUpgrade                          bool
}

func widthsOf(d *groupDescription) memberWidths {
	w := memberWidths{group: 15, id: 15, instance: 17, host: 15, client: 15, current: 20, target: 20}
	var classic, upgraded bool
	for _, m := range d.members {
		w.group, w.id, w.instance = max(w.group, len(d.id)), max(w.id, len(m.id)), max(w.instance, len(m.instance))
		w.host, w.client = max(w.host, len(m.host)), max(w.client, len(m.client))
		w.current, w.target = max(w.current, len(assignmentText(m.assigned))), max(w.target, len(assignmentText(m.target)))
		w.withInstance = w.withInstance || m.instance != ""
		classic = classic || m.upgraded != nil && !*m.upgraded
		upgraded = upgraded || m.upgraded != nil && *m.upgraded
	}
	w.withUpgrade = classic && upgraded
	return w
}

func (t *groupsTool) printMembers(d *groupDescription) {
	w := memberWidths{group: 15, id: 15, instance: 17, host: 15, client: 15, current: 20, target: 20}
	if t.worthPrinting(d, len(d.members)) {
		w = widthsOf(d)
	}
	out := t.o.Stdout
	line := func(group, id, instance, host, client, partitions, epoch, current, targetEpoch, target, upgraded string) {
		fmt.Fprintf(out, "%-*s %-*s ", w.group, group, w.id, id)
		if w.withInstance {
			fmt.Fprintf(out, "%-*s ", w.instance, instance)
		}
		fmt.Fprintf(out, "%-*s %-*s %-15s ", w.host, host, w.client, client, partitions)
		if t.set.Has("verbose") {
			fmt.Fprintf(out, "%-15s %-*s %-15s %-*s", epoch, w.current, current, targetEpoch, w.target, target)
			if w.withUpgrade {
				fmt.Fprintf(out, " %s", upgraded)
			}
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
	line("GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED")
	for _, m := range d.members {
		upgraded := missing
		if m.upgraded != nil {
			upgraded = strconv.FormatBool(*m.upgraded)
		}
		line(d.id, m.id, m.instance, m.host, m.client, strconv.Itoa(len(m.assigned)), orMissing(m.epoch), assignmentText(m.assigned), orMissing(d.assignmentEpoch), assignmentText(m.target), upgraded)
	}
}

// assignmentText is "topic:0,1;topic2:3", sorted, or the sign for nothing.
func assignmentText(partitions []kafka.TopicPartition) string {
	byTopic := map[string][]int32{}
	for _, p := range partitions {
		byTopic[p.Topic] = append(byTopic[p.Topic], p.Partition)
	}
	var parts []string
	for topic, numbers := range byTopic {
		slices.Sort(numbers)
		text := strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]")
		parts = append(parts, topic+":"+text)
	}
	slices.Sort(parts)
	return cmp.Or(strings.Join(parts, ";"), missing)
}

func (t *groupsTool) printState(d *groupDescription) {
	if !t.worthPrinting(d, 1) {
		return
	}
	coordinator := fmt.Sprintf("%s:%d  (%d)", d.coordinator.Host, d.coordinator.Port, d.coordinator.NodeID)
	group, where := max(15, len(d.id)), max(25, len(coordinator))
	line := func(g, c, assignor, state, epoch, assignmentEpoch, members string) {
		fmt.Fprintf(t.o.Stdout, "\n%-*s %-*s %-20s %-20s ", group, g, where, c, assignor, state)
		if t.set.Has("verbose") {
			fmt.Fprintf(t.o.Stdout, "%-15s %-25s ", epoch, assignmentEpoch)
		}
		fmt.Fprint(t.o.Stdout, members)
	}
	line("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS")
	line(d.id, coordinator, cmp.Or(d.assignor, missing), d.state, orMissing(d.epoch), orMissing(d.assignmentEpoch), strconv.Itoa(len(d.members)))
	fmt.Fprintln(t.o.Stdout)
}

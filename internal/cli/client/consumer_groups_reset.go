package client

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"barnabas/internal/kafka"
)

// runtimeError is an error that Apache's tools print with the class of another
// exception around it.
type runtimeError struct{ err error }

func (e *runtimeError) Error() string {
	return "java.util.concurrent.ExecutionException: " + e.err.Error()
}
func (e *runtimeError) Unwrap() error { return e.err }

// newOffset is what a partition of a group is set to.
type newOffset struct {
	partition kafka.TopicPartition
	offset    int64
}

// groupOffsets are the new offsets of a group, in the order in which they are printed.
type groupOffsets struct {
	group   string
	offsets []newOffset
	refused string // why there are none
}

// refusal is why one group is left out; the others go on.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// resetOffsets sets, or only shows, new offsets of groups without members.
func (t *groupsTool) resetOffsets() error {
	ids, err := t.groups()
	if err != nil {
		return err
	}
	found, failed, err := describeGroups(t.ctx, t.cl, ids)
	if err != nil {
		return &runtimeError{&executionError{named(err)}}
	}
	var results []groupOffsets
	for i, id := range asInHashMap(ids, stringHash, powerOfTwo(len(ids))) {
		t.o.progressf("%d of %d groups", i, len(ids))
		if failed[id] != nil && codeOf(failed[id]) != kafka.ErrGroupIDNotFound {
			return &runtimeError{&executionError{failed[id]}}
		}
		r := groupOffsets{group: id}
		var no *refusal
		if r.offsets, err = t.resetGroup(id, found[id]); errors.As(err, &no) {
			r.refused = no.text
		} else if err != nil {
			return err
		}
		if r.refused != "" && !t.asJSON {
			printGroupsError(t.o, r.refused)
		}
		results = append(results, r)
	}
	if t.asJSON {
		return t.tellNewOffsets(results)
	}
	results = asInHashMap(results, func(g groupOffsets) int32 { return stringHash(g.group) }, smallestTable)
	if t.set.Has("export") {
		fmt.Fprintln(t.o.Stdout, exportCSV(results, len(t.set.All("group")) != 1))
		return nil
	}
	t.printNewOffsets(results)
	return nil
}

// tellNewOffsets prints the document.
func (t *groupsTool) tellNewOffsets(results []groupOffsets) error {
	slices.SortFunc(results, func(a, b groupOffsets) int { return strings.Compare(a.group, b.group) })
	list, refused := []resetGroupJSON{}, false
	for _, r := range results {
		one := resetGroupJSON{Group: r.group, Error: r.refused, Committed: t.set.Has("execute") && len(r.offsets) > 0, Partitions: []partitionOffset{}}
		slices.SortFunc(r.offsets, func(a, b newOffset) int { return a.partition.Compare(b.partition) })
		for _, n := range r.offsets {
			one.Partitions = append(one.Partitions, partitionOffset{topicPartition{n.partition.Topic, n.partition.Partition}, n.offset})
		}
		list, refused = append(list, one), refused || r.refused != ""
	}
	if err := printJSON(t.o, list); err != nil || !refused {
		return err
	}
	return errRefused
}

// resetGroup prepares the new offsets of a group, and commits them with --execute.
// d is nil if there is no such group.
func (t *groupsTool) resetGroup(group string, d *groupDescription) ([]newOffset, error) {
	if d != nil && d.state != "Empty" && d.state != "Dead" {
		return nil, &refusal{fmt.Sprintf("Assignments can only be reset if the group '%s' is inactive, but the current state is %s.", group, d.state)}
	}
	partitions, err := t.partitionsToReset(group)
	if err != nil {
		return nil, err
	}
	if err := t.checkPartitions(partitions); err != nil {
		return nil, err
	}
	offsets, err := t.newOffsets(group, partitions)
	if err != nil || !t.set.Has("execute") || len(offsets) == 0 {
		return offsets, err
	}
	var commit kadm.Offsets
	for _, n := range offsets {
		commit.AddOffset(n.partition.Topic, n.partition.Partition, n.offset, -1)
	}
	resp, err := kadm.NewClient(t.cl).CommitOffsets(t.ctx, group, commit)
	if err == nil {
		err = resp.Error()
	}
	return offsets, named(err)
}

// partitionsToReset are those of --topic, or all that the group has offsets of.
func (t *groupsTool) partitionsToReset(group string) ([]kafka.TopicPartition, error) {
	switch {
	case t.set.Has("all-topics"):
		_, order, err := committedOffsets(t.ctx, t.cl, group)
		if err != nil {
			return nil, &runtimeError{&executionError{err}}
		}
		return order, nil
	case !t.set.Has("topic") && !t.set.Has("from-file"):
		return nil, &usageError{"One of the reset scopes should be defined: --all-topics, --topic."}
	}
	var partitions []kafka.TopicPartition
	var whole []string
	for _, word := range t.set.All("topic") {
		if !strings.Contains(word, ":") {
			whole = append(whole, word)
			continue
		}
		some, err := topicAndPartitions(word)
		if err != nil {
			return nil, err
		}
		partitions = append(partitions, some...)
	}
	all, _, err := partitionsOf(t.ctx, t.cl, distinct(whole))
	return append(partitions, all...), err
}

// topicAndPartitions reads "topic:0,1,2".
func topicAndPartitions(word string) ([]kafka.TopicPartition, error) {
	parts := strings.Split(strings.TrimRight(word, ":"), ":")
	if len(parts) != 2 {
		return nil, &usageError{fmt.Sprintf("Invalid topic arg '%s', expected topic name and partitions", word)}
	}
	var out []kafka.TopicPartition
	for number := range strings.SplitSeq(strings.TrimRight(parts[1], ","), ",") {
		n, err := parseInt32(number)
		if err != nil {
			return nil, &usageError{fmt.Sprintf("Invalid partition '%s' specified in topic arg '%s''", number, word)}
		}
		out = append(out, kafka.TopicPartition{Topic: parts[0], Partition: n})
	}
	return out, nil
}

// checkPartitions refuses partitions that do not exist or have no leader.
func (t *groupsTool) checkPartitions(partitions []kafka.TopicPartition) error {
	all, leaderless, err := partitionsOf(t.ctx, t.cl, topicsOf(partitions))
	if err != nil {
		return &runtimeError{&executionError{err}}
	}
	known := map[kafka.TopicPartition]bool{}
	for _, p := range all {
		known[p] = true
	}
	var absent, idle []string
	for _, p := range partitions {
		if !known[p] {
			absent = append(absent, p.String())
		} else if leaderless[p] {
			idle = append(idle, p.String())
		}
	}
	switch {
	case len(absent) > 0:
		return codeFailure(kafka.ErrUnknownTopicOrPartition, fmt.Sprintf(`The partitions "%s" do not exist`, strings.Join(absent, ",")))
	case len(idle) > 0:
		return codeFailure(kafka.ErrLeaderNotAvailable, fmt.Sprintf(`The partitions "%s" have no leader`, strings.Join(idle, ",")))
	}
	return nil
}

// newOffsets follows the one scenario that was chosen.
func (t *groupsTool) newOffsets(group string, partitions []kafka.TopicPartition) ([]newOffset, error) {
	switch {
	case t.set.Has("to-offset"):
		offset, _, err := t.set.Int("to-offset", 64)
		if err != nil {
			return nil, err
		}
		return t.inRange(partitions, func(kafka.TopicPartition) int64 { return offset })
	case t.set.Has("to-earliest"):
		return t.atTimestamp(partitions, kafka.TimestampEarliest)
	case t.set.Has("to-latest"):
		return t.atTimestamp(partitions, kafka.TimestampLatest)
	case t.set.Has("shift-by"):
		return t.shifted(group, partitions)
	case t.set.Has("to-datetime"):
		at, err := parseDateTime(t.set.Get("to-datetime"))
		if err != nil {
			return nil, err
		}
		return t.atTime(partitions, at)
	case t.set.Has("by-duration"):
		ago, err := parseDuration(t.set.Get("by-duration"))
		if err != nil {
			return nil, err
		}
		return t.atTime(partitions, time.Now().Add(-ago).UnixMilli())
	case t.set.Has("from-file"):
		return t.fromFile(group)
	case t.set.Has("to-current"):
		return t.current(group, partitions)
	}
	return nil, &usageError{"Option '[reset-offsets]' requires one of the following scenarios: [[" + strings.Join(resetScenarios, "], [") + "]]"}
}

// inRange asks for offsets, and moves those that are outside of the log to its ends.
func (t *groupsTool) inRange(partitions []kafka.TopicPartition, wanted func(kafka.TopicPartition) int64) ([]newOffset, error) {
	starts, err := listOffsets(t.ctx, t.cl, partitions, kafka.TimestampEarliest)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	ends, err := listOffsets(t.ctx, t.cl, partitions, kafka.TimestampLatest)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	const logger = "org.apache.kafka.tools.GroupOffsetsResetter"
	var out []newOffset
	for _, p := range asInHashMap(partitions, partitionHash, smallestTable) {
		offset := wanted(p)
		if start, end := starts[p], ends[p]; offset > end {
			t.o.logf("WARN", logger, "New offset (%d) is higher than latest offset for topic partition %s. Value will be set to %d.", offset, p, end)
			offset = end
		} else if offset < start {
			t.o.logf("WARN", logger, "New offset (%d) is lower than earliest offset for topic partition %s. Value will be set to %d.", offset, p, start)
			offset = start
		}
		out = append(out, newOffset{p, offset})
	}
	return out, nil
}

// atTimestamp is the offset of one of the timestamps that stand for an end of the log.
func (t *groupsTool) atTimestamp(partitions []kafka.TopicPartition, timestamp int64) ([]newOffset, error) {
	offsets, err := listOffsets(t.ctx, t.cl, partitions, timestamp)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	var out []newOffset
	for _, p := range asInHashMap(partitions, partitionHash, smallestTable) {
		out = append(out, newOffset{p, offsets[p]})
	}
	return out, nil
}

// atTime is the first record from a time on, else the end of the log.
func (t *groupsTool) atTime(partitions []kafka.TopicPartition, milliseconds int64) ([]newOffset, error) {
	out, err := t.atTimestamp(partitions, milliseconds)
	if err != nil {
		return nil, err
	}
	var without []kafka.TopicPartition
	for _, n := range out {
		if n.offset < 0 {
			without = append(without, n.partition)
			if !t.asJSON {
				fmt.Fprintf(t.o.Stdout, "\nWarn: Partition %d from topic %s is empty. Falling back to latest known offset.\n", n.partition.Partition, n.partition.Topic)
			}
		}
	}
	ends, err := listOffsets(t.ctx, t.cl, without, kafka.TimestampLatest)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	for i, n := range out {
		if n.offset < 0 {
			out[i].offset = ends[n.partition]
		}
	}
	return out, nil
}

// shifted moves the committed offsets.
func (t *groupsTool) shifted(group string, partitions []kafka.TopicPartition) ([]newOffset, error) {
	by, _, err := t.set.Int("shift-by", 64)
	if err != nil {
		return nil, err
	}
	offsets, _, err := committedOffsets(t.ctx, t.cl, group)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	for _, p := range partitions {
		if _, ok := offsets[p]; !ok {
			return nil, &usageError{fmt.Sprintf("Cannot shift offset for partition %s since there is no current committed offset", p)}
		}
	}
	return t.inRange(partitions, func(p kafka.TopicPartition) int64 { return offsets[p].offset + by })
}

// current keeps the committed offsets; partitions without go to the end of the log.
func (t *groupsTool) current(group string, partitions []kafka.TopicPartition) ([]newOffset, error) {
	offsets, _, err := committedOffsets(t.ctx, t.cl, group)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	var without []kafka.TopicPartition
	for _, p := range partitions {
		if _, ok := offsets[p]; !ok {
			without = append(without, p)
		}
	}
	ends, err := listOffsets(t.ctx, t.cl, without, kafka.TimestampLatest)
	if err != nil {
		return nil, &runtimeError{&executionError{err}}
	}
	var out []newOffset
	for _, p := range asInHashMap(partitions, partitionHash, smallestTable) {
		n := newOffset{p, ends[p]}
		if c, ok := offsets[p]; ok {
			n.offset = c.offset
		}
		out = append(out, n)
	}
	return out, nil
}

// fromFile takes the offsets of --from-file.
func (t *groupsTool) fromFile(group string) ([]newOffset, error) {
	text, err := os.ReadFile(t.set.Get("from-file"))
	if err != nil {
		return nil, &failure{runtimeException, "java.io.IOException: Unable to read file " + t.set.Get("from-file")}
	}
	only := ""
	if given := t.set.All("group"); len(given) == 1 {
		only = given[0]
	}
	plan, err := resetPlan(string(text), only)
	if err != nil {
		return nil, err
	}
	wanted, ok := plan[group]
	if !ok {
		return nil, &refusal{fmt.Sprintf("No reset plan for group %s found.", group)}
	}
	offsets := map[kafka.TopicPartition]int64{}
	var partitions []kafka.TopicPartition
	for _, n := range wanted {
		if _, twice := offsets[n.partition]; !twice {
			partitions = append(partitions, n.partition)
		}
		offsets[n.partition] = n.offset
	}
	return t.inRange(partitions, func(p kafka.TopicPartition) int64 { return offsets[p] })
}

func (t *groupsTool) printNewOffsets(results []groupOffsets) {
	group, topic := 15, 15
	for _, r := range results {
		group = max(group, len(r.group))
		for _, n := range r.offsets {
			topic = max(topic, len(n.partition.Topic))
		}
	}
	if len(results) > 0 {
		fmt.Fprintf(t.o.Stdout, "\n%-*s %-*s %-10s %s", group, "GROUP", topic, "TOPIC", "PARTITION", "NEW-OFFSET")
	}
	for _, r := range results {
		for _, n := range r.offsets {
			fmt.Fprintf(t.o.Stdout, "\n%-*s %-*s %-10d %d", group, r.group, topic, n.partition.Topic, n.partition.Partition, n.offset)
		}
	}
	fmt.Fprintln(t.o.Stdout)
}

package client

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
)

// delete deletes groups and says which could not be deleted, and why.
func (t *groupsTool) delete() error {
	ids, err := t.groups()
	if err != nil {
		return err
	}
	results := map[string]error{}
	if len(ids) > 0 {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = ids
		for _, shard := range t.cl.RequestSharded(t.ctx, req) {
			noteDeleted(results, shard)
		}
	}
	if t.asJSON {
		return t.tellDeleted(ids, results)
	}
	var deleted, failed []string
	for _, id := range asInHashMap(ids, stringHash, powerOfTwo(len(ids))) {
		if results[id] == nil {
			deleted = append(deleted, id)
		} else {
			failed = append(failed, id)
		}
	}
	deleted = asInHashMap(deleted, stringHash, smallestTable)
	failed = asInHashMap(failed, stringHash, smallestTable)
	quoted := "'" + strings.Join(deleted, "', '") + "'"
	if len(deleted) == 0 {
		quoted = ""
	}
	if len(failed) == 0 {
		fmt.Fprintf(t.o.Stdout, "Deletion of requested consumer groups (%s) was successful.\n", quoted)
		return nil
	}
	printGroupsError(t.o, "Deletion of some consumer groups failed:")
	for _, id := range failed {
		fmt.Fprintf(t.o.Stdout, "* Group '%s' could not be deleted due to: %s: %s\n", id, exception(results[id]), results[id])
	}
	if len(deleted) > 0 {
		fmt.Fprintf(t.o.Stdout, "\nThese consumer groups were deleted successfully: %s\n", quoted)
	}
	return nil
}

// tellDeleted prints the document.
func (t *groupsTool) tellDeleted(ids []string, results map[string]error) error {
	list, refused := []deletedGroupJSON{}, false
	for _, id := range slices.Sorted(slices.Values(ids)) {
		one := deletedGroupJSON{Group: id}
		if err := results[id]; err != nil {
			one.Error, refused = told(err), true
		}
		list = append(list, one)
	}
	if err := printJSON(t.o, list); err != nil || !refused {
		return err
	}
	return errRefused
}

func noteDeleted(results map[string]error, shard kgo.ResponseShard) {
	if shard.Err != nil {
		for _, id := range shard.Req.(*kmsg.DeleteGroupsRequest).Groups {
			results[id] = named(shard.Err)
		}
		return
	}
	for _, g := range shard.Resp.(*kmsg.DeleteGroupsResponse).Groups {
		results[g.Group] = codeError(g.ErrorCode, nil)
	}
}

// deleteOffsets deletes the offsets of topics or partitions from a group.
func (t *groupsTool) deleteOffsets() error {
	group := t.set.Get("group")
	results := map[kafka.TopicPartition]error{}
	partitions, err := t.partitionsToForget(results)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	for _, topic := range topicsOf(partitions) {
		rt := kmsg.NewOffsetDeleteRequestTopic()
		rt.Topic = topic
		for _, p := range partitions {
			if p.Topic == topic {
				rt.Partitions = append(rt.Partitions, kmsg.OffsetDeleteRequestTopicPartition{Partition: p.Partition})
			}
		}
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(t.ctx, t.cl)
	if err == nil {
		err = codeError(resp.ErrorCode, nil)
	}
	whole := named(err)
	for _, p := range partitions {
		results[p] = whole
	}
	if whole == nil {
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				results[kafka.TopicPartition{Topic: topic.Topic, Partition: p.Partition}] = codeError(p.ErrorCode, nil)
			}
		}
		for _, p := range asInHashMap(partitions, partitionHash, smallestTable) {
			whole = firstError(whole, results[p])
		}
	}
	if t.asJSON {
		return t.tellDeletedOffsets(group, whole, results)
	}
	t.printDeletedOffsets(group, whole, results)
	return nil
}

// tellDeletedOffsets prints the document.
func (t *groupsTool) tellDeletedOffsets(group string, whole error, results map[kafka.TopicPartition]error) error {
	document, refused := deletedOffsetsJSON{Group: group, Partitions: []deletedPartitionJSON{}}, whole != nil
	if whole != nil {
		document.Error = told(whole)
	}
	for _, p := range slices.SortedFunc(maps.Keys(results), kafka.TopicPartition.Compare) {
		one := deletedPartitionJSON{Topic: p.Topic}
		if p.Partition >= 0 {
			one.Partition = &p.Partition
		}
		if err := results[p]; err != nil {
			one.Error, refused = told(err), true
		}
		document.Partitions = append(document.Partitions, one)
	}
	if err := printJSON(t.o, document); err != nil || !refused {
		return err
	}
	return errRefused
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// partitionsToForget are the partitions of the command line. A topic that does not
// exist is noted under partition -1.
func (t *groupsTool) partitionsToForget(results map[kafka.TopicPartition]error) ([]kafka.TopicPartition, error) {
	var partitions []kafka.TopicPartition
	for _, word := range distinct(t.set.All("topic")) {
		if strings.Contains(word, ":") {
			some, err := topicAndPartitions(word)
			if err != nil {
				return nil, err
			}
			partitions = append(partitions, some...)
			continue
		}
		all, _, err := partitionsOf(t.ctx, t.cl, []string{word})
		if err != nil {
			results[kafka.TopicPartition{Topic: word, Partition: -1}] = err
			continue
		}
		partitions = append(partitions, all...)
	}
	slices.SortFunc(partitions, kafka.TopicPartition.Compare)
	return slices.Compact(partitions), nil
}

func (t *groupsTool) printDeletedOffsets(group string, whole error, results map[kafka.TopicPartition]error) {
	switch code := codeOf(whole); code {
	case kafka.ErrNone:
		fmt.Fprintf(t.o.Stdout, "Request succeeded for deleting offsets from group %s.\n", group)
	case kafka.ErrInvalidGroupID, kafka.ErrGroupIDNotFound, kafka.ErrGroupAuthorizationFailed, kafka.ErrNonEmptyGroup:
		printGroupsError(t.o, whole.Error())
	case kafka.ErrGroupSubscribedToTopic, kafka.ErrTopicAuthorizationFailed, kafka.ErrUnknownTopicOrPartition:
		printGroupsError(t.o, "Encountered some partition-level error, see the follow-up details.")
	default:
		printGroupsError(t.o, "Encountered some unknown error: "+code.String())
	}
	type row struct {
		partition kafka.TopicPartition
		key       string
	}
	width := 15
	var rows []row
	for p := range results {
		width = max(width, len(p.Topic))
		rows = append(rows, row{p, p.Topic + strconv.Itoa(int(p.Partition))})
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.key, b.key) })
	fmt.Fprintf(t.o.Stdout, "\n%-*s %-10s %-15s", width, "TOPIC", "PARTITION", "STATUS")
	for _, r := range rows {
		number, status := missing, "Successful"
		if r.partition.Partition >= 0 {
			number = strconv.Itoa(int(r.partition.Partition))
		}
		if err := results[r.partition]; err != nil {
			status = "Error: " + (&executionError{err}).Error()
		}
		fmt.Fprintf(t.o.Stdout, "\n%-*s %-10s %-15s", width, r.partition.Topic, number, status)
	}
	fmt.Fprintln(t.o.Stdout)
}

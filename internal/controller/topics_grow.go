package controller

import (
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreatePartitions serves CreatePartitions v0-v3. The context's Authorize is asked
// for ALTER of each topic.
func (c *Controller) CreatePartitions(ctx Context, req *kmsg.CreatePartitionsRequest, done func(*kmsg.CreatePartitionsResponse)) {
	answer := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
	wanted, refused := screenGrowths(&ctx, req.Topics)
	if len(wanted) == 0 {
		answer.Topics = refused
		done(answer)
		return
	}
	c.submit(operation{
		name:     "create partitions",
		deadline: ctx.deadline(milliseconds(req.TimeoutMillis)),
		decide: func(a *active) (decision, *refusal) {
			records, rows, whole := a.growTopics(wanted)
			if whole != nil {
				return decision{}, whole
			}
			answer.Topics = append(refused, rows...)
			if req.ValidateOnly {
				records = nil
			}
			return decision{records: records, growing: true, answer: func() {
				if len(records) > 0 {
					c.o.Logger.Info("partitions created", "partitions", len(records), "principal", ctx.Principal, "client_id", ctx.ClientID)
				}
				done(answer)
			}}, nil
		},
		refuse: func(r refusal) {
			answer.Topics = nil
			for _, t := range req.Topics {
				answer.Topics = append(answer.Topics, grownTopic(t.Topic, &r))
			}
			done(answer)
		},
	})
}

func grownTopic(name string, r *refusal) kmsg.CreatePartitionsResponseTopic {
	row := kmsg.NewCreatePartitionsResponseTopic()
	row.Topic, row.ErrorCode, row.ErrorMessage = name, int16(r.code), r.text()
	return row
}

// screenGrowths takes out what can be refused without looking at the cluster.
func screenGrowths(ctx *Context, topics []kmsg.CreatePartitionsRequestTopic) (wanted []*kmsg.CreatePartitionsRequestTopic, refused []kmsg.CreatePartitionsResponseTopic) {
	count := map[string]int{}
	for i := range topics {
		count[topics[i].Topic]++
	}
	for i := range topics {
		t := &topics[i]
		switch {
		case count[t.Topic] > 1:
			refused = append(refused, grownTopic(t.Topic, refuse(kafka.ErrInvalidRequest, "Duplicate topic name.")))
			count[t.Topic] = -1
		case count[t.Topic] < 0: // told already
		case !ctx.may(kmsg.ACLOperationAlter, t.Topic):
			refused = append(refused, grownTopic(t.Topic, &refusal{code: kafka.ErrTopicAuthorizationFailed}))
		default:
			wanted = append(wanted, t)
		}
	}
	return wanted, refused
}

func (a *active) growTopics(topics []*kmsg.CreatePartitionsRequestTopic) (records []metarec.Message, rows []kmsg.CreatePartitionsResponseTopic, whole *refusal) {
	total := 0
	for _, t := range topics {
		topic := a.image.Topics.ByName(t.Topic)
		if topic == nil || int(t.Count) <= topic.Len() {
			continue
		}
		if total += int(t.Count) - topic.Len(); total > maxRecords {
			return nil, nil, refuse(kafka.ErrPolicyViolation, "Excessively large number of additional partitions per request.")
		}
	}
	for _, t := range topics {
		made, refused := a.growTopic(t)
		if refused != nil {
			rows = append(rows, grownTopic(t.Topic, refused))
			continue
		}
		records, rows = append(records, made...), append(rows, grownTopic(t.Topic, &refusal{}))
	}
	return records, rows, nil
}

func (a *active) growTopic(t *kmsg.CreatePartitionsRequestTopic) ([]metarec.Message, *refusal) {
	topic := a.image.Topics.ByName(t.Topic)
	switch {
	case topic == nil:
		return nil, &refusal{code: kafka.ErrUnknownTopicOrPartition}
	case int(t.Count) == topic.Len():
		return nil, refuse(kafka.ErrInvalidPartitions, "Topic already has %d partition(s).", topic.Len())
	case int(t.Count) < topic.Len():
		return nil, refuse(kafka.ErrInvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.", t.Topic, topic.Len(), t.Count)
	}
	additional := int(t.Count) - topic.Len()
	if t.Assignment != nil && len(t.Assignment) != additional {
		return nil, refuse(kafka.ErrInvalidReplicaAssignment, "Attempted to add %d additional partition(s), but only %d assignment(s) were specified.", additional, len(t.Assignment))
	}
	lists, refused := a.moreReplicas(t, topic, additional)
	if refused == nil {
		refused = checkFolders(t.Topic, int(t.Count))
	}
	if refused != nil {
		return nil, refused
	}
	var records []metarec.Message
	for i, ids := range lists {
		records = append(records, a.newPartition(topic.ID, int32(topic.Len()+i), ids, a.activeOf(ids)))
	}
	return records, nil
}

// moreReplicas returns the replicas of additional partitions; there are as many of
// each as partition 0 has.
func (a *active) moreReplicas(t *kmsg.CreatePartitionsRequestTopic, topic *image.Topic, additional int) (replicaLists, *refusal) {
	first := topic.Partition(0)
	if first == nil {
		return nil, refuse(kafka.ErrUnknownServerError, "Invalid state: topic %s appears to have no partitions.", topic.Name)
	}
	replicas := len(first.Replicas)
	if t.Assignment == nil {
		lists, err := a.place(additional, replicas)
		if err != nil {
			return nil, refuse(kafka.ErrInvalidReplicationFactor, "%s", err)
		}
		return lists, a.needActive(lists, replicas)
	}
	var lists replicaLists
	for i, as := range t.Assignment {
		ids := brokerIDs(as.Replicas)
		if refused := a.checkAssignment(ids, replicas); refused != nil {
			return nil, refused
		}
		if len(a.activeOf(ids)) == 0 {
			return nil, noneActive(int32(topic.Len() + i))
		}
		lists = append(lists, ids)
	}
	return lists, nil
}

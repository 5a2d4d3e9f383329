package controller

import (
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteTopics serves DeleteTopics v1-v6.
//
//	v3 TOPIC_DELETION_DISABLED where older versions get INVALID_REQUEST
//	v5 the answer has messages
//	v6 topics may be named by id; a client that may not describe such a topic does
//	   not learn its name
//
// The context's Authorize is asked for DELETE of the cluster, else for DESCRIBE
// and DELETE of each topic.
func (c *Controller) DeleteTopics(ctx Context, req *kmsg.DeleteTopicsRequest, done func(*kmsg.DeleteTopicsResponse)) {
	answer := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	named := deletions(req)
	refuseAll := func(r refusal) {
		answer.Topics = nil
		for _, n := range named {
			row := kmsg.NewDeleteTopicsResponseTopic()
			row.Topic, row.TopicID, row.ErrorCode = n.name, n.id, int16(r.code)
			answer.Topics = append(answer.Topics, row)
		}
		done(answer)
	}
	if !c.o.Config.Topics.DeleteEnable {
		code := kafka.ErrTopicDeletionDisabled
		if req.Version < 3 {
			code = kafka.ErrInvalidRequest
		}
		refuseAll(refusal{code: code})
		return
	}
	c.submit(operation{
		name:     "delete topics",
		deadline: ctx.deadline(milliseconds(req.TimeoutMillis)),
		decide: func(a *active) (decision, *refusal) {
			d := deleter{active: a, ctx: &ctx}
			d.deleteAll(named)
			answer.Topics = d.rows
			return decision{records: d.records, answer: func() {
				c.logDeletions(&ctx, d.rows)
				done(answer)
			}}, nil
		},
		refuse: refuseAll,
	})
}

// deletion is a topic as the request names it.
type deletion struct {
	name *string
	id   kafka.UUID
}

func deletions(req *kmsg.DeleteTopicsRequest) (out []deletion) {
	if req.Version < 6 {
		for i := range req.TopicNames {
			out = append(out, deletion{name: &req.TopicNames[i]})
		}
		return out
	}
	for _, t := range req.Topics {
		out = append(out, deletion{t.Topic, t.TopicID})
	}
	return out
}

// deleter decides on the topics of one request. Answers are in order of the
// request, so their places tell nothing about topics that the client may not see.
type deleter struct {
	*active
	ctx     *Context
	rows    []kmsg.DeleteTopicsResponseTopic
	records []metarec.Message
}

func (d *deleter) deleteAll(named []deletion) {
	names, ids := map[string]int{}, map[kafka.UUID]int{}
	for _, n := range named {
		switch {
		case n.name != nil && n.id.IsZero():
			names[*n.name]++
		case n.name == nil && !n.id.IsZero():
			ids[n.id]++
		}
	}
	for _, n := range named {
		switch {
		case n.name != nil && !n.id.IsZero():
			d.row(n, refuse(kafka.ErrInvalidRequest, "You may not specify both topic name and topic id."))
		case n.name == nil && n.id.IsZero():
			d.row(n, refuse(kafka.ErrInvalidRequest, "Neither topic name nor id were specified."))
		case n.name != nil:
			if once(names, *n.name, func() { d.row(n, refuse(kafka.ErrInvalidRequest, "Duplicate topic name.")) }) {
				d.deleteByName(*n.name, ids)
			}
		default:
			if once(ids, n.id, func() { d.row(n, refuse(kafka.ErrInvalidRequest, "Duplicate topic id.")) }) {
				d.deleteByID(n.id, names)
			}
		}
	}
}

// once says whether key was named once. The first of several is told by twice, the
// others are passed over.
func once[K comparable](count map[K]int, key K, twice func()) bool {
	if count[key] > 1 {
		twice()
		count[key] = -1
	}
	return count[key] == 1
}

func (d *deleter) deleteByID(id kafka.UUID, names map[string]int) {
	topic := d.image.Topics.ByID(id)
	if topic == nil {
		d.row(deletion{id: id}, &unknownTopicID)
		return
	}
	n := deletion{name: &topic.Name, id: id}
	if !d.mayDelete(topic.Name) {
		if !d.mayDescribe(topic.Name) {
			n.name = nil
		}
		d.row(n, &topicUnauthorized)
		return
	}
	if names[topic.Name] == 1 {
		return // told where the name stands
	}
	d.delete(n)
}

func (d *deleter) deleteByName(name string, ids map[kafka.UUID]int) {
	n := deletion{name: &name}
	topic := d.image.Topics.ByName(name)
	switch {
	case !d.mayDescribe(name):
		d.row(n, &topicUnauthorized)
	case topic == nil:
		d.row(n, &unknownTopic)
	case !d.mayDelete(name):
		d.row(n, &topicUnauthorized)
	case ids[topic.ID] != 0:
		n.id = topic.ID
		d.row(n, refuse(kafka.ErrInvalidRequest, "The provided topic name maps to an ID that was already supplied."))
	default:
		n.id = topic.ID
		d.delete(n)
	}
}

func (d *deleter) delete(n deletion) {
	d.records = append(d.records, &metarec.RemoveTopicRecord{TopicID: n.id})
	d.row(n, &refusal{})
}

func (d *deleter) row(n deletion, r *refusal) {
	row := kmsg.NewDeleteTopicsResponseTopic()
	row.Topic, row.TopicID, row.ErrorCode, row.ErrorMessage = n.name, n.id, int16(r.code), r.text()
	d.rows = append(d.rows, row)
}

func (c *Controller) logDeletions(ctx *Context, rows []kmsg.DeleteTopicsResponseTopic) {
	for _, row := range rows {
		if row.ErrorCode == 0 {
			c.o.Logger.Info("topic deleted", "topic", *row.Topic, "id", kafka.UUID(row.TopicID), "principal", ctx.Principal, "client_id", ctx.ClientID)
		}
	}
}

func (d *deleter) mayDelete(name string) bool {
	return d.ctx.may(kmsg.ACLOperationDelete, "") || d.ctx.may(kmsg.ACLOperationDelete, name)
}

func (d *deleter) mayDescribe(name string) bool {
	return d.ctx.may(kmsg.ACLOperationDelete, "") || d.ctx.may(kmsg.ACLOperationDescribe, name)
}

var topicUnauthorized = refusal{kafka.ErrTopicAuthorizationFailed, "Topic authorization failed."}

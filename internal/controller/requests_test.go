package controller

import (
	"fmt"
	"strconv"
	"strings"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func registrationOf(e entry, id kafka.BrokerID) (kafka.BrokerEpoch, bool) {
	r, ok := e.message.(*metarec.RegisterBrokerRecord)
	if !ok || r.BrokerID != id {
		return 0, false
	}
	return r.BrokerEpoch, true
}

// request sends one and returns where its answer will stand.
func (d *dialogue) request(c script.Command) *string {
	answer := new(string)
	say := func(format string, args ...any) {
		if *answer != "" && *answer != "?" {
			d.t.Fatalf("answered twice: %s", *answer)
		}
		*answer = fmt.Sprintf(format, args...)
	}
	switch c.Name {
	case "register":
		d.register(c, say)
	case "heartbeat":
		d.heartbeat(c, say)
	case "features":
		req := &kmsg.UpdateFeaturesRequest{Version: 1, TimeoutMillis: 1000, ValidateOnly: c.Has("validate")}
		for line := range strings.Lines(c.Input) {
			var u kmsg.UpdateFeaturesRequestFeatureUpdate
			if _, err := fmt.Sscan(line, &u.Feature, &u.MaxVersionLevel, &u.UpgradeType); err != nil {
				panic(err)
			}
			req.FeatureUpdates = append(req.FeatureUpdates, u)
		}
		d.c.UpdateFeatures(d.ctx(), req, func(r *kmsg.UpdateFeaturesResponse) {
			say("%s results=%d%s", code(r.ErrorCode), len(r.Results), message(r.ErrorMessage))
		})
	case "unregister-controller":
		d.c.UnregisterController(d.ctx(), &kmsg.UnregisterControllerRequest{ControllerID: number(c, 0)}, func(r *kmsg.UnregisterControllerResponse) {
			say("%s%s", code(r.ErrorCode), message(r.ErrorMessage))
		})
	case "unregister":
		d.c.UnregisterBroker(d.ctx(), &kmsg.UnregisterBrokerRequest{BrokerID: number(c, 0)}, func(r *kmsg.UnregisterBrokerResponse) {
			say("%s%s", code(r.ErrorCode), message(r.ErrorMessage))
		})
	case "create":
		d.create(c, say)
	case "delete":
		d.delete(c, say)
	case "grow":
		d.grow(c, say)
	case "alter-partition":
		d.alterPartition(c, say)
	case "assign":
		d.assign(c, say)
	case "alter-configs":
		d.alterConfigs(c, say)
	case "producer-ids":
		r := kmsg.NewAllocateProducerIDsRequest()
		r.BrokerID = number(c, 0)
		r.BrokerEpoch = d.epochOf(c, r.BrokerID)
		d.c.AllocateProducerIDs(d.ctx(), &r, func(r *kmsg.AllocateProducerIDsResponse) {
			say("%s first=%d len=%d", code(r.ErrorCode), r.ProducerIDStart, r.ProducerIDLen)
		})
	default:
		d.t.Fatalf("unknown command %q", c.Name)
	}
	return answer
}

type sayer func(format string, args ...any)

func (d *dialogue) register(c script.Command, say sayer) {
	r := kmsg.NewBrokerRegistrationRequest()
	r.Version = int16(c.Int("version", 4))
	r.BrokerID, r.ClusterID, r.IncarnationID = number(c, 0), clusterID, id(c.Word(1))
	if other, ok := c.Args["cluster"]; ok {
		r.ClusterID = other
	}
	r.LogDirs = ids(c.Args["dirs"])
	r.PreviousBrokerEpoch = c.Int("previous", -1)
	r.IsMigratingZkBroker = c.Has("zk")
	if rack, ok := c.Args["rack"]; ok {
		r.Rack = &rack
	}
	r.Listeners = []kmsg.BrokerRegistrationRequestListener{{Name: "PLAINTEXT", Host: "h", Port: 9092}}
	for _, f := range strings.Fields(strings.ReplaceAll(c.Input, "\n", " ")) {
		var fr kmsg.BrokerRegistrationRequestFeature
		parts := strings.Split(f, ":")
		lo, _ := strconv.Atoi(parts[1])
		hi, _ := strconv.Atoi(parts[2])
		fr.Name, fr.MinSupportedVersion, fr.MaxSupportedVersion = parts[0], int16(lo), int16(hi)
		r.Features = append(r.Features, fr)
	}
	if c.Input == "" {
		r.Features = append(r.Features, kmsg.BrokerRegistrationRequestFeature{Name: kafka.FeatureMetadataVersion, MinSupportedVersion: 7, MaxSupportedVersion: 33})
		for _, f := range kafka.Features() {
			r.Features = append(r.Features, kmsg.BrokerRegistrationRequestFeature{Name: f.Name, MaxSupportedVersion: f.Max()})
		}
	}
	d.c.RegisterBroker(d.ctx(), &r, Registration{HoldsDirectories: c.Has("proof")}, func(r *kmsg.BrokerRegistrationResponse) {
		say("%s epoch=%d", code(r.ErrorCode), r.BrokerEpoch)
	})
}

func (d *dialogue) heartbeat(c script.Command, say sayer) {
	r := kmsg.NewBrokerHeartbeatRequest()
	r.Version, r.BrokerID = 2, number(c, 0)
	r.BrokerEpoch = d.epochOf(c, r.BrokerID)
	r.CurrentMetadataOffset = c.Int("offset", int64(d.next)-1)
	r.WantFence, r.WantShutdown = c.Has("fence"), c.Has("shutdown")
	r.OfflineLogDirs = ids(c.Args["offline"])
	if list, ok := c.Args["cordoned"]; ok {
		r.CordonedLogDirs = ids(strings.TrimPrefix(list, "-"))
	}
	d.c.BrokerHeartbeat(d.ctx(), &r, func(r *kmsg.BrokerHeartbeatResponse) {
		say("%s caughtUp=%v fenced=%v shutdown=%v", code(r.ErrorCode), r.IsCaughtUp, r.IsFenced, r.ShouldShutdown)
	})
}

// create reads a topic a line: name, then partitions=, replicas=, assign=1,2;2,3
// (or 5:1,2 with a number), anything else a config ("key=null" is null).
func (d *dialogue) create(c script.Command, say sayer) {
	r := kmsg.NewCreateTopicsRequest()
	r.Version, r.TimeoutMillis, r.ValidateOnly = int16(c.Int("version", 7)), int32(c.Int("timeout", 5000)), c.Has("validate")
	for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
		words := strings.Fields(line)
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = strings.ReplaceAll(words[0], "~", " "), -1, -1
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			n, _ := strconv.Atoi(value)
			switch key {
			case "partitions":
				t.NumPartitions = int32(n)
			case "replicas":
				t.ReplicationFactor = int16(n)
			case "assign":
				for i, list := range strings.Split(value, ";") {
					a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
					a.Partition = int32(i)
					if num, rest, ok := strings.Cut(list, ":"); ok {
						a.Partition, list = numbers(num)[0], rest
					}
					a.Replicas = numbers(list)
					t.ReplicaAssignment = append(t.ReplicaAssignment, a)
				}
			default:
				cfg := kmsg.CreateTopicsRequestTopicConfig{Name: key}
				if value != "null" {
					cfg.Value = &value
				}
				t.Configs = append(t.Configs, cfg)
			}
		}
		r.Topics = append(r.Topics, t)
	}
	configs, r0 := c.Has("configs"), r
	d.c.CreateTopics(d.ctx(), &r, func(r *kmsg.CreateTopicsResponse) {
		var rows []string
		for _, t := range r.Topics {
			row := fmt.Sprintf("%s %s%s", t.Topic, code(t.ErrorCode), message(t.ErrorMessage))
			if t.ErrorCode == 0 {
				if !r0.ValidateOnly {
					d.mustBeCommitted(t.TopicID)
				}
				row += fmt.Sprintf(" partitions=%d replicas=%d id=%v configs=%s/%d", t.NumPartitions, t.ReplicationFactor, !kafka.UUID(t.TopicID).IsZero(), code(t.ConfigErrorCode), len(t.Configs))
			}
			for _, cfg := range t.Configs {
				if configs && cfg.Source != 5 {
					row += fmt.Sprintf("\n  %s=%s source %d", cfg.Name, *cfg.Value, cfg.Source)
				}
			}
			rows = append(rows, row)
		}
		say("%s", strings.Join(rows, "\n"))
	})
}

// mustBeCommitted fails if somebody is told of a topic that could still be lost.
func (d *dialogue) mustBeCommitted(topic kafka.UUID) {
	for _, e := range d.log {
		if m, ok := e.message.(*metarec.TopicRecord); ok && m.TopicID == topic && e.offset <= d.stream.Reached().Offset {
			return
		}
	}
	d.t.Fatalf("topic %v is told of before its commit", topic)
}

// delete names topics: a name, #name for the id of that topic, ##x for the id x,
// name#name for both, - for neither.
func (d *dialogue) delete(c script.Command, say sayer) {
	r := kmsg.NewDeleteTopicsRequest()
	r.Version, r.TimeoutMillis = int16(c.Int("version", 6)), int32(c.Int("timeout", 5000))
	for _, w := range c.Words {
		t := kmsg.NewDeleteTopicsRequestTopic()
		name, of, byID := strings.Cut(w, "#")
		if name != "" && name != "-" {
			t.Topic = &name
		}
		if byID {
			t.TopicID = id(strings.TrimPrefix(of, "#"))
			if topic := d.image().Topics.ByName(of); topic != nil {
				t.TopicID = topic.ID
			}
		}
		r.Topics = append(r.Topics, t)
		r.TopicNames = append(r.TopicNames, w)
	}
	d.c.DeleteTopics(d.ctx(), &r, func(r *kmsg.DeleteTopicsResponse) {
		var rows []string
		for _, t := range r.Topics {
			name := "null"
			if t.Topic != nil {
				name = *t.Topic
			}
			rows = append(rows, fmt.Sprintf("%s %v %s%s", name, kafka.UUID(t.TopicID), code(t.ErrorCode), message(t.ErrorMessage)))
		}
		say("%s", strings.Join(rows, "\n"))
	})
}

// grow reads "topic count [assign=1;2]" a line.
func (d *dialogue) grow(c script.Command, say sayer) {
	r := kmsg.NewCreatePartitionsRequest()
	r.Version, r.TimeoutMillis, r.ValidateOnly = 3, int32(c.Int("timeout", 5000)), c.Has("validate")
	for _, line := range strings.Split(strings.TrimSpace(c.Input), "\n") {
		words := strings.Fields(line)
		t := kmsg.NewCreatePartitionsRequestTopic()
		t.Topic, t.Count = words[0], numbers(words[1])[0]
		for _, w := range words[2:] {
			for _, list := range strings.Split(strings.TrimPrefix(w, "assign="), ";") {
				t.Assignment = append(t.Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: numbers(list)})
			}
		}
		r.Topics = append(r.Topics, t)
	}
	d.c.CreatePartitions(d.ctx(), &r, func(r *kmsg.CreatePartitionsResponse) {
		var rows []string
		for _, t := range r.Topics {
			rows = append(rows, fmt.Sprintf("%s %s%s", t.Topic, code(t.ErrorCode), message(t.ErrorMessage)))
		}
		say("%s", strings.Join(rows, "\n"))
	})
}

// alter-partition BROKER TOPIC PARTITION isr=1,2 epochs=LEADER,PARTITION
func (d *dialogue) alterPartition(c script.Command, say sayer) {
	r := kmsg.NewAlterPartitionRequest()
	r.Version, r.BrokerID = int16(c.Int("version", 3)), number(c, 0)
	r.BrokerEpoch = d.epochOf(c, r.BrokerID)
	t := kmsg.NewAlterPartitionRequestTopic()
	t.TopicID = id(c.Word(1))
	p := kmsg.NewAlterPartitionRequestTopicPartition()
	p.Partition, p.LeaderRecoveryState = number(c, 2), int8(c.Int("recovery", 0))
	if topic := d.image().Topics.ByName(c.Word(1)); topic != nil {
		t.TopicID = topic.ID
		if now := topic.Partition(p.Partition); now != nil {
			p.LeaderEpoch, p.PartitionEpoch = int32(now.LeaderEpoch), int32(now.PartitionEpoch)
		}
	}
	p.LeaderEpoch += int32(c.Int("leaderEpoch", 0))
	p.PartitionEpoch += int32(c.Int("partitionEpoch", 0))
	for _, member := range strings.FieldsFunc(c.Args["isr"], func(r rune) bool { return r == ',' }) {
		name, epoch, _ := strings.Cut(member, "@")
		m := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
		m.BrokerID, m.BrokerEpoch = numbers(name)[0], -1
		if n, err := strconv.Atoi(epoch); err == nil {
			m.BrokerEpoch = int64(n)
		}
		p.NewEpochISR, p.NewISR = append(p.NewEpochISR, m), append(p.NewISR, m.BrokerID)
	}
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	d.c.AlterPartition(d.ctx(), &r, func(r *kmsg.AlterPartitionResponse) {
		text := code(r.ErrorCode)
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				text += fmt.Sprintf(" [%d %s leader=%d epochs=%d/%d isr=%v recovery=%d]", p.Partition, code(p.ErrorCode), p.LeaderID, p.LeaderEpoch, p.PartitionEpoch, p.ISR, p.LeaderRecoveryState)
			}
		}
		say("%s", text)
	})
}

// assign BROKER DIRECTORY TOPIC PARTITION,PARTITION
func (d *dialogue) assign(c script.Command, say sayer) {
	r := kmsg.NewAssignReplicasToDirsRequest()
	r.BrokerID = number(c, 0)
	r.BrokerEpoch = d.epochOf(c, r.BrokerID)
	t := kmsg.NewAssignReplicasToDirsRequestDirectoryTopic()
	t.TopicID = id(c.Word(2))
	if topic := d.image().Topics.ByName(c.Word(2)); topic != nil {
		t.TopicID = topic.ID
	}
	for _, n := range numbers(c.Word(3)) {
		p := kmsg.NewAssignReplicasToDirsRequestDirectoryTopicPartition()
		p.Partition = n
		t.Partitions = append(t.Partitions, p)
	}
	dir := kmsg.NewAssignReplicasToDirsRequestDirectory()
	dir.ID, dir.Topics = id(c.Word(1)), []kmsg.AssignReplicasToDirsRequestDirectoryTopic{t}
	r.Directories = append(r.Directories, dir)
	d.c.AssignReplicasToDirs(d.ctx(), &r, func(r *kmsg.AssignReplicasToDirsResponse) {
		text := code(r.ErrorCode)
		for _, dir := range r.Directories {
			for _, t := range dir.Topics {
				for _, p := range t.Partitions {
					text += fmt.Sprintf(" [%d %s]", p.Partition, code(p.ErrorCode))
				}
			}
		}
		say("%s", text)
	})
}

// alterConfigs reads lines "topic:t +key=value -key ~list=item !list=item", each a
// resource; the arguments "replace", "validate" and "broker" say how they are meant.
func (d *dialogue) alterConfigs(c script.Command, say func(string, ...any)) {
	kinds := map[string]kmsg.ConfigResourceType{"topic": 2, "broker": 4, "logger": 8, "client-metrics": 16, "group": 32}
	var changes []ConfigChange
	for line := range strings.Lines(c.Input) {
		words := strings.Fields(line)
		kind, name, _ := strings.Cut(words[0], ":")
		change := ConfigChange{Type: kinds[kind], Name: name, Replace: c.Has("replace")}
		for _, w := range words[1:] {
			key, value, set := strings.Cut(w[1:], "=")
			op := ConfigOp{Name: key, Op: kmsg.IncrementalAlterConfigOp(strings.IndexByte("+-~!?", w[0]))}
			if set {
				op.Value = &value
			}
			change.Ops = append(change.Ops, op)
		}
		changes = append(changes, change)
	}
	d.c.AlterConfigs(d.ctx(), changes, AlterConfigsOptions{ValidateOnly: c.Has("validate"), FromBroker: c.Has("broker")}, func(answers []ConfigAnswer) {
		var out []string
		for i, a := range answers {
			out = append(out, fmt.Sprintf("%d:%s %s%s", changes[i].Type, changes[i].Name, code(int16(a.Code)), message(a.Text)))
		}
		say("%s", strings.Join(out, "\n"))
	})
}

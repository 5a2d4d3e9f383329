package node

import (
	"errors"

	"barnabas/internal/controller"
	"barnabas/internal/kafka"
	"barnabas/internal/membership"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/loader"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/producerid"
	"barnabas/internal/quorum"
	"barnabas/internal/record"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// controllerLog lets the controller write to the quorum's log.
type controllerLog struct{ quorum *quorum.Quorum }

func (l controllerLog) Append(r controller.Records) (kafka.Offset, error) {
	how := quorum.Atomic
	if r.Divisible {
		how = quorum.Divisible
	}
	last, err := l.quorum.AppendRecords(quorum.Records{Epoch: r.Epoch, At: r.Next, Frames: r.Frames, How: how, Growing: r.Growing})
	if errors.Is(err, quorum.ErrFull) {
		err = kafka.ErrKafkaStorageError
	}
	return last, err
}

// follower follows the quorum's log: it feeds the loader and tells the controller
// when it leads.
type follower struct {
	loader     *loader.Loader
	controller *controller.Controller
}

// LoadSnapshot replaces the image.
func (f follower) LoadSnapshot(r *quorum.SnapshotReader) error {
	id := r.ID()
	return f.loader.LoadSnapshot(id.EndOffset, id.Epoch, r)
}

// Committed loads batches.
func (f follower) Committed(batches []record.Batch) error { return f.loader.Apply(batches) }

// LeaderChanged makes the controller active or not.
func (f follower) LeaderChanged(c quorum.LeaderChange) {
	if !c.IsLeader {
		f.controller.Resign()
		return
	}
	f.controller.BecomeLeader(f.leadership(c))
}

// CutBack has the controller go on from what is committed.
func (f follower) CutBack(c quorum.LeaderChange) { f.controller.CutBack(f.leadership(c)) }

func (f follower) leadership(c quorum.LeaderChange) controller.Leadership {
	return controller.Leadership{
		Epoch: c.Epoch, Next: c.NextOffset,
		Committed: f.loader.Loaded(), OpenTransaction: f.loader.InTransaction(),
	}
}

// bootstrapRecords are what formatting left, decoded for the controller.
func bootstrapRecords(q *quorum.Quorum) (controller.Bootstrap, error) {
	b, err := q.Bootstrap()
	if err != nil {
		return controller.Bootstrap{}, err
	}
	out := controller.Bootstrap{Source: b.Source}
	for _, frame := range b.Frames {
		m, _, err := metarec.Decode(frame)
		if err != nil {
			return controller.Bootstrap{}, err
		}
		out.Records = append(out.Records, m)
	}
	return out, nil
}

// createSnapshot begins a snapshot of an image in the quorum's folder.
func createSnapshot(q *quorum.Quorum) func(image.Position) (loader.SnapshotWriter, error) {
	return func(p image.Position) (loader.SnapshotWriter, error) {
		w, err := q.CreateSnapshot(quorum.SnapshotID{EndOffset: p.Offset + 1, Epoch: p.Epoch}, p.Timestamp)
		if err == quorum.ErrSnapshotExists {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return w, nil
	}
}

// ownController is the controller as the broker of the same process sees it.
type ownController struct{ controller *controller.Controller }

// RegisterBroker registers, with the proof that this process holds the locks of
// the broker's directories.
func (o ownController) RegisterBroker(req *kmsg.BrokerRegistrationRequest, done func(*kmsg.BrokerRegistrationResponse, error)) {
	o.controller.RegisterBroker(controller.Context{}, req, controller.Registration{HoldsDirectories: true},
		func(r *kmsg.BrokerRegistrationResponse) { done(r, nil) })
}

func (o ownController) BrokerHeartbeat(req *kmsg.BrokerHeartbeatRequest, done func(*kmsg.BrokerHeartbeatResponse, error)) {
	o.controller.BrokerHeartbeat(controller.Context{}, req, func(r *kmsg.BrokerHeartbeatResponse) { done(r, nil) })
}

func (o ownController) AssignReplicasToDirs(req *kmsg.AssignReplicasToDirsRequest, done func(*kmsg.AssignReplicasToDirsResponse, error)) {
	o.controller.AssignReplicasToDirs(controller.Context{}, req, func(r *kmsg.AssignReplicasToDirsResponse) { done(r, nil) })
}

// lateController is the controller for replicas, which are made before it.
type lateController struct{ n *Node }

func (l lateController) AlterPartition(req *kmsg.AlterPartitionRequest, done func(*kmsg.AlterPartitionResponse, error)) {
	l.n.controller.AlterPartition(controller.Context{}, req, func(r *kmsg.AlterPartitionResponse) { done(r, nil) })
}

// allocateProducerIDs asks the controller for a block of ids.
func (n *Node) allocateProducerIDs(done func(producerid.Block, kafka.ErrorCode)) {
	req := kmsg.NewPtrAllocateProducerIDsRequest()
	req.BrokerID, req.BrokerEpoch = int32(n.config.Node.ID), int64(n.brokerEpoch())
	n.controller.AllocateProducerIDs(controller.Context{}, req, func(r *kmsg.AllocateProducerIDsResponse) {
		done(producerid.Block{First: kafka.ProducerID(r.ProducerIDStart), Len: r.ProducerIDLen}, kafka.ErrorCode(r.ErrorCode))
	})
}

// replicaMembership tells the controller what replicas have to say, once there is
// a membership to tell it through.
type replicaMembership struct{ n *Node }

// AssignDirectory keeps the assignment until the image that it belongs to is the one
// by which validAssignment judges.
func (m replicaMembership) AssignDirectory(topic kafka.UUID, partition int32, dir kafka.UUID) {
	m.n.assigned = append(m.n.assigned, assigned{membership.Replica{Topic: topic, Partition: partition}, dir})
}

// assigned is where a replica lies.
type assigned struct {
	replica   membership.Replica
	directory kafka.UUID
}

// publishAssigned tells the controller where new replicas lie.
func (n *Node) publishAssigned(*image.Delta) {
	for _, a := range n.assigned {
		n.assignments.Assign(a.replica, a.directory, nil)
	}
	n.assigned = nil
}

func (m replicaMembership) DirectoryFailed(dir kafka.UUID) {
	if member := m.n.member.Load(); member != nil {
		member.DirectoryFailed(dir)
	}
}

// validAssignment says whether the metadata has the replica here, in another
// directory.
func (n *Node) validAssignment(r membership.Replica, dir kafka.UUID) bool {
	p := n.Image().Topics.Partition(r.Topic, r.Partition)
	if p == nil {
		return false
	}
	now, ok := p.Directory(n.config.Node.ID)
	return ok && now != dir
}

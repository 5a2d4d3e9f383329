package replica

import (
	"barnabas/internal/kafka"
	"barnabas/internal/storage/commitlog"
)

// LogDir is what DescribeLogDirs tells of a log directory.
type LogDir struct {
	Path          string
	Code          kafka.ErrorCode // ErrKafkaStorageError if it has failed
	Cordoned      bool
	Total, Usable int64 // bytes of its volume; -1 if that is not known
	Replicas      []LogDirReplica
}

// LogDirReplica is a replica that lies in a log directory.
type LogDirReplica struct {
	kafka.TopicPartition
	Size int64 // of its segments, without their indexes
	// Lag is by how much the log ends below the high watermark.
	Lag kafka.Offset
}

// LogDirs describes all log directories, in the order of the configuration, with
// the replicas that wanted says so of.
func (m *Manager) LogDirs(wanted func(kafka.TopicPartition) bool) []LogDir {
	out := make([]LogDir, 0, len(m.dirs))
	for _, d := range m.dirs {
		x := LogDir{Path: d.path, Cordoned: m.cordoned(d), Total: -1, Usable: -1}
		if !d.Online() {
			x.Code = kafka.ErrKafkaStorageError
			out = append(out, x)
			continue
		}
		var err error
		if x.Total, x.Usable, err = d.fs.Space(d.path); err != nil {
			m.env.log.Warn("cannot find out how large a volume is", "dir", d.path, "error", err)
		}
		for _, p := range d.list() {
			if r, tp := p.role.Load(), p.id.TopicPartition(); r.phase == online && wanted(tp) {
				x.Replicas = append(x.Replicas, describeReplica(tp, r.log.Snapshot()))
			}
		}
		out = append(out, x)
	}
	return out
}

func describeReplica(tp kafka.TopicPartition, snap *commitlog.Snapshot) LogDirReplica {
	return LogDirReplica{TopicPartition: tp, Size: snap.Size(), Lag: max(0, snap.HighWatermark()-snap.LogEnd())}
}

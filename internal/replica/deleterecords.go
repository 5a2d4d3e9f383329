package replica

import (
	"errors"
	"sync/atomic"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// RecordDeletion asks for all records of a partition below an offset to be
// deleted, and tells what became of it.
type RecordDeletion struct {
	Topic     string
	Partition int32
	Offset    kafka.Offset // -1: the high watermark

	Code     kafka.ErrorCode
	LogStart kafka.Offset // the log start afterwards; -1 with an error
}

// highWatermarkOffset as an offset stands for the high watermark (Kafka's
// DeleteRecordsRequest.HIGH_WATERMARK).
const highWatermarkOffset kafka.Offset = -1

// DeleteRecords raises log starts. When done is called, the new ones are on disk:
// Apache answers when all replicas have them in memory, and a cluster of one node
// has no other that would remember. On a disk that is full the log start counts at
// once all the same, so that records can be deleted there, and is written as soon
// as there is space.
//
// The records go with their segments, when retention looks the next time.
func (m *Manager) DeleteRecords(list []RecordDeletion, done func()) {
	byDir := map[*Dir][]*RecordDeletion{}
	for i := range list {
		x := &list[i]
		x.LogStart = kafka.NoOffset
		p, code := m.hosted(x.Topic, x.Partition)
		if code != kafka.ErrNone {
			x.Code = code
			continue
		}
		var d *Dir
		if x.Code, d = p.raiseLogStart(x); d != nil {
			byDir[d] = append(byDir[d], x)
		}
	}
	var left atomic.Int64
	left.Store(int64(len(byDir)) + 1)
	finish := func() {
		if left.Add(-1) == 0 {
			done()
		}
	}
	for d, raised := range byDir {
		d.keepLogStarts(func(err error) {
			if err != nil {
				for _, x := range raised {
					x.Code, x.LogStart = kafka.ErrKafkaStorageError, kafka.NoOffset
				}
			}
			finish()
		})
	}
	finish()
}

// raiseLogStart raises the log start in memory. d is the directory that has to
// remember it, or nil if there is nothing to remember.
func (p *Partition) raiseLogStart(x *RecordDeletion) (code kafka.ErrorCode, d *Dir) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.role.Load()
	if code := r.forClient(kafka.NoLeaderEpoch); code != kafka.ErrNone {
		return code, nil
	}
	if t := &r.settings.topic; t.Compact && !t.Delete {
		return kafka.ErrPolicyViolation, nil
	}
	to, before := x.Offset, r.log.LogStart()
	if to == highWatermarkOffset {
		to = r.log.HighWatermark()
	}
	if to < 0 {
		return kafka.ErrOffsetOutOfRange, nil
	}
	if err := r.log.IncrementLogStart(to); errors.Is(err, kafka.ErrOffsetOutOfRange) {
		return kafka.ErrOffsetOutOfRange, nil
	} else if err != nil {
		return kafka.ErrKafkaStorageError, nil
	}
	x.LogStart = r.log.LogStart()
	if x.LogStart != before {
		p.appended = true // the epochs that ended are to leave their file
	} else if _, written := checkpointedStart(r.log.Snapshot()); !written {
		return kafka.ErrNone, nil // it is where the files begin
	}
	// Also if somebody else has raised it: that may not be on disk yet.
	return kafka.ErrNone, r.dir
}

// keepLogStarts calls done when the log starts of all logs, as they are now, are
// on disk, or with the error that took the directory out of service. One write is
// under way; all who come meanwhile share the next one.
func (d *Dir) keepLogStarts(done func(error)) {
	d.mu.Lock()
	d.startWaits = append(d.startWaits, done)
	begin := !d.keepingStarts
	d.keepingStarts = true
	d.mu.Unlock()
	if begin {
		d.flushes.submit((*startsTask)(d))
	}
}

// startsTask writes a directory's log starts as long as somebody waits for it.
type startsTask Dir

func (t *startsTask) run() {
	d := (*Dir)(t)
	for {
		d.mu.Lock()
		waits := d.startWaits
		d.startWaits = nil
		d.keepingStarts = len(waits) > 0
		d.mu.Unlock()
		if len(waits) == 0 {
			return
		}
		err := d.checkpointLogStarts()
		switch {
		case vfs.IsFull(err):
			d.m.env.log.Warn("the disk is full: log starts that were raised are not written yet, and a crash would undo them", "dir", d.path)
			err = nil
		case err != nil:
			d.fail("checkpoint log starts", kafka.TopicPartition{}, err)
		}
		for _, done := range waits {
			done(err)
		}
	}
}

package group

import (
	"encoding/binary"
	"io"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/coordinator/machine/machinetest"
)

// rig is a core with a log and a clock, in a cluster that a test changes.
type rig struct {
	*Core
	machinetest.Rig
	settings Settings
	random   io.Reader

	cluster   *cluster
	config    GroupConfig
	questions []Resolution // that nobody has answered yet
}

// counter is a source of member ids that people can read.
type counter struct{ n uint64 }

func (c *counter) Read(b []byte) (int, error) {
	c.n++
	clear(b)
	binary.BigEndian.PutUint64(b[8:], c.n)
	return len(b), nil
}

var beginning = time.UnixMilli(1_000_000_000_000)

func defaults() Settings {
	return Settings{
		MinSessionTimeout: 6 * time.Second, MaxSessionTimeout: 30 * time.Minute, InitialRebalanceDelay: 3 * time.Second,
		MaxSize: 1<<31 - 1, OffsetMetadataMax: 4096, OffsetsRetention: 7 * 24 * time.Hour, RetentionCheck: 10 * time.Minute,
		Consumer: ConsumerSettings{
			MaxSize: 1<<31 - 1, Assignors: []string{"uniform", "range"}, RegexRefresh: 10 * time.Minute, Upgrade: true, Downgrade: true, Mixed: true,
		},
	}
}

func newRig(s Settings) *rig {
	r := &rig{Rig: machinetest.Rig{Now: beginning}, settings: s, random: &counter{}, cluster: newCluster()}
	r.config = GroupConfig{SessionTimeout: 45 * time.Second, HeartbeatInterval: 5 * time.Second, AssignmentInterval: time.Second}
	r.restart()
	return r
}

// restart makes a new core of what is in the log. What is in flight is lost.
func (r *rig) restart() {
	r.Start(func(registry *timeline.Registry) machine.Machine {
		r.Core = New(r.options(registry))
		return r.Core
	})
}

// options of a core of the rig.
func (r *rig) options(registry *timeline.Registry) Options {
	return Options{
		Registry: registry, Settings: r.settings, Random: r.random,
		Topics:     func() consumergroup.Topics { return r.cluster.now() },
		Config:     func(string) GroupConfig { return r.config },
		Background: func(q Resolution) { r.questions = append(r.questions, q) },
	}
}

// resolve answers all questions.
func (r *rig) resolve() {
	questions := r.questions
	r.questions = nil
	for _, q := range questions {
		if answer, ok := q.Run(func() bool { return false }); ok {
			r.Do(r.Core.Resolved(r.Now, answer))
		}
	}
}

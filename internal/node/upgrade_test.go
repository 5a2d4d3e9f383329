package node

import (
	"crypto/rand"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/quorum"
	"barnabas/internal/raft"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestMetadataVersionRisesOnTheRunningNode: a folder of an older release is served, its
// level raised while clients are there, and what was written before and after is read
// by this process and by the next.
func TestMetadataVersionRisesOnTheRunningNode(t *testing.T) {
	dir := t.TempDir()
	o, log := options(t, dir)
	formatAt(t, &o, kafka.MetadataVersionKRaft1)
	n := launch(t, o, log)
	n.awaitServing()
	if got := n.Image().Features.MetadataVersion; got != kafka.MetadataVersionKRaft1 {
		t.Fatalf("level %v", got)
	}
	n.create("before", 1, nil)
	n.produce("before", 0, 10)

	r := kmsg.NewPtrUpdateFeaturesRequest()
	u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	u.Feature, u.MaxVersionLevel, u.UpgradeType = "metadata.version", int16(kafka.LatestMetadataVersion), 1
	r.FeatureUpdates, r.TimeoutMillis = append(r.FeatureUpdates, u), 30_000
	cl, done := n.client()
	resp, err := r.RequestWith(n.context(), cl)
	done()
	if err != nil || resp.ErrorCode != 0 {
		t.Fatalf("%v, %+v", err, resp)
	}
	eventually(t, "the level has risen", func() bool { return n.Image().Features.MetadataVersion == kafka.LatestMetadataVersion })

	n.create("after", 1, nil)
	n.produce("before", 10, 10)
	n.produce("after", 0, 10)
	n.stop()
	n = start(t, dir)
	if got := n.Image().Features.MetadataVersion; got != kafka.LatestMetadataVersion {
		t.Errorf("level %v after a restart", got)
	}
	n.consume("before", 20)
	n.consume("after", 10)
}

// formatAt formats the folder of a node at an older level.
func formatAt(t *testing.T, o *Options, level kafka.MetadataVersion) {
	t.Helper()
	c := o.Config
	cluster, err := kafka.RandomUUID(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	directory, err := kafka.RandomUUID(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := quorum.Format(quorum.FormatOptions{
		FS: vfs.NewOS(nil), ClusterID: cluster.String(), NodeID: c.Node.ID, LogDirs: c.Node.LogDirs, MetadataDir: c.Node.MetadataLogDir, Controller: true,
		Levels: quorum.ServedLevels(level), KRaftVersion: raft.KRaftVersion1,
		Voters: raft.VoterSet{{
			ReplicaKey: raft.ReplicaKey{ID: c.Node.ID, Directory: directory}, Endpoints: quorum.ControllerEndpoints(c.Network, "localhost"),
			MaxKRaftVersion: raft.KRaftVersion1,
		}},
		Now: time.Now, Random: rand.Reader,
	}); err != nil {
		t.Fatal(err)
	}
	o.AutoFormat = false
}

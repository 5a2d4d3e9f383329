package oracle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/kit"
)

// TestCompactedOffsetsGoBothWays lets one server compact __consumer_offsets again and
// again while groups commit to it. The other opens the folder: the committed offsets
// are the same, and it goes on in the same way; then the first has it back.
func TestCompactedOffsetsGoBothWays(t *testing.T) {
	binary, apache := buildBarnabas(t), installApache(t)
	n, err := kit.NewNode(binary, filepath.Join(t.TempDir(), "node"), "offsets.topic.num.partitions=2",
		"offsets.topic.segment.bytes=1048576", "log.cleaner.backoff.ms=50", "log.cleaner.min.cleanable.ratio=0.01", "log.cleaner.delete.retention.ms=1000")
	if err != nil {
		t.Fatal(err)
	}
	begun := int64(0)
	var want []string
	for turn, s := range []kit.Server{binary, apache, binary} {
		n = n.As(s)
		start(t, n)
		if turn > 0 {
			same(t, fmt.Sprintf("offsets before turn %d", turn), committedOf(t, n.Address(), len(want)), want)
		}
		if turn < 2 {
			begun = commitUntilCompacted(t, n, begun)
		}
		want = committedOf(t, n.Address(), committingGroups*(committedPartitions-7))
		if turn == 0 {
			err = n.Kill()
		} else {
			err = n.Stop()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Groups that commit, and the partitions for which they do.
const (
	committingGroups     = 6
	committedPartitions  = 40
	commitsAfterCleaning = 20
)

// commitUntilCompacted commits offsets from a number on, for all groups in turn, deletes
// some, until each partition of __consumer_offsets was compacted at least twice, and a
// little longer. It returns the number for the next.
func commitUntilCompacted(t *testing.T, n *kit.Node, from int64) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(n.Address()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	if from == 0 {
		if _, err := admin.CreateTopic(ctx, committedPartitions, 1, nil, "committed"); err != nil {
			t.Fatal(err)
		}
	}
	begun := cleanedOffsets(t, n)
	seen := map[string]map[string]bool{}
	for left := -1; left != 0; from++ {
		group := fmt.Sprintf("group-%d", from%committingGroups)
		offsets := kadm.Offsets{}
		for p := range int32(committedPartitions) {
			if p < int32(from%7) { // some are committed seldom
				continue
			}
			offsets.Add(kadm.Offset{Topic: "committed", Partition: p, At: from, LeaderEpoch: -1, Metadata: fmt.Sprintf("commit %d of %s", from, group)})
		}
		if err := admin.CommitAllOffsets(ctx, group, offsets); err != nil {
			t.Fatal(err)
		}
		if from%50 == 0 {
			gone := fmt.Sprintf("gone-%d", from)
			if err := admin.CommitAllOffsets(ctx, gone, offsets); err != nil {
				t.Fatal(err)
			}
			if _, err := admin.DeleteGroup(ctx, gone); err != nil {
				t.Fatal(err)
			}
		}
		for tp, offset := range cleanedOffsets(t, n) {
			if offset != begun[tp] {
				if seen[tp] == nil {
					seen[tp] = map[string]bool{}
				}
				seen[tp][offset] = true
			}
		}
		twice := 0
		for _, offsets := range seen {
			if len(offsets) >= 2 {
				twice++
			}
		}
		switch {
		case left < 0 && twice == 2:
			left = commitsAfterCleaning
		case left > 0:
			left--
		}
	}
	t.Logf("%d commits", from)
	return from
}

// cleanedOffsets is how far the partitions of __consumer_offsets were compacted.
func cleanedOffsets(t *testing.T, n *kit.Node) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(n.DataDir(), "cleaner-offset-checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "__consumer_offsets" {
			out[words[1]] = words[2]
		}
	}
	return out
}

// committedOf are the committed offsets of all groups, of which there are some. Apache
// lists no groups while they are being loaded.
func committedOf(t *testing.T, bootstrap string, some int) (out []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for {
		if out = fetchCommitted(ctx, t, kadm.NewClient(cl)); len(out) >= some {
			return out
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d offsets in a minute", len(out))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func fetchCommitted(ctx context.Context, t *testing.T, admin *kadm.Client) (out []string) {
	t.Helper()
	groups, err := admin.ListGroups(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range groups.Groups() {
		offsets, err := admin.FetchOffsets(ctx, group)
		if err != nil {
			t.Fatal(err)
		}
		offsets.Each(func(o kadm.OffsetResponse) {
			out = append(out, fmt.Sprintf("%s %s-%d at %d epoch %d %q, error %v", group, o.Topic, o.Partition, o.At, o.LeaderEpoch, o.Metadata, o.Err))
		})
	}
	slices.Sort(out)
	return out
}

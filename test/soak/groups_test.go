package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"barnabas/test/kit"
)

var (
	groupCount  = flag.Int("groups", 100, "how many groups of 5 members live through a restart")
	commitKills = flag.Int("commit-kills", 5, "how often the server is killed while offsets are committed")
	commitCuts  = flag.Int("commit-cuts", 3, "how often the power is cut while offsets are committed")
)

// request sends a request and says what became of it, the error code of its answer
// included where there is one at the top.
func request[R kmsg.Response](ctx context.Context, cl *kgo.Client, req kmsg.Request, code func(R) int16) (R, error) {
	resp, err := cl.Request(ctx, req)
	if err != nil {
		var none R
		return none, err
	}
	r := resp.(R)
	return r, kerr.ErrorForCode(code(r))
}

// newGroupClient is a client that names topics and does not look up their ids.
func newGroupClient(bootstrap string) (*kgo.Client, error) {
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(kmsg.OffsetCommit), 9)
	v.SetMaxKeyVersion(int16(kmsg.OffsetFetch), 9)
	return kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.MaxVersions(v))
}

// commits remembers the newest offset that was acknowledged for each group.
type commits struct {
	mu     sync.Mutex
	acked  map[string]int64 // guarded by mu
	tried  map[string]int64 // guarded by mu
	closed bool             // guarded by mu
}

func newCommits() *commits { return &commits{acked: map[string]int64{}, tried: map[string]int64{}} }

func (c *commits) total() (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, offset := range c.acked {
		n += offset
	}
	return n
}

// next is the offset to commit next.
func (c *commits) next(group string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried[group]++
	return c.tried[group]
}

func (c *commits) acknowledged(group string, offset int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.acked[group] = max(c.acked[group], offset)
	}
}

func (c *commits) setClosed(closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = closed
}

const committers = 8

// commit commits one offset after another for a group of its own, until ctx ends.
func (c *commits) commit(ctx context.Context, bootstrap, group string) error {
	cl, err := newGroupClient(bootstrap)
	if err != nil {
		return err
	}
	defer cl.Close()
	for ctx.Err() == nil {
		offset := c.next(group)
		if commitOffset(ctx, cl, group, offset) == nil {
			c.acknowledged(group, offset)
		}
	}
	return nil
}

func commitOffset(ctx context.Context, cl *kgo.Client, group string, offset int64) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset = offset
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: soakTopics[0], Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
	_, err := request(ctx, cl, req, func(r *kmsg.OffsetCommitResponse) int16 { return r.Topics[0].Partitions[0].ErrorCode })
	return err
}

// fetchOffset gives the committed offset of a group, waiting for its coordinator.
func fetchOffset(ctx context.Context, cl *kgo.Client, group string) (int64, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: soakTopics[0], Partitions: []int32{0}}}
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	g.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: soakTopics[0], Partitions: []int32{0}}}
	req.Groups = []kmsg.OffsetFetchRequestGroup{g}
	resp, err := request(ctx, cl, req, func(r *kmsg.OffsetFetchResponse) int16 { return r.Groups[0].ErrorCode })
	if err != nil {
		return -1, err
	}
	return resp.Groups[0].Topics[0].Partitions[0].Offset, nil
}

// check finds every acknowledged offset, or a newer one that was tried.
func (c *commits) check(bootstrap string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl, err := newGroupClient(bootstrap)
	if err != nil {
		return err
	}
	defer cl.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for group, acked := range c.acked {
		offset, err := fetchOffset(ctx, cl, group)
		if err != nil {
			return fmt.Errorf("group %s: %w", group, err)
		}
		if offset < acked || offset > c.tried[group] {
			return fmt.Errorf("group %s has offset %d; %d was acknowledged, %d the last that was tried", group, offset, acked, c.tried[group])
		}
	}
	return nil
}

// during commits until a random moment after something was acknowledged, and calls
// end then.
func (c *commits) during(t *testing.T, node *kit.Node, rng *rand.Rand, end func() error) {
	t.Helper()
	before := c.total()
	ctx, cancel := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	errs := make([]error, committers)
	for i := range committers {
		workers.Go(func() { errs[i] = c.commit(ctx, node.Address(), fmt.Sprint("committer-", i)) })
	}
	waitUntil(t, "commits are acknowledged", func() bool { return c.total() > before+committers })
	<-time.After(time.Duration(rng.IntN(700)) * time.Millisecond) // the random moment itself
	err := end()
	cancel()
	workers.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
}

func TestKilledServerKeepsCommittedOffsets(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 5))
	node := newSoakNode(t, buildBarnabas(t), filepath.Join(t.TempDir(), "node"))
	if err := createTopics(node.Address(), nil); err != nil {
		t.Fatal(err)
	}
	book := newCommits()
	for round := range *commitKills {
		book.during(t, node, rng, node.Kill)
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		if err := book.check(node.Address()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	t.Logf("%d kills, %d acknowledged commits, none is lost", *commitKills, book.total())
}

func TestPowerCutLosesNoOffsetThatWasFlushedBeforeItsAcknowledgement(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 6))
	binary := buildBarnabas(t)
	d := newDisk(t)
	node := newSoakNode(t, binary, filepath.Join(d.mount, "node"), "log.flush.interval.messages=1")
	if err := createTopics(node.Address(), nil); err != nil {
		t.Fatal(err)
	}
	book := newCommits()
	for round := range *commitCuts {
		book.during(t, node, rng, func() error {
			book.setClosed(true) // an answer after the cut comes from a machine that is off
			return errors.Join(d.cut(), node.Kill())
		})
		book.setClosed(false)
		command(t, "umount", d.mount)
		d.attach(t)
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		if err := book.check(node.Address()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	t.Logf("%d cuts, %d acknowledged commits, none is lost", *commitCuts, book.total())
	if err := node.Kill(); err != nil {
		t.Fatal(err)
	}
}

// soakGroup is a group of members that hold their place with requests alone.
type soakGroup struct {
	name       string
	generation int32
	members    []string
}

const groupSize = 5

// form has the members of a group join and be assigned something, each on a client
// of its own.
func (g *soakGroup) form(ctx context.Context, clients []*kgo.Client) error {
	joined := make([]*kmsg.JoinGroupResponse, groupSize)
	err := inParallel(func(i int) (err error) {
		joined[i], err = join(ctx, clients[i], g.name)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: join: %w", g.name, err)
	}
	g.members, g.generation = nil, joined[0].Generation
	for _, j := range joined {
		if j.Generation != g.generation {
			return fmt.Errorf("%s: generations %d and %d", g.name, g.generation, j.Generation)
		}
		g.members = append(g.members, j.MemberID)
	}
	err = inParallel(func(i int) error {
		req := kmsg.NewPtrSyncGroupRequest()
		req.Group, req.Generation, req.MemberID = g.name, g.generation, joined[i].MemberID
		req.ProtocolType, req.Protocol = joined[i].ProtocolType, joined[i].Protocol
		if joined[i].LeaderID == joined[i].MemberID {
			for _, m := range joined[i].Members {
				a := kmsg.NewSyncGroupRequestGroupAssignment()
				a.MemberID, a.MemberAssignment = m.MemberID, []byte("for "+m.MemberID)
				req.GroupAssignment = append(req.GroupAssignment, a)
			}
		}
		resp, err := request(ctx, clients[i], req, func(r *kmsg.SyncGroupResponse) int16 { return r.ErrorCode })
		if err == nil && string(resp.MemberAssignment) != "for "+joined[i].MemberID {
			err = fmt.Errorf("assignment %q", resp.MemberAssignment)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: sync: %w", g.name, err)
	}
	return nil
}

func inParallel(do func(i int) error) error {
	errs := make([]error, groupSize)
	var all sync.WaitGroup
	for i := range groupSize {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// join joins with the id that the first answer gives.
func join(ctx context.Context, cl *kgo.Client, group string) (*kmsg.JoinGroupResponse, error) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType = group, "soak"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 300_000, 60_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "any", []byte("metadata")
	req.Protocols = []kmsg.JoinGroupRequestProtocol{p}
	code := func(r *kmsg.JoinGroupResponse) int16 { return r.ErrorCode }
	resp, err := request(ctx, cl, req, code)
	if errors.Is(err, kerr.MemberIDRequired) {
		req.MemberID = resp.MemberID
		resp, err = request(ctx, cl, req, code)
	}
	return resp, err
}

// resumed says whether every member still has its place and its generation.
func (g *soakGroup) resumed(ctx context.Context, cl *kgo.Client, offset int64) error {
	for _, member := range g.members {
		req := kmsg.NewPtrHeartbeatRequest()
		req.Group, req.Generation, req.MemberID = g.name, g.generation, member
		if _, err := request(ctx, cl, req, func(r *kmsg.HeartbeatResponse) int16 { return r.ErrorCode }); err != nil {
			return fmt.Errorf("%s: heartbeat of %s: %w", g.name, member, err)
		}
	}
	got, err := fetchOffset(ctx, cl, g.name)
	if err != nil || got != offset {
		return fmt.Errorf("%s: offset %d, want %d; %w", g.name, got, offset, err)
	}
	return nil
}

// overGroups works on all groups, some at a time, each with clients of its own.
func overGroups(bootstrap string, groups []*soakGroup, work func(clients []*kgo.Client, number int) error) error {
	const atOnce = 20
	var next sync.Mutex
	number := -1
	take := func() int { next.Lock(); defer next.Unlock(); number++; return number }
	errs := make([]error, atOnce)
	var workers sync.WaitGroup
	for w := range atOnce {
		workers.Go(func() {
			var clients []*kgo.Client
			for range groupSize {
				cl, err := newGroupClient(bootstrap)
				if err != nil {
					errs[w] = err
					return
				}
				defer cl.Close()
				clients = append(clients, cl)
			}
			for i := take(); i < len(groups) && errs[w] == nil; i = take() {
				errs[w] = work(clients, i)
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// TestGroupsResumeAfterARestart forms groups, stops the node cleanly and then by a
// kill, and wants every member to go on in its generation.
func TestGroupsResumeAfterARestart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	node := newSoakNode(t, buildBarnabas(t), filepath.Join(t.TempDir(), "node"), "group.initial.rebalance.delay.ms=1000")
	if err := createTopics(node.Address(), nil); err != nil {
		t.Fatal(err)
	}
	groups := make([]*soakGroup, *groupCount)
	begun := time.Now()
	err := overGroups(node.Address(), groups, func(clients []*kgo.Client, i int) error {
		groups[i] = &soakGroup{name: fmt.Sprint("group-", i)}
		if err := groups[i].form(ctx, clients); err != nil {
			return err
		}
		return commitAs(ctx, clients[0], groups[i], int64(i))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d groups of %d members formed in %v", len(groups), groupSize, time.Since(begun).Round(time.Millisecond))
	for _, stop := range []struct {
		name string
		how  func() error
	}{{"clean stop", node.Stop}, {"kill", node.Kill}} {
		if err := stop.how(); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		started := time.Since(begun)
		err := overGroups(node.Address(), groups, func(clients []*kgo.Client, i int) error {
			return groups[i].resumed(ctx, clients[0], int64(i))
		})
		if err != nil {
			t.Fatalf("after a %s: %v", stop.name, err)
		}
		memory, err := anonymousMemory(node.PID(), node.Admin)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("after a %s: started in %v, all %d members resumed after %v, memory %.1f MiB", stop.name,
			started.Round(time.Millisecond), groupSize*len(groups), time.Since(begun).Round(time.Millisecond), float64(memory)/(1<<20))
	}
}

// commitAs commits an offset as the first member of the group.
func commitAs(ctx context.Context, cl *kgo.Client, g *soakGroup, offset int64) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.MemberID = g.name, g.generation, g.members[0]
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset = offset
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: soakTopics[0], Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
	_, err := request(ctx, cl, req, func(r *kmsg.OffsetCommitResponse) int16 { return r.Topics[0].Partitions[0].ErrorCode })
	return err
}

package group

import (
	"fmt"
	"testing"
	"time"

	"barnabas/internal/base/script"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// firstBeat is the first ConsumerGroupHeartbeat of a member.
func firstBeat(group, member string) *kmsg.ConsumerGroupHeartbeatRequest {
	s := &stage{}
	return s.request(script.Command{Words: []string{group}, Args: map[string]string{"id": member}})
}

func TestManyMembersThatExpireTogetherLeaveInSmallDecisions(t *testing.T) {
	const members = 1000
	r := newRig(defaults())
	r.cluster.set("t", topicID("t"), 4)
	for i := range members {
		r.Do(r.ConsumerHeartbeat(r.Now, Client{ID: "c", Host: "/h"}, firstBeat("g", fmt.Sprintf("member-%0100d", i)), nil, func(resp *kmsg.ConsumerGroupHeartbeatResponse) {
			if resp.ErrorCode != 0 {
				t.Fatalf("member %d: %v", i, kafka.ErrorCode(resp.ErrorCode))
			}
		}))
	}
	r.restart()
	r.Now = r.Now.Add(r.config.SessionTimeout)
	for ticks := 0; r.consumer("g").Size() > 0; ticks++ {
		if ticks > members {
			t.Fatalf("%d members stay", r.consumer("g").Size())
		}
		before := r.consumer("g").Size()
		decisions := r.Tick(r.Now)
		if len(decisions) > 1 {
			t.Fatalf("%d decisions of one group", len(decisions))
		}
		for _, d := range decisions {
			bytes := 0
			for _, rec := range d.Records {
				bytes += len(rec.Key) + len(rec.Value)
			}
			if bytes > maxLateBytes {
				t.Fatalf("a decision of %d bytes", bytes)
			}
			r.Do(d)
		}
		if after := r.consumer("g").Size(); after == before {
			t.Fatalf("a tick took nobody out of %d", before)
		}
	}
	if g := r.consumer("g"); g.State() != consumergroup.StateEmpty || g.TargetEpoch != g.Epoch {
		t.Fatalf("%s, epoch %d, target of %d", g.State(), g.Epoch, g.TargetEpoch)
	}
	if next := r.Next(); next.Before(r.Now.Add(time.Second)) {
		t.Fatalf("the next tick is due at %v", next)
	}
}

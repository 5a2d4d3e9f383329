package compat

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// groupScenarios are the stories; what a library can't do is in groupClients.
var groupScenarios = []groupScenario{
	{"two share, one leaves", nil, shareAndLeave},
	{"one crashes", nil, crash},
	{"static member restarts", []string{needStatic}, staticRestart},
	{"cooperative", []string{needCooperative}, cooperative},
	{"pause", []string{needPause}, pauseAndResume},
	{"seek", []string{needSeek}, seek},
	{"commit", nil, commitSync},
	{"commit async", []string{needAsync}, commitAsync},
	{"auto commit", nil, autoCommit},
	{"reset to earliest", nil, resetEarliest},
	{"reset to latest", nil, resetLatest},
	{"no reset", []string{needNoReset}, resetNone},
}

// shareAndLeave: two members own half of the partitions each and read them; when one
// leaves, the other goes on where it stood.
func shareAndLeave(s *groupStage) {
	s.produce(10)
	a, b := s.member("a"), s.member("b")
	s.joins(a)
	alone := s.waitOwns([]*member{a}, 4)
	a.until("reads all", func() bool { return a.hasRead(0, everyPartition, 0, 10) })
	a.does(ask{Do: "commit"}, "committed")
	s.joins(b)
	shared := s.waitOwns([]*member{a, b}, 2, 2)
	s.later("a second member", alone, shared)
	if d := s.describe(); d.State != "Stable" || len(d.Members) != 2 {
		s.Errorf("the broker sees %s with %d members", d.State, len(d.Members))
	}
	s.produce(10)
	of := map[*member][]int32{}
	for _, m := range []*member{a, b} {
		of[m], _ = m.owns()
		m.until("reads its share", func() bool { return m.hasRead(0, of[m], 10, 20) })
		for _, p := range of[m] {
			if m == b && m.firstRead(0, p) != 10 {
				s.Errorf("b begins partition %d at %d, committed was 10", p, m.firstRead(0, p))
			}
		}
		m.does(ask{Do: "commit"}, "committed")
	}
	s.waitCommitted(20)
	before := a.mark()
	b.does(ask{Do: "leave"}, "left")
	s.later("a member that left", shared, s.waitOwns([]*member{a}, 4))
	s.produce(10)
	a.until("reads all again", func() bool { return a.hasRead(before, everyPartition, 20, 30) })
	for _, p := range everyPartition {
		if first := a.firstRead(before, p); first != 20 {
			s.Errorf("partition %d goes on at %d, committed was 20", p, first)
		}
	}
	a.does(ask{Do: "leave"}, "left")
	waitFor(s.T, "the group is empty", func() bool { return s.describe().State == "Empty" })
	a.noErrors()
	b.noErrors()
}

// crash: a member that is killed loses its partitions after its session.
func crash(s *groupStage) {
	s.produce(10)
	a, b := s.member("a"), s.member("b")
	s.joins(a)
	s.waitOwns([]*member{a}, 4)
	s.joins(b)
	shared := s.waitOwns([]*member{a, b}, 2, 2)
	lost, _ := b.owns()
	before := a.mark()
	b.kill()
	s.later("a member that crashed", shared, s.waitOwns([]*member{a}, 4))
	// Nothing was committed, so the other's partitions begin anew.
	a.until("reads what the other had", func() bool { return a.hasRead(before, lost, 0, 10) })
	if d := s.describe(); len(d.Members) != 1 {
		s.Errorf("the broker sees %d members", len(d.Members))
	}
	a.does(ask{Do: "leave"}, "left")
}

// leaderRejoined says whether all rebalances since a generation began because the
// leader joined again of its own accord, which kafka-python's does now and then when it
// sees other metadata than at its assignment. Only our node tells.
func (s *groupStage) leaderRejoined(since int32) bool {
	if s.node.Admin == "" {
		return false
	}
	resp, err := http.Get("http://" + s.node.Admin + "/groups/why?group=" + url.QueryEscape(s.group))
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	var report struct {
		Rebalances []struct {
			Cause, Instance, Reason string
			Generation              int32
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&report); err != nil {
		s.Fatal(err)
	}
	of := 0
	for _, r := range report.Rebalances {
		if r.Generation <= since {
			continue
		}
		of++
		s.Logf("after generation %d: %+v", since, r)
		if r.Cause != "leader-rejoined" || r.Instance != "one" {
			return false
		}
	}
	return of > 0
}

// staticRestart: a static member that is gone for less than its session comes back
// to its partitions, and the other notices nothing.
func staticRestart(s *groupStage) {
	s.produce(10)
	a, b := s.member("a"), s.member("b")
	static := func(instance string) func(*ask) {
		return func(a *ask) { a.Instance, a.SessionMs = instance, 30000 }
	}
	s.joins(a, static("one"))
	s.waitOwns([]*member{a}, 4)
	s.joins(b, static("two"))
	shared := s.waitOwns([]*member{a, b}, 2, 2)
	ownedA, _ := a.owns()
	ownedB, _ := b.owns()
	before := a.mark()
	b.kill()
	again := s.member("b again")
	s.joins(again, static("two"))
	again.until("has its partitions back", func() bool { owned, _ := again.owns(); return slices.Equal(owned, ownedB) })
	s.produce(10)
	a.until("reads its share", func() bool { return a.hasRead(0, ownedA, 10, 20) })
	again.until("reads its share", func() bool { return again.hasRead(0, ownedB, 0, 20) })
	if !s.leaderRejoined(shared) {
		for _, e := range a.all()[before:] {
			if e.Event == "owns" || e.Event == "revoked" {
				s.Errorf("the other member was rebalanced: %+v", e)
			}
		}
		if _, generation := again.owns(); generation >= 0 && generation != shared {
			s.Errorf("generation %d after the restart, %d before", generation, shared)
		}
	}
	if d := s.describe(); d.State != "Stable" || len(d.Members) != 2 {
		s.Errorf("the broker sees %s with %d members", d.State, len(d.Members))
	}
	for _, m := range []*member{a, again} {
		m.does(ask{Do: "leave"}, "left")
	}
}

// cooperative: a second member gets its share without the first losing what it keeps.
func cooperative(s *groupStage) {
	s.produce(10)
	a, b := s.member("a"), s.member("b")
	with := func(a *ask) { a.Assignor = "cooperative" }
	s.joins(a, with)
	alone := s.waitOwns([]*member{a}, 4)
	before := a.mark()
	s.joins(b, with)
	shared := s.waitOwns([]*member{a, b}, 2, 2)
	s.later("a second member", alone, shared)
	kept, _ := a.owns()
	for _, e := range a.all()[before:] {
		for _, p := range e.Partitions {
			if e.Event == "revoked" && slices.Contains(kept, p) {
				s.Errorf("partition %d was taken from the member that keeps it", p)
			}
		}
	}
	s.produce(10)
	a.until("reads what it kept", func() bool { return a.hasRead(0, kept, 0, 20) })
	b.does(ask{Do: "leave"}, "left")
	s.later("a member that left", shared, s.waitOwns([]*member{a}, 4))
	a.does(ask{Do: "leave"}, "left")
	a.noErrors()
	b.noErrors()
}

// pauseAndResume: a paused partition stands still while the others go on, but for what
// a fetch brings that was under way.
func pauseAndResume(s *groupStage) {
	a := s.member("a")
	s.joins(a)
	s.waitOwns([]*member{a}, 4)
	s.produce(5)
	a.until("reads", func() bool { return a.hasRead(0, everyPartition, 0, 5) })
	a.does(ask{Do: "pause", Partition: 2}, "paused")
	before := a.mark()
	others := []int32{0, 1, 3}
	s.produce(1)
	a.until("reads the others", func() bool { return a.hasRead(before, others, 5, 6) })
	paused := a.mark()
	s.produce(10)
	a.until("reads the others on", func() bool { return a.hasRead(paused, others, 6, 16) })
	if at := a.firstRead(paused, 2); at >= 0 {
		s.Errorf("offset %d of the paused partition was read", at)
	}
	a.does(ask{Do: "resume", Partition: 2}, "resumed")
	a.until("reads the partition that goes on", func() bool { return a.hasRead(before, everyPartition, 5, 16) })
	a.does(ask{Do: "leave"}, "left")
	a.noErrors()
}

// seek: a member reads again from where it is set, and stands where it should.
func seek(s *groupStage) {
	s.produce(10)
	a := s.member("a")
	s.joins(a)
	s.waitOwns([]*member{a}, 4)
	a.until("reads", func() bool { return a.hasRead(0, everyPartition, 0, 10) })
	before := a.mark()
	a.does(ask{Do: "seek", Partition: 1, Offset: 3}, "sought")
	a.until("reads again", func() bool { return a.hasRead(before, []int32{1}, 3, 10) })
	if first := a.firstRead(before, 1); first != 3 {
		s.Errorf("the first record after the seek is %d", first)
	}
	if at := a.does(ask{Do: "position"}, "position"); at.Offsets[1] != 10 || at.Offsets[0] != 10 {
		s.Errorf("the member stands at %v", at.Offsets)
	}
	a.does(ask{Do: "leave"}, "left")
	a.noErrors()
}

func commitSync(s *groupStage)  { commits(s, false) }
func commitAsync(s *groupStage) { commits(s, true) }

// commits: nothing is committed unasked; what is committed is where the member
// stands, and whoever comes next begins there.
func commits(s *groupStage, async bool) {
	s.produce(7)
	a := s.member("a")
	s.joins(a)
	s.waitOwns([]*member{a}, 4)
	a.until("reads", func() bool { return a.hasRead(0, everyPartition, 0, 7) })
	if got := s.committed(); len(got) != 0 {
		s.Errorf("%v is committed unasked", got)
	}
	a.does(ask{Do: "commit", Async: async}, "committed")
	s.waitCommitted(7)
	a.does(ask{Do: "leave"}, "left")
	a.noErrors()
	s.waitCommitted(7)
	s.produce(3)
	s.joins(a)
	a.until("reads the rest", func() bool { return a.hasRead(0, everyPartition, 7, 10) })
	for _, p := range everyPartition {
		if first := a.firstRead(0, p); first != 7 {
			s.Errorf("partition %d begins at %d, committed was 7", p, first)
		}
	}
	a.does(ask{Do: "leave"}, "left")
}

// autoCommit: offsets are committed by and by.
func autoCommit(s *groupStage) {
	s.produce(10)
	a := s.member("a")
	s.joins(a, func(a *ask) { a.AutoMs = 300 })
	s.waitOwns([]*member{a}, 4)
	a.until("reads", func() bool { return a.hasRead(0, everyPartition, 0, 10) })
	s.waitCommitted(10)
	s.produce(5)
	s.waitCommitted(15)
	a.does(ask{Do: "leave"}, "left")
	a.noErrors()
}

func resetEarliest(s *groupStage) {
	s.produce(10)
	a := s.member("a")
	s.joins(a)
	a.until("reads from the beginning", func() bool { return a.hasRead(0, everyPartition, 0, 10) })
	a.does(ask{Do: "leave"}, "left")
	a.noErrors()
}

// resetLatest: a group without offsets begins at the end. When it has begun is only
// known from what it reads, so records are written until one is read.
func resetLatest(s *groupStage) {
	s.produce(10)
	a := s.member("a")
	s.joins(a, func(a *ask) { a.Reset = "latest" })
	s.waitOwns([]*member{a}, 4)
	a.until("reads something", func() bool {
		s.produce(1)
		return !slices.ContainsFunc(everyPartition, func(p int32) bool { return a.firstRead(0, p) < 0 })
	})
	for _, p := range everyPartition {
		if first := a.firstRead(0, p); first < 10 {
			s.Errorf("partition %d begins at %d", p, first)
		}
	}
	a.does(ask{Do: "leave"}, "left")
	a.noErrors()
}

// resetNone: without offsets and without a policy the member says so and reads nothing.
func resetNone(s *groupStage) {
	s.produce(10)
	a := s.member("a")
	s.joins(a, func(a *ask) { a.Reset = "none" })
	a.until("complains", func() bool { return a.count("error") > 0 })
	if got := a.readSince(0); len(got) > 0 {
		s.Errorf("%v was read", got)
	}
	for _, e := range a.all() {
		if e.Event == "error" && !strings.Contains(strings.ToLower(e.Text), "offset") {
			s.Errorf("the complaint is %q", e.Text)
		}
	}
}

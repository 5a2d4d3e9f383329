package image

import (
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// imageOf replays the records on an empty image.
func imageOf(t *testing.T, records ...metarec.Message) *Image {
	t.Helper()
	b := NewBuilder(Empty())
	for _, m := range records {
		if err := b.Replay(m); err != nil {
			t.Fatal(err)
		}
	}
	img, _ := b.Build(Position{})
	return img
}

func TestDiffSeesEachFieldOfAPartition(t *testing.T) {
	topic := metarec.NewTopicRecord()
	topic.Name, topic.TopicID = "t", kafka.UUID{1}
	partition := func(change func(*metarec.PartitionRecord)) *metarec.PartitionRecord {
		r := metarec.NewPartitionRecord()
		r.TopicID, r.PartitionID, r.Replicas, r.Isr, r.Leader, r.LeaderEpoch, r.PartitionEpoch = topic.TopicID, 0, []kafka.BrokerID{1, 2}, []kafka.BrokerID{1, 2}, 1, 0, 0
		change(r)
		return r
	}
	base := imageOf(t, topic, partition(func(*metarec.PartitionRecord) {}))
	for name, change := range map[string]func(*metarec.PartitionRecord){
		"replicas":        func(r *metarec.PartitionRecord) { r.Replicas = []kafka.BrokerID{2, 1} },
		"isr":             func(r *metarec.PartitionRecord) { r.Isr = []kafka.BrokerID{1} },
		"leader":          func(r *metarec.PartitionRecord) { r.Leader = 2 },
		"leader epoch":    func(r *metarec.PartitionRecord) { r.LeaderEpoch = 1 },
		"partition epoch": func(r *metarec.PartitionRecord) { r.PartitionEpoch = 1 },
		"recovery":        func(r *metarec.PartitionRecord) { r.LeaderRecoveryState = kafka.Recovering },
		"adding":          func(r *metarec.PartitionRecord) { r.AddingReplicas = []kafka.BrokerID{2} },
		"removing":        func(r *metarec.PartitionRecord) { r.RemovingReplicas = []kafka.BrokerID{2} },
		"elr":             func(r *metarec.PartitionRecord) { r.EligibleLeaderReplicas = []kafka.BrokerID{2} },
		"last known elr":  func(r *metarec.PartitionRecord) { r.LastKnownElr = []kafka.BrokerID{2} },
		"directories":     func(r *metarec.PartitionRecord) { r.Directories = []kafka.UUID{{5}, {}} },
	} {
		d := Diff(base, imageOf(t, topic, partition(change)))
		if len(d.Topics) != 1 || len(d.Topics[0].numbers) != 1 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := Diff(base, imageOf(t, topic, partition(func(*metarec.PartitionRecord) {}))); !d.Empty() {
		t.Errorf("equal images: %+v", d)
	}
}

func TestDiffSeesEachFieldOfARegistration(t *testing.T) {
	rack := "r"
	for name, change := range map[string]func(*metarec.RegisterBrokerRecord){
		"id":          func(r *metarec.RegisterBrokerRecord) { r.BrokerID = 2 },
		"epoch":       func(r *metarec.RegisterBrokerRecord) { r.BrokerEpoch = 2 },
		"incarnation": func(r *metarec.RegisterBrokerRecord) { r.IncarnationID = kafka.UUID{9} },
		"endpoints":   func(r *metarec.RegisterBrokerRecord) { r.EndPoints = []metarec.BrokerEndpoint{{Name: "a"}} },
		"features":    func(r *metarec.RegisterBrokerRecord) { r.Features = []metarec.SupportedFeature{{Name: "a"}} },
		"rack":        func(r *metarec.RegisterBrokerRecord) { r.Rack = &rack },
		"fenced":      func(r *metarec.RegisterBrokerRecord) { r.Fenced = false },
		"shutdown":    func(r *metarec.RegisterBrokerRecord) { r.InControlledShutdown = true },
		"migrating":   func(r *metarec.RegisterBrokerRecord) { r.IsMigratingZkBroker = true },
		"directories": func(r *metarec.RegisterBrokerRecord) { r.LogDirs = []kafka.UUID{{1}} },
		"cordoned":    func(r *metarec.RegisterBrokerRecord) { r.CordonedLogDirs = []kafka.UUID{} },
	} {
		base, changed := metarec.NewRegisterBrokerRecord(), metarec.NewRegisterBrokerRecord()
		base.BrokerID, changed.BrokerID = 1, 1
		change(changed)
		if d := Diff(imageOf(t, base), imageOf(t, changed)); len(d.Brokers) == 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	one, other := metarec.NewRegisterControllerRecord(), metarec.NewRegisterControllerRecord()
	other.IncarnationID = kafka.UUID{1}
	if d := Diff(imageOf(t, one), imageOf(t, other)); len(d.Controllers) != 1 {
		t.Errorf("controller: %+v", d)
	}
}

func TestBrokerAnswersAboutItself(t *testing.T) {
	b := Broker{
		Endpoints:   []metarec.BrokerEndpoint{{Name: "A", Port: 1}, {Name: "B", Port: 2}},
		Features:    []metarec.SupportedFeature{{Name: "f", MinSupportedVersion: 1, MaxSupportedVersion: 3}},
		Directories: []kafka.UUID{{7}},
	}
	if e, ok := b.Endpoint("B"); !ok || e.Port != 2 {
		t.Errorf("endpoint %+v, %v", e, ok)
	}
	if _, ok := b.Endpoint("C"); ok {
		t.Error("an endpoint C")
	}
	for level, want := range []bool{false, true, true, true, false} {
		if b.Supports("f", int16(level)) != want {
			t.Errorf("level %d", level)
		}
	}
	if !b.Supports("unknown", 0) || b.Supports("unknown", 1) {
		t.Error("a feature that was not named")
	}
	for id, want := range map[kafka.UUID]bool{{7}: true, {8}: false, kafka.DirectoryLost: false, kafka.DirectoryUnassigned: true, kafka.DirectoryMigrating: true} {
		if b.HasDirectory(id) != want {
			t.Errorf("directory %s", id)
		}
	}
	if !(&Broker{}).HasDirectory(kafka.UUID{8}) || (&Broker{}).HasDirectory(kafka.DirectoryLost) {
		t.Error("a broker that named no directories")
	}
	if !b.Active() || (&Broker{Fenced: true}).Active() || (&Broker{InControlledShutdown: true}).Active() {
		t.Error("active")
	}
}

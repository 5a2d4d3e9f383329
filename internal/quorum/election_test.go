package quorum

import (
	"os"
	"path/filepath"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/raft"
)

// The files that Apache Kafka wrote, read and written again.
func TestElectionStateIsWrittenAsApacheDoes(t *testing.T) {
	for folder, kraftVersion := range map[string]int16{"clean": 1, "killed": 1, "static-3.3": 0} {
		golden, err := os.ReadFile(filepath.Join("testdata/golden", folder, folderName, electionFileName))
		if err != nil {
			t.Fatal(err)
		}
		state, err := parseElection(golden)
		if err != nil {
			t.Fatal(err)
		}
		voters := raft.VoterSet{{ReplicaKey: raft.ReplicaKey{ID: 1}}}
		if got := formatElection(state, kraftVersion, voters); string(got) != string(golden) {
			t.Errorf("%s:\ngot  %s\nwant %s", folder, got, golden)
		}
		if state.LeaderID != 1 || state.Voted != raft.NoReplica() {
			t.Errorf("%s: read as %+v", folder, state)
		}
	}
}

func TestElectionStateKeepsTheVote(t *testing.T) {
	voted := raft.ElectionState{Epoch: 7, LeaderID: kafka.NoBroker, Voted: raft.ReplicaKey{ID: 3, Directory: kafka.UUID{5}}}
	fsys := vfs.NewMem(nil)
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	for kraftVersion := range int16(2) {
		if err := writeElection(fsys, "d/quorum-state", voted, kraftVersion, nil); err != nil {
			t.Fatal(err)
		}
		got, err := readElection(fsys, "d/quorum-state")
		if err != nil {
			t.Fatal(err)
		}
		want := voted
		if kraftVersion == 0 {
			want.Voted.Directory = kafka.ZeroUUID // that version has no room for it
		}
		if got != want {
			t.Errorf("kraft.version %d: wrote %+v, read %+v", kraftVersion, want, got)
		}
	}
	if got, err := readElection(fsys, "d/missing"); err != nil || got != raft.InitialElection() {
		t.Errorf("a missing file reads as %+v, %v", got, err)
	}
}

func TestDamagedElectionStateIsRefused(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `{"leaderId":1`, `[]`, "null",
		`{"leaderId":1,"leaderEpoch":2,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":2}`,
		`{"leaderId":1,"leaderEpoch":2,"votedId":-1,"data_version":1}`,
		`{"leaderId":1,"leaderEpoch":-2,"votedId":-1,"data_version":0}`,
		`{"leaderId":1,"leaderEpoch":99999999999,"votedId":-1,"data_version":0}`,
		`{"leaderEpoch":2,"votedId":-1,"data_version":0}`,
		`{"leaderId":1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":"AAAA","data_version":1}`,
	} {
		if got, err := parseElection([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", text, got)
		}
	}
}

func FuzzElectionState(f *testing.F) {
	for _, folder := range []string{"clean", "static-3.3"} {
		golden, err := os.ReadFile(filepath.Join("testdata/golden", folder, folderName, electionFileName))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(golden)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		state, err := parseElection(data)
		if err != nil {
			return
		}
		again, err := parseElection(formatElection(state, 1, nil))
		if err != nil || again != state {
			t.Errorf("%+v was read back as %+v, %v", state, again, err)
		}
	})
}

package quorum

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/raft"
)

// electionFileName is the name of the file that holds the election state.
const electionFileName = "quorum-state"

// electionFile is the JSON object of quorum-state. Version 0, of kraft.version 0,
// lists the voters; version 1 names the directory that was voted for.
type electionFile struct {
	LeaderID         *int32  `json:"leaderId"`
	LeaderEpoch      *int32  `json:"leaderEpoch"`
	VotedID          *int32  `json:"votedId"`
	VotedDirectoryID *string `json:"votedDirectoryId"`
	DataVersion      *int16  `json:"data_version"`
}

// readElection reads quorum-state; a file that is not there is a node that has
// never taken part.
func readElection(fsys vfs.FS, path string) (raft.ElectionState, error) {
	data, err := vfs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return raft.InitialElection(), nil
	}
	if err != nil {
		return raft.ElectionState{}, err
	}
	state, err := parseElection(data)
	if err != nil {
		return raft.ElectionState{}, fmt.Errorf("%s: %w", path, err)
	}
	return state, nil
}

// parseElection reads either version. Fields that are not known are ignored, as
// Apache Kafka does, but those that are needed must be there.
func parseElection(data []byte) (raft.ElectionState, error) {
	var f electionFile
	if err := json.Unmarshal(data, &f); err != nil {
		return raft.ElectionState{}, fmt.Errorf("bad election state: %w", err)
	}
	if f.DataVersion == nil || *f.DataVersion < 0 || *f.DataVersion > 1 {
		return raft.ElectionState{}, errors.New("bad election state: data_version must be 0 or 1")
	}
	if f.LeaderID == nil || f.LeaderEpoch == nil || f.VotedID == nil {
		return raft.ElectionState{}, errors.New("bad election state: leaderId, leaderEpoch and votedId must be there")
	}
	if *f.LeaderEpoch < 0 || *f.LeaderID < -1 || *f.VotedID < -1 {
		return raft.ElectionState{}, errors.New("bad election state: negative epoch or node id")
	}
	state := raft.ElectionState{
		Epoch:    kafka.LeaderEpoch(*f.LeaderEpoch),
		LeaderID: kafka.BrokerID(*f.LeaderID),
		Voted:    raft.ReplicaKey{ID: kafka.BrokerID(*f.VotedID)},
	}
	if *f.DataVersion == 0 {
		return state, nil
	}
	if f.VotedDirectoryID == nil {
		return raft.ElectionState{}, errors.New("bad election state: votedDirectoryId must be there")
	}
	directory, err := kafka.ParseUUID(*f.VotedDirectoryID)
	if err != nil {
		return raft.ElectionState{}, fmt.Errorf("bad election state: %w", err)
	}
	if state.Voted.ID != kafka.NoBroker {
		state.Voted.Directory = directory
	}
	return state, nil
}

// formatElection writes the state in the version that belongs to a kraft.version,
// byte for byte as Apache Kafka does.
func formatElection(s raft.ElectionState, kraftVersion int16, voters raft.VoterSet) []byte {
	b := []byte("{")
	number := func(name string, n int64) {
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, n, 10)
	}
	if kraftVersion < raft.KRaftVersion1 {
		b = append(b, `"clusterId":"",`...)
	}
	number("leaderId", int64(s.LeaderID))
	b = append(b, ',')
	number("leaderEpoch", int64(s.Epoch))
	b = append(b, ',')
	number("votedId", int64(s.Voted.ID))
	b = append(b, ',')
	if kraftVersion >= raft.KRaftVersion1 {
		b = append(b, `"votedDirectoryId":"`+s.Voted.Directory.String()+`","data_version":1}`...)
		return b
	}
	b = append(b, `"appliedOffset":0,"currentVoters":[`...)
	for i, v := range voters {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		number("voterId", int64(v.ID))
		b = append(b, '}')
	}
	return append(b, `],"data_version":0}`...)
}

// writeElection makes the state durable. It costs two fsyncs: of the file, and of
// the directory that the rename changes.
func writeElection(fsys vfs.FS, path string, s raft.ElectionState, kraftVersion int16, voters raft.VoterSet) error {
	return vfs.WriteFileAtomic(fsys, path, formatElection(s, kraftVersion, voters))
}

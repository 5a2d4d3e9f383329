package client

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/kafka"
)

// metadataQuorumTool is the command line of kafka-metadata-quorum.
func metadataQuorumTool() *argparse.Tool {
	return &argparse.Tool{
		Name: "kafka-metadata-quorum", Usage: usageQuorum, Help: usageQuorum + helpQuorum,
		Options: []argparse.Option{
			{Long: "--bootstrap-server", Group: "door", Required: true},
			{Long: "--bootstrap-controller", Group: "door", Required: true},
			{Long: "--command-config"}, outputArgument,
		},
		Commands: []argparse.Command{
			{Name: "describe", Usage: usageQuorumDescribe, Help: usageQuorumDescribe + helpQuorumDescribe, Options: []argparse.Option{
				{Long: "--status", Flag: true}, {Long: "--replication", Flag: true}, {Long: "--human-readable", Flag: true}, outputArgument,
			}},
			{Name: "add-controller", Usage: usageQuorumAdd, Help: usageQuorumAdd + "\n", Options: []argparse.Option{{Long: "--dry-run", Flag: true}}},
			{Name: "remove-controller", Usage: usageQuorumRemove, Help: usageQuorumRemove + "\n", Options: []argparse.Option{
				{Long: "--controller-id", Short: "-i", Required: true, Number: "Integer"},
				{Long: "--controller-directory-id", Short: "-d", Required: true},
				{Long: "--dry-run", Flag: true}, {Long: "--unregister", Flag: true},
			}},
		},
	}
}

const (
	usageQuorum = `usage: kafka-metadata-quorum [-h] [--command-config COMMAND_CONFIG]
                             (--bootstrap-server BOOTSTRAP_SERVER |
                             --bootstrap-controller BOOTSTRAP_CONTROLLER)
                             {describe,add-controller,remove-controller}
                             ...`
	usageQuorumBefore = `usage: kafka-metadata-quorum (--bootstrap-server BOOTSTRAP_SERVER |
                             --bootstrap-controller BOOTSTRAP_CONTROLLER)
                             `
	usageQuorumDescribe = usageQuorumBefore + `describe [-h] [--status]
                             [--replication] [--human-readable]`
	usageQuorumAdd    = usageQuorumBefore + `add-controller [-h] [--dry-run]`
	usageQuorumRemove = usageQuorumBefore + `remove-controller [-h]
                             --controller-id CONTROLLER_ID
                             --controller-directory-id CONTROLLER_DIRECTORY_ID
                             [--dry-run] [--unregister]`
	helpQuorum = `

Tells of the controllers that keep the metadata log, and changes who they are.

commands:
  describe              the leader, the voters and how far each is
  add-controller        make a running controller a voter; --command-config is its
                        configuration file
  remove-controller     take a voter out

options:
  -h, --help            show this text
  --bootstrap-server BOOTSTRAP_SERVER
                        brokers to connect to, host:port, divided by commas
  --bootstrap-controller BOOTSTRAP_CONTROLLER
                        controllers to connect to
  --command-config COMMAND_CONFIG
                        a file of properties for the client
  --output json, -o json
                        print a JSON document
`
	helpQuorumDescribe = `

options:
  -h, --help            show this text
  --status              the quorum in short
  --replication         a line for each controller and broker
  --human-readable      with --replication: times as "ms ago"
  --output json, -o json
                        print a JSON document
`
)

// MetadataQuorum is kafka-metadata-quorum.
func MetadataQuorum(args []string, o IO) int {
	parsed, done, exit := parseArgs(metadataQuorumTool(), args, o)
	if done {
		return exit
	}
	return toldExit(o, metadataQuorum(parsed, o))
}

func metadataQuorum(args *argparse.Args, o IO) error {
	asJSON, err := wantsJSONOf(args, "describe")
	if err != nil {
		return err
	}
	file, hasFile := args.Value("--command-config")
	var removed quorumMember
	switch args.Command {
	case "describe":
		err = checkQuorumDescribe(args)
	case "remove-controller":
		removed, err = memberToRemove(args)
	case "add-controller":
		if !hasFile {
			err = plain("You must supply the configuration file of the controller you are adding when using add-controller.")
		}
	}
	if err != nil {
		return err
	}
	ctx, d, done, err := openDoorOf(o, args, file)
	if err != nil {
		return err
	}
	defer done()
	switch {
	case args.Command == "remove-controller":
		return d.removeController(ctx, removed, args)
	case args.Command == "add-controller":
		return d.addController(ctx, file, args.Has("--dry-run"))
	}
	q, err := d.describeQuorum(ctx)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return printJSON(o, q)
	case args.Has("--status"):
		q.printStatus(o)
	default:
		q.printReplication(o, args.Has("--human-readable"), time.Now())
	}
	return nil
}

func checkQuorumDescribe(args *argparse.Args) error {
	status, replication := args.Has("--status"), args.Has("--replication")
	switch {
	case status && replication:
		return plain("Only one of --status or --replication should be specified with describe sub-command")
	case !status && !replication:
		return plain("One of --status or --replication must be specified with describe sub-command")
	case status && args.Has("--human-readable"):
		return plain("The option --human-readable is only supported along with --replication")
	}
	return nil
}

// quorumState is the metadata quorum as the tool tells of it.
type quorumState struct {
	ClusterID     string          `json:"clusterId"`
	LeaderID      int32           `json:"leaderId"`
	LeaderEpoch   int32           `json:"leaderEpoch"`
	HighWatermark int64           `json:"highWatermark"`
	Voters        []quorumReplica `json:"voters"`
	Observers     []quorumReplica `json:"observers"`
}

type quorumReplica struct {
	ID           int32      `json:"id"`
	DirectoryID  kafka.UUID `json:"-"`
	Directory    string     `json:"directoryId"`
	Endpoints    []string   `json:"endpoints,omitempty"`
	LogEndOffset int64      `json:"logEndOffset"`
	LastFetch    int64      `json:"lastFetchTimestamp"`    // ms; -1: not known
	LastCaughtUp int64      `json:"lastCaughtUpTimestamp"` // ms; -1: not known
}

func (d *door) describeQuorum(ctx context.Context) (*quorumState, error) {
	req := kmsg.NewPtrDescribeQuorumRequest()
	rt := kmsg.NewDescribeQuorumRequestTopic()
	rt.Topic = kafka.ClusterMetadataTopic
	rt.Partitions = append(rt.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	req.Topics = append(req.Topics, rt)
	resp, err := d.askActive(ctx, req)
	if err != nil {
		return nil, err
	}
	r := resp.(*kmsg.DescribeQuorumResponse)
	if err := codeError(r.ErrorCode, r.ErrorMessage); err != nil {
		return nil, err
	}
	if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("the answer to DescribeQuorum has not one partition")
	}
	p := r.Topics[0].Partitions[0]
	if err := codeError(p.ErrorCode, p.ErrorMessage); err != nil {
		return nil, err
	}
	cluster, err := d.describeCluster(ctx, false)
	if err != nil {
		return nil, err
	}
	q := &quorumState{ClusterID: cluster.ClusterID, LeaderID: p.LeaderID, LeaderEpoch: p.LeaderEpoch, HighWatermark: p.HighWatermark}
	endpoints := map[int32][]string{}
	for _, n := range r.Nodes {
		for _, l := range n.Listeners {
			endpoints[n.NodeID] = append(endpoints[n.NodeID], l.Name+"://"+net.JoinHostPort(l.Host, strconv.Itoa(int(l.Port))))
		}
	}
	q.Voters, q.Observers = quorumReplicas(p.CurrentVoters, endpoints), quorumReplicas(p.Observers, nil)
	return q, nil
}

func quorumReplicas(states []kmsg.DescribeQuorumResponseTopicPartitionReplicaState, endpoints map[int32][]string) []quorumReplica {
	out := []quorumReplica{}
	for _, s := range states {
		id := kafka.UUID(s.ReplicaDirectoryID)
		out = append(out, quorumReplica{ID: s.ReplicaID, DirectoryID: id, Directory: id.String(), Endpoints: endpoints[s.ReplicaID],
			LogEndOffset: s.LogEndOffset, LastFetch: s.LastFetchTimestamp, LastCaughtUp: s.LastCaughtUpTimestamp})
	}
	return out
}

// leader is the leader's own line.
func (q *quorumState) leader() quorumReplica {
	for _, v := range q.Voters {
		if v.ID == q.LeaderID {
			return v
		}
	}
	return quorumReplica{ID: -1, LastFetch: -1, LastCaughtUp: -1}
}

func (q *quorumState) printStatus(o IO) {
	leader := q.leader()
	slowest := leader
	for _, v := range q.Voters {
		if v.LogEndOffset < slowest.LogEndOffset {
			slowest = v
		}
	}
	lagMs := int64(-1)
	switch {
	case slowest.ID == leader.ID:
		lagMs = 0
	case leader.LastCaughtUp >= 0 && slowest.LastCaughtUp >= 0:
		lagMs = leader.LastCaughtUp - slowest.LastCaughtUp
	}
	for _, line := range [][2]any{
		{"ClusterId:", q.ClusterID}, {"LeaderId:", q.LeaderID}, {"LeaderEpoch:", q.LeaderEpoch}, {"HighWatermark:", q.HighWatermark},
		{"MaxFollowerLag:", leader.LogEndOffset - slowest.LogEndOffset}, {"MaxFollowerLagTimeMs:", lagMs},
		{"CurrentVoters:", replicaList(q.Voters)}, {"CurrentObservers:", replicaList(q.Observers)},
	} {
		fmt.Fprintf(o.Stdout, "%-23s %v\n", line[0], line[1])
	}
}

func replicaList(replicas []quorumReplica) string {
	var words []string
	for _, r := range replicas {
		parts := []string{fmt.Sprintf(`"id": %d`, r.ID)}
		if !r.DirectoryID.IsZero() {
			parts = append(parts, fmt.Sprintf(`"directoryId": "%s"`, r.DirectoryID))
		}
		if len(r.Endpoints) > 0 {
			parts = append(parts, `"endpoints": ["`+strings.Join(r.Endpoints, `", "`)+`"]`)
		}
		words = append(words, "{"+strings.Join(parts, ", ")+"}")
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func (q *quorumState) printReplication(o IO, human bool, now time.Time) {
	moment := func(ms int64) string {
		if human && ms >= 0 {
			return fmt.Sprintf("%d ms ago", max(now.UnixMilli()-ms, 0))
		}
		return strconv.FormatInt(ms, 10)
	}
	leader := q.leader()
	rows := [][]string{{"NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status"}}
	add := func(r quorumReplica, status string) {
		rows = append(rows, []string{strconv.Itoa(int(r.ID)), r.Directory, strconv.FormatInt(r.LogEndOffset, 10),
			strconv.FormatInt(leader.LogEndOffset-r.LogEndOffset, 10), moment(r.LastFetch), moment(r.LastCaughtUp), status})
	}
	add(leader, "Leader")
	for _, v := range q.Voters {
		if v.ID != leader.ID {
			add(v, "Follower")
		}
	}
	for _, r := range q.Observers {
		add(r, "Observer")
	}
	printTable(o, rows)
}

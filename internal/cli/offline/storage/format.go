package storage

import (
	"fmt"
	"strings"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/cli/levels"
	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/quorum"
	"barnabas/internal/raft"
)

// format makes the directories of a node. Nothing is written before every argument
// has been checked.
func (r *run) format(args *argparse.Args) error {
	c, err := r.load(args)
	if err != nil {
		return err
	}
	voters, dynamic, err := r.voters(args, c)
	if err != nil {
		return err
	}
	levels, kraftVersion, err := parseAsk(args, c, dynamic)
	if err != nil {
		return err
	}
	credentials, err := r.credentials(args, levels.MetadataVersion)
	if err != nil {
		return err
	}
	clusterID, _ := args.Value("--cluster-id")
	o := quorum.FormatOptions{
		FS: r.fsys, ClusterID: clusterID, NodeID: c.Node.ID,
		LogDirs: c.Node.LogDirs, MetadataDir: c.Node.MetadataLogDir, Controller: c.Node.IsController,
		Levels: levels, Records: credentials, KRaftVersion: kraftVersion, Voters: voters,
		IgnoreFormatted: args.Has("--ignore-formatted"),
		Now:             r.now, Random: r.random,
	}
	told := false
	o.Progress = func(s quorum.FormatStep) {
		if s.Err != nil {
			r.printf("I/O error trying to read log directory %s. Ignoring...\n", s.Dir)
			return
		}
		if !told {
			told = true
			r.printf("Bootstrap metadata: %s\n", bootstrapText(levels, credentials))
		}
		r.printf("Formatting %s %s with metadata.version %s.\n", s.Kind, s.Dir, levels.MetadataVersion)
	}
	n, err := quorum.Format(o)
	if err == nil && n == 0 {
		r.printf("All of the log directories are already formatted.\n")
	}
	return err
}

// load reads the node's configuration as the server will.
func (r *run) load(args *argparse.Args) (*config.Broker, error) {
	file, _ := args.Value("--config")
	c, _, err := config.Load(config.Options{File: file, Environ: r.environ, Tool: true})
	return c, err
}

// voters says who the first voters are, nil if that is not known or not said in the
// log; dynamic says whether the voters will be in the log.
func (r *run) voters(args *argparse.Args, c *config.Broker) (set raft.VoterSet, dynamic bool, err error) {
	static := len(c.Quorum.Voters) > 0
	initial, hasInitial := args.Value("--initial-controllers")
	standalone := args.Has("--standalone")
	switch {
	case (hasInitial || standalone) && static:
		return nil, false, fmt.Errorf("You cannot specify controller.quorum.voters and format the node with --initial-controllers or --standalone. If you want to use dynamic quorum, please remove controller.quorum.voters and specify controller.quorum.bootstrap.servers instead.")
	case hasInitial:
		set, err = parseVoters(initial, controllerListener(c))
	case standalone:
		id, err := kafka.RandomUUID(r.random)
		if err != nil {
			return nil, false, err
		}
		set, err = standaloneVoter(c, id)
		return set, true, err
	case static:
		return nil, false, nil
	case !args.Has("--no-initial-controllers") && c.Node.IsController:
		return nil, false, fmt.Errorf("Because controller.quorum.voters is not set on this controller, you must specify one of the following: --standalone, --initial-controllers, or --no-initial-controllers.")
	}
	return set, true, err
}

// parseAsk works out the feature levels.
func parseAsk(args *argparse.Args, c *config.Broker, dynamic bool) (quorum.Levels, int16, error) {
	ask := quorum.Ask{Dynamic: dynamic, Unstable: c.Lifecycle.UnstableFeatureVersions}
	if text, ok := args.Value("--release-version"); ok {
		mv, err := levels.ParseRelease(text, productionVersions())
		if err != nil {
			return quorum.Levels{}, 0, err
		}
		ask.Release = mv
	}
	features, err := parseLevels(args.Values("--feature"))
	if err != nil {
		return quorum.Levels{}, 0, err
	}
	ask.Features = features
	return quorum.ResolveLevels(ask)
}

func (r *run) credentials(args *argparse.Args, mv kafka.MetadataVersion) ([]metarec.Versioned, error) {
	var out []metarec.Versioned
	for _, text := range args.Values("--add-scram") {
		record, err := parseScram(text, r.random)
		if err != nil {
			return nil, err
		}
		out = append(out, metarec.Versioned{Message: record})
	}
	if len(out) > 0 && mv < scramSince {
		return nil, fmt.Errorf("SCRAM is only supported in metadata.version %s or later.", scramSince)
	}
	return out, nil
}

// bootstrapText is the form in which Apache Kafka prints the records.
func bootstrapText(l quorum.Levels, credentials []metarec.Versioned) string {
	var records []string
	for _, f := range l.Records() {
		records = append(records, fmt.Sprintf("ApiMessageAndVersion(FeatureLevelRecord(name='%s', featureLevel=%d) at version 0)", f.Name, f.FeatureLevel))
	}
	for _, c := range credentials {
		if s, ok := c.Message.(*metarec.UserScramCredentialRecord); ok {
			records = append(records, fmt.Sprintf("ApiMessageAndVersion(UserScramCredentialRecord(name='%s', mechanism=%d, salt=%s, storedKey=%s, serverKey=%s, iterations=%d) at version 0)",
				s.Name, s.Mechanism, signedBytes(s.Salt), signedBytes(s.StoredKey), signedBytes(s.ServerKey), s.Iterations))
		}
	}
	return fmt.Sprintf("BootstrapMetadata(records=[%s], metadataVersionLevel=%d, source=format command)", strings.Join(records, ", "), l.MetadataVersion)
}

// signedBytes is java.util.Arrays.toString.
func signedBytes(b []byte) string {
	numbers := make([]string, len(b))
	for i, v := range b {
		numbers[i] = fmt.Sprint(int8(v))
	}
	return "[" + strings.Join(numbers, ", ") + "]"
}

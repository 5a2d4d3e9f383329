package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/cli/levels"
	"barnabas/internal/kafka"
)

// featuresTool is the command line of kafka-features.
func featuresTool() *argparse.Tool {
	feature := argparse.Option{Long: "--feature", Many: true}
	release := argparse.Option{Long: "--release-version"}
	metadata := argparse.Option{Long: "--metadata"}
	dryRun := argparse.Option{Long: "--dry-run", Flag: true}
	unsafe := argparse.Option{Long: "--unsafe", Flag: true}
	required := feature
	required.Required = true
	command := func(name, about string, options ...argparse.Option) argparse.Command {
		return argparse.Command{Name: name, Usage: "usage: kafka-features " + name, Help: "usage: kafka-features " + name + about, Options: options}
	}
	return &argparse.Tool{
		Name: "kafka-features", Usage: usageFeatures, Help: usageFeatures + helpFeatures,
		Options: []argparse.Option{
			{Long: "--bootstrap-server", Group: "door"}, {Long: "--bootstrap-controller", Group: "door"},
			{Long: "--command-config"}, outputArgument,
		},
		Commands: []argparse.Command{
			command("describe", " [-h] [--node-id NODE_ID] [--output json]\n\nPrints the levels that are supported and finalized, with --output json (-o json) as a document.\n",
				argparse.Option{Long: "--node-id", Number: "Integer"}, outputArgument),
			command("upgrade", " [-h] [--metadata METADATA] [--feature FEATURE] [--release-version RELEASE_VERSION] [--dry-run]\n\nRaises levels.\n",
				metadata, feature, release, dryRun),
			command("downgrade", " [-h] [--metadata METADATA] [--feature FEATURE] [--release-version RELEASE_VERSION] [--unsafe] [--dry-run]\n\nLowers levels.\n",
				metadata, feature, release, unsafe, dryRun),
			command("disable", " [-h] [--feature FEATURE] [--unsafe] [--dry-run]\n\nLowers levels to 0.\n", feature, unsafe, dryRun),
			command("version-mapping", " [-h] [--release-version RELEASE_VERSION]\n\nPrints the levels of a release of Apache Kafka.\n", release),
			command("feature-dependencies", " [-h] --feature FEATURE\n\nPrints what levels of features depend on.\n", required),
		},
	}
}

const (
	usageFeatures = `usage: kafka-features [-h] [--command-config COMMAND_CONFIG]
                      [--bootstrap-server BOOTSTRAP_SERVER |
                      --bootstrap-controller BOOTSTRAP_CONTROLLER]
                      {describe,upgrade,downgrade,disable,version-mapping,feature-dependencies}
                      ...`
	helpFeatures = `

Tells of the feature levels of a cluster, and changes them.

commands:
  describe              the levels that are supported and finalized
  upgrade               raise levels, such as --feature group.version=1
  downgrade             lower levels
  disable               lower levels to 0
  version-mapping       the levels that belong to a release
  feature-dependencies  what levels of features depend on

options:
  -h, --help            show this text
  --bootstrap-server BOOTSTRAP_SERVER
                        brokers to connect to, host:port, divided by commas
  --bootstrap-controller BOOTSTRAP_CONTROLLER
                        controllers to connect to
  --command-config COMMAND_CONFIG
                        a file of properties for the client
  --output json, -o json
                        print a JSON document (describe)
`
)

// Features is kafka-features.
func Features(args []string, o IO) int {
	parsed, err := featuresTool().Parse(args)
	var help *argparse.HelpRequest
	var usage *argparse.UsageError
	switch {
	case errors.As(err, &help):
		fmt.Fprint(o.Stdout, help.Text)
		return 0
	case errors.As(err, &usage):
		return commandLineError(o, usage.Message())
	case err != nil:
		return commandLineError(o, err.Error())
	}
	asJSON, err := wantsJSONOf(parsed, "describe")
	if err != nil {
		return featuresExit(o, err)
	}
	switch parsed.Command {
	case "version-mapping":
		release, _ := parsed.Value("--release-version")
		return featuresExit(o, levels.Mapping(o.Stdout, release))
	case "feature-dependencies":
		return featuresExit(o, levels.Dependencies(o.Stdout, parsed.Values("--feature")))
	}
	if !parsed.Has("--bootstrap-server") && !parsed.Has("--bootstrap-controller") {
		return commandLineError(o, "You must specify either --bootstrap-controller or --bootstrap-server.")
	}
	return featuresExit(o, features(parsed, o, asJSON))
}

func commandLineError(o IO, message string) int {
	fmt.Fprintf(o.Stderr, "Command line error: %s. Type --help for help.", message)
	return 1
}

// featuresExit tells of an error: one that is not of a cluster has no class.
func featuresExit(o IO, err error) int {
	var f *failure
	if err != nil && !errors.As(err, &f) && !errors.Is(err, context.DeadlineExceeded) {
		err = plain("%s", err)
	}
	return toldExit(o, err)
}

func features(args *argparse.Args, o IO, asJSON bool) error {
	var change featureChange
	var err error
	if args.Command != "describe" {
		if change, err = parseChange(args, o); err != nil {
			return err
		}
	}
	file, _ := args.Value("--command-config")
	ctx, d, done, err := openDoorOf(o, args, file)
	if err != nil {
		return err
	}
	defer done()
	if args.Command == "describe" {
		return d.describeFeatures(ctx, args, asJSON)
	}
	return d.updateFeatures(ctx, change)
}

// featureLevels is what is known of one feature.
type featureLevels struct {
	Name      string `json:"feature"`
	Min       int16  `json:"supportedMinVersion"`
	Max       int16  `json:"supportedMaxVersion"`
	Finalized int16  `json:"finalizedVersionLevel"`
	Epoch     *int64 `json:"epoch"` // nil: nothing is finalized
}

func (d *door) describeFeatures(ctx context.Context, args *argparse.Args, asJSON bool) error {
	req := apiVersionsRequest()
	var resp kmsg.Response
	var err error
	if id, given := args.Int("--node-id"); given {
		resp, err = d.askNode(ctx, int32(id), req)
	} else {
		resp, err = d.ask(ctx, req)
	}
	if err != nil {
		return err
	}
	versions := resp.(*kmsg.ApiVersionsResponse)
	if err := codeError(versions.ErrorCode, nil); err != nil {
		return err
	}
	finalized := map[string]int16{}
	for _, f := range versions.FinalizedFeatures {
		finalized[f.Name] = f.MaxVersionLevel
	}
	all := []featureLevels{}
	for _, f := range versions.SupportedFeatures {
		one := featureLevels{Name: f.Name, Min: f.MinVersion, Max: f.MaxVersion, Finalized: finalized[f.Name]}
		if versions.FinalizedFeaturesEpoch >= 0 {
			one.Epoch = &versions.FinalizedFeaturesEpoch
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b featureLevels) int { return strings.Compare(a.Name, b.Name) })
	if asJSON {
		return printJSON(d.o, all)
	}
	for _, f := range all {
		epoch := "-"
		if f.Epoch != nil {
			epoch = strconv.FormatInt(*f.Epoch, 10)
		}
		fmt.Fprintf(d.o.Stdout, "Feature: %-42sSupportedMinVersion: %-17sSupportedMaxVersion: %-17sFinalizedVersionLevel: %-17sEpoch: %s\n",
			f.Name, levelText(f.Name, f.Min), levelText(f.Name, f.Max), levelText(f.Name, f.Finalized), epoch)
	}
	return nil
}

// levelText is a level as people know it.
func levelText(feature string, level int16) string {
	if feature != kafka.FeatureMetadataVersion {
		return strconv.Itoa(int(level))
	}
	if mv := kafka.MetadataVersion(level); mv.Known() {
		return mv.String()
	}
	return fmt.Sprintf("UNKNOWN [%d]", level)
}

// The kinds of a change (class FeatureUpdate.UpgradeType).
const (
	upgradeOnly     int8 = 1
	safeDowngrade   int8 = 2
	unsafeDowngrade int8 = 3
)

// featureChange is what upgrade, downgrade or disable is asked to do.
type featureChange struct {
	verb   string // "upgrade", "downgrade", "disable"
	kind   int8
	levels map[string]int16
	dryRun bool
}

func parseChange(args *argparse.Args, o IO) (featureChange, error) {
	c := featureChange{verb: args.Command, kind: upgradeOnly, levels: map[string]int16{}, dryRun: args.Has("--dry-run")}
	if c.verb != "upgrade" {
		c.kind = safeDowngrade
		if args.Has("--unsafe") {
			c.kind = unsafeDowngrade
		}
	}
	var err error
	if c.verb == "disable" {
		err = c.take(args.Values("--feature"), func(text string) (string, int16, error) { return text, 0, nil })
	} else {
		err = c.takeLevels(args, o)
	}
	if err == nil && len(c.levels) == 0 {
		err = plain("You must specify at least one feature to %s", c.verb)
	}
	return c, err
}

// takeLevels reads --release-version, or --metadata and --feature.
func (c *featureChange) takeLevels(args *argparse.Args, o IO) error {
	if text, ok := args.Value("--release-version"); ok {
		if args.Has("--metadata") || args.Has("--feature") {
			return plain("Can not specify `release-version` with other feature flags.")
		}
		mv, err := levels.ParseRelease(text, kafka.MetadataVersions())
		if err != nil {
			return err
		}
		c.levels[kafka.FeatureMetadataVersion] = int16(mv)
		for _, f := range kafka.Features() {
			if level := f.DefaultLevel(mv); level > 0 || c.kind != upgradeOnly {
				c.levels[f.Name] = level
			}
		}
		return nil
	}
	if text, ok := args.Value("--metadata"); ok {
		fmt.Fprintln(o.Stdout, " `metadata` flag is deprecated and may be removed in a future release.")
		mv, err := levels.ParseRelease(text, kafka.MetadataVersions())
		if err != nil {
			return err
		}
		c.levels[kafka.FeatureMetadataVersion] = int16(mv)
	}
	return c.take(args.Values("--feature"), levels.Parse)
}

func (c *featureChange) take(texts []string, read func(string) (string, int16, error)) error {
	for _, text := range texts {
		name, level, err := read(text)
		if err != nil {
			return err
		}
		if _, twice := c.levels[name]; twice {
			return plain("Feature %s was specified more than once.", name)
		}
		if level < 1 && c.kind == upgradeOnly {
			return plain("The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the provided maxVersionLevel:%d is < 1.", level)
		}
		c.levels[name] = level
	}
	return nil
}

// updateFeatures sends a change and tells of each feature what became of it.
func (d *door) updateFeatures(ctx context.Context, c featureChange) error {
	req := kmsg.NewPtrUpdateFeaturesRequest()
	req.TimeoutMillis, req.ValidateOnly = int32(adminTimeout.Milliseconds()), c.dryRun
	names := slices.Sorted(maps.Keys(c.levels))
	for _, name := range names {
		u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
		u.Feature, u.MaxVersionLevel, u.UpgradeType, u.AllowDowngrade = name, c.levels[name], c.kind, c.kind != upgradeOnly
		req.FeatureUpdates = append(req.FeatureUpdates, u)
	}
	resp, err := d.askActive(ctx, req)
	if err != nil {
		return err
	}
	r := resp.(*kmsg.UpdateFeaturesResponse)
	failed := map[string]error{}
	for _, result := range r.Results {
		failed[result.Feature] = codeError(result.ErrorCode, result.ErrorMessage)
	}
	if err := codeError(r.ErrorCode, r.ErrorMessage); err != nil {
		for _, name := range names {
			failed[name] = err
		}
	}
	failures := 0
	for _, name := range names {
		if failed[name] != nil {
			failures++
		}
		fmt.Fprintln(d.o.Stdout, c.outcome(name, failed[name]))
	}
	if failures > 0 {
		return plain("%d out of %d operation(s) failed.", failures, len(names))
	}
	return nil
}

// outcome is the line of one feature.
func (c featureChange) outcome(name string, failed error) string {
	to := ""
	if c.verb != "disable" {
		to = fmt.Sprintf(" to %d", c.levels[name])
	}
	past := map[string]string{"upgrade": "upgraded", "downgrade": "downgraded", "disable": "disabled"}[c.verb]
	switch {
	case failed != nil && c.dryRun:
		return fmt.Sprintf("Can not %s %s%s. %s", c.verb, name, to, failed)
	case failed != nil:
		return fmt.Sprintf("Could not %s %s%s. %s", c.verb, name, to, failed)
	case c.dryRun:
		return fmt.Sprintf("%s can be %s%s.", name, past, to)
	}
	return fmt.Sprintf("%s was %s%s.", name, past, to)
}

package storage

import "barnabas/internal/cli/argparse"

// Tool is the command line of kafka-storage, for completion.
func Tool() *argparse.Tool { return tool() }

// tool is the command line of kafka-storage. Usage texts are the original's, since
// they are part of its complaints.
func tool() *argparse.Tool {
	config := argparse.Option{Long: "--config", Short: "-c", Required: true}
	return &argparse.Tool{
		Name:  "kafka-storage",
		Usage: usageTool,
		Help:  usageTool + helpTool,
		Commands: []argparse.Command{
			{Name: "info", Usage: usageInfo, Help: usageInfo + helpInfo, Options: []argparse.Option{config}},
			{Name: "format", Usage: usageFormat, Help: usageFormat + helpFormat, Options: []argparse.Option{
				config,
				{Long: "--cluster-id", Short: "-t", Required: true},
				{Long: "--add-scram", Short: "-S", Many: true},
				{Long: "--ignore-formatted", Short: "-g", Flag: true},
				{Long: "--release-version", Short: "-r"},
				{Long: "--feature", Short: "-f", Many: true},
				{Long: "--standalone", Short: "-s", Flag: true, Group: "voters"},
				{Long: "--no-initial-controllers", Short: "-N", Flag: true, Group: "voters"},
				{Long: "--initial-controllers", Short: "-I", Group: "voters"},
			}},
			{Name: "version-mapping", Usage: usageVersionMapping, Help: usageVersionMapping + helpVersionMapping, Options: []argparse.Option{
				{Long: "--release-version", Short: "-r"},
			}},
			{Name: "feature-dependencies", Usage: usageFeatureDependencies, Help: usageFeatureDependencies + helpFeatureDependencies, Options: []argparse.Option{
				{Long: "--feature", Short: "-f", Many: true, Required: true},
			}},
			{Name: "random-uuid", Usage: usageRandomUUID, Help: usageRandomUUID + helpRandomUUID},
		},
	}
}

const (
	usageTool = `usage: kafka-storage [-h]
                     {info,format,version-mapping,feature-dependencies,random-uuid}
                     ...`
	usageInfo   = `usage: kafka-storage info [-h] --config CONFIG`
	usageFormat = `usage: kafka-storage format [-h] --config CONFIG --cluster-id CLUSTER_ID
                     [--add-scram ADD_SCRAM] [--ignore-formatted]
                     [--release-version RELEASE_VERSION]
                     [--feature FEATURE] [--standalone |
                     --no-initial-controllers |
                     --initial-controllers INITIAL_CONTROLLERS]`
	usageVersionMapping = `usage: kafka-storage version-mapping [-h]
                     [--release-version RELEASE_VERSION]`
	usageFeatureDependencies = `usage: kafka-storage feature-dependencies [-h] --feature FEATURE`
	usageRandomUUID          = `usage: kafka-storage random-uuid [-h]`
)

const helpTool = `

Prepares and looks at the folders in which a node keeps its data.

commands:
  info                  say what is known of the log directories of a node
  format                make the log directories of a new node
  version-mapping       list the feature levels that belong to a release
  feature-dependencies  list what levels of features depend on
  random-uuid           print a random id, for a new cluster

options:
  -h, --help            show this text
`

const helpInfo = `

options:
  -h, --help            show this text
  --config CONFIG, -c CONFIG
                        the node's configuration file
`

const helpFormat = `

options:
  -h, --help            show this text
  --config CONFIG, -c CONFIG
                        the node's configuration file
  --cluster-id CLUSTER_ID, -t CLUSTER_ID
                        the id of the cluster; random-uuid makes one
  --add-scram ADD_SCRAM, -S ADD_SCRAM
                        a SCRAM credential that the cluster begins with, such as
                        'SCRAM-SHA-256=[name=alice,password=alice-secret]' or
                        'SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",
                        saltedpassword="YCE="]'; may be repeated
  --ignore-formatted, -g
                        pass over directories that are formatted already
  --release-version RELEASE_VERSION, -r RELEASE_VERSION
                        the release, such as 4.2 or 4.2-IV1, whose record formats
                        the cluster begins with, from 3.3-IV3 on; default 4.4-IV2.
                        An older release cannot open the directories
  --feature FEATURE, -f FEATURE
                        the level of a feature, as in group.version=1; may be
                        repeated. Features that this release does not serve are
                        at level 0 unless they are named here
  --standalone, -s      this controller is the only voter of its quorum
  --no-initial-controllers, -N
                        the voters of the quorum are not known yet
  --initial-controllers INITIAL_CONTROLLERS, -I INITIAL_CONTROLLERS
                        the voters of the quorum, id@host:port:directory, divided
                        by commas; the same for all nodes

Of the last three one is needed on a controller without controller.quorum.voters.
`

const helpVersionMapping = `

options:
  -h, --help            show this text
  --release-version RELEASE_VERSION, -r RELEASE_VERSION
                        the release, such as 4.2 or 4.2-IV1, from 3.3-IV3 on;
                        default 4.4-IV2
`

const helpFeatureDependencies = `

options:
  -h, --help            show this text
  --feature FEATURE, -f FEATURE
                        feature=level, as in metadata.version=5; may be repeated
`

const helpRandomUUID = `

options:
  -h, --help            show this text
`

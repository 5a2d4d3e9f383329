package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
)

// The lines are those of Apache Kafka 4.4.0's tool.
func TestMistakesOnTheCommandLineOfConfigs(t *testing.T) {
	const pair = "Only 'users' and 'clients' entity types may be specified together"
	const noName = "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
	for line, want := range map[string]string{
		"":           "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, client-metrics or group",
		"--describe": "Either --bootstrap-server or --bootstrap-controller must be specified.",
		"--bootstrap-server h:1 --bootstrap-controller h:2 --describe --broker 1": "Only one of --bootstrap-server or --bootstrap-controller can be specified",
		"--bootstrap-server h:1":                                                                "Command must include exactly one action: --describe, --alter",
		"--bootstrap-server h:1 --alter --describe":                                             "Command must include exactly one action: --describe, --alter",
		"--bootstrap-server h:1 --describe --all":                                               "At least one entity type must be specified",
		"--bootstrap-server h:1 --describe --entity-name a":                                     "At least one entity type must be specified",
		"--bootstrap-server h:1 --describe --entity-type topics --entity-type brokers":          pair,
		"--bootstrap-server h:1 --describe --topic a --broker 1":                                pair,
		"--bootstrap-server h:1 --describe --user u --ip 1.2.3.4":                               pair,
		"--bootstrap-server h:1 --describe --topic a --entity-type topics":                      "Duplicate entity type(s) specified: topics",
		"--bootstrap-server h:1 --alter --broker 1 --broker-defaults --add-config a=b":          "Duplicate entity type(s) specified: brokers",
		"--bootstrap-server h:1 --describe --entity-type nosuch":                                "Invalid entity type nosuch, the entity type must be one of broker-loggers, topics, clients, users, brokers, ips, client-metrics, groups with a --bootstrap-server or --bootstrap-controller argument",
		"--bootstrap-server h:1 --alter --entity-type topics --add-config a=b":                  "An entity name must be specified with --alter of topics",
		"--bootstrap-server h:1 --alter --entity-type client-metrics --add-config a=b":          "An entity name must be specified with --alter of client-metrics",
		"--bootstrap-server h:1 --alter --entity-type groups --entity-default --add-config a=b": "An entity name must be specified with --alter of groups",
		"--bootstrap-server h:1 --alter --entity-type brokers --add-config a=b":                 noName,
		"--bootstrap-server h:1 --alter --broker x --add-config a=b":                            "The entity name for brokers must be a valid integer broker id, but it is: x",
		"--bootstrap-server h:1 --describe --broker-logger x":                                   "The entity name for broker-loggers must be a valid integer broker id, but it is: x",
		"--bootstrap-server h:1 --describe --entity-type broker-loggers":                        "An entity name must be specified with --describe of broker-loggers",
		"--bootstrap-server h:1 --alter --topic t --add-config a=b --add-config-file /nosuch":   "Only one of --add-config or --add-config-file must be specified",
		"--bootstrap-server h:1 --alter --topic t":                                              "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter",
		"--bootstrap-server h:1 --describe --topic t --add-config a=b":                          `Option "[describe]" can't be used with option "[add-config]"`,
		"--bootstrap-server h:1 --alter --topic t --add-config a=b -o json":                     `Option "[alter]" can't be used with option "[o]"`,
		"--bootstrap-server h:1 --describe --topic t -o yaml":                                   "-o yaml is not supported: only json is",
		"--bootstrap-server h:1 --nosuch":                                                       "nosuch is not a recognized option",
		"--bootstrap-server h:1 --alter --topic t --delete-config":                              "Option delete-config requires an argument",
		"--bootstrap-server h:1 --describe --topic a --topic b":                                 "Found multiple arguments for option topic, but you asked for only one",
		"--bootstrap-server h:1 --describe --entity-type topics --entity-default":               "--entity-default must not be specified with --describe of topics",
		"--bootstrap-server h:1 --describe --user u":                                            "Entity type users is not supported by this release: quotas and SCRAM credentials are not served by it.",
	} {
		out, errs, exit := call(Configs, strings.Fields(line)...)
		first, _, _ := strings.Cut(errs, "\n")
		if out != "" || first != want || exit != 1 {
			t.Errorf("%s\n got %q, exit %d\nwant %q", line, out+first, exit, want)
		}
	}
	for line, want := range map[string]string{
		"":                               "This tool helps to manipulate and describe client metrics configurations.",
		"--bootstrap-server h:1":         "Command must include exactly one action: --alter, --delete, --describe or --list.",
		"--bootstrap-server h:1 --alter": "One of --name or --generate-name must be specified with --alter.",
	} {
		_, errs, exit := call(ClientMetrics, strings.Fields(line)...)
		if first, _, _ := strings.Cut(errs, "\n"); first != want || exit != 1 {
			t.Errorf("client-metrics %s\n got %q, exit %d\nwant %q", line, first, exit, want)
		}
	}
}

func TestConfigurationsInJSON(t *testing.T) {
	value := "7"
	rows := []kmsg.DescribeConfigsResponseResourceConfig{{Name: "a", Value: &value, Source: kmsg.ConfigSourceStaticBrokerConfig, ReadOnly: true,
		ConfigSynonyms: []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{{Name: "b", Value: &value, Source: kmsg.ConfigSourceDefaultConfig}}}, {Name: "p", IsSensitive: true}}
	got, err := json.Marshal(entityInJSON("brokers", "", rows))
	want := `{"entityType":"brokers","entityName":null,"configs":[{"name":"a","value":"7","source":"STATIC_BROKER_CONFIG","sensitive":false,"readOnly":true,` +
		`"synonyms":[{"name":"b","value":"7","source":"DEFAULT_CONFIG"}]},{"name":"p","value":null,"source":"","sensitive":true,"readOnly":false,"synonyms":[]}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestConfigsToSetAreReadAsApacheReadsThem(t *testing.T) {
	for text, want := range map[string]string{
		"a=1,b=2":                             "a=1 b=2",
		"cleanup.policy=[compact,delete],x=1": "cleanup.policy=compact,delete x=1",
		" a = 1 , b=[] ":                      "a=1 b=",
		"match=[client_id=a.*]":               "match=client_id=a.*",
		"a=b=c":                               "a=b=c",
		"a=":                                  "a=",
		"a":                                   `Invalid entity config: all configs to be added must be in the format "key=val" or  "key=[val1,val2]" to group values which contain commas.`,
		"=1":                                  "=1",
	} {
		set := configsOptions()
		if err := set.Parse([]string{"--add-config", text, "--delete-config", "x.y, z"}); err != nil {
			t.Fatal(err)
		}
		if got := opsText(set); got != want+" -x.y -z" && got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func opsText(set *options.Set) string {
	ops, err := configOps(set)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, op := range ops {
		if op.value == nil {
			out = append(out, "-"+op.key)
		} else {
			out = append(out, fmt.Sprintf("%s=%s", op.key, *op.value))
		}
	}
	return strings.Join(out, " ")
}

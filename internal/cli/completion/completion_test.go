package completion

import (
	"os/exec"
	"strings"
	"testing"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/cli/options"
)

func commands() []Command {
	topics := OfSet(options.New(options.Option{Name: "bootstrap-server", Argument: options.Required, Help: "It's the server."}, options.Option{Name: "list"}))
	topics.Name, topics.Script = "topics", "kafka-topics"
	cluster := OfTool(&argparse.Tool{Commands: []argparse.Command{
		{Name: "cluster-id", Options: []argparse.Option{{Long: "--config"}}},
		{Name: "unregister", Options: []argparse.Option{{Long: "--id"}}},
	}})
	cluster.Name, cluster.Script = "cluster", "kafka-cluster"
	return []Command{topics, cluster}
}

// A bash completes by the script as a user would have it.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	var script strings.Builder
	Write(&script, "bash", commands())
	for line, want := range map[string]string{
		"barnabas to":                          "topics",
		"barnabas topics --":                   "--bootstrap-server --list --help --version",
		"barnabas topics --boot":               "--bootstrap-server",
		"/opt/kafka/bin/kafka-topics.sh --li":  "--list",
		"barnabas cluster un":                  "unregister",
		"barnabas cluster unregister --":       "--help --id",
		"kafka-cluster.sh cluster-id --c":      "--config",
		"kafka-cluster cluster-id --command-c": "",
	} {
		words := strings.Fields(line)
		cmd := exec.Command(bash, "-c", script.String()+"\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n_barnabas\necho \"${COMPREPLY[@]}\"", "test")
		cmd.Args = append(cmd.Args, words...)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %v, %q, want %q", line, err, got, want)
		}
	}
}

func TestFishIsTold(t *testing.T) {
	var script strings.Builder
	Write(&script, "fish", commands())
	for _, want := range []string{
		"complete -c barnabas -n '__fish_seen_subcommand_from topics' -l bootstrap-server -r -d 'It\\'s the server.'\n",
		"complete -c barnabas -n '__fish_seen_subcommand_from cluster; and __fish_seen_subcommand_from unregister' -l id -r\n",
	} {
		if !strings.Contains(script.String(), want) {
			t.Errorf("no line %q", want)
		}
	}
	if Write(&script, "tcsh", nil) {
		t.Error("a shell that is not known is taken")
	}
}

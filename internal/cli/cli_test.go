package cli

import (
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
)

func call(argv ...string) (stdout, stderr string, exit int) {
	var out, err strings.Builder
	exit = Main(context.Background(), argv, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err})
	return out.String(), err.String(), exit
}

func TestEveryDoorLeadsToItsTool(t *testing.T) {
	for _, argv := range [][]string{{"/usr/bin/barnabas", "topics"}, {"/opt/kafka/bin/kafka-topics.sh"}, {"kafka-topics"}} {
		_, stderr, exit := call(argv...)
		if want := "Command must include exactly one action: --list, --describe, --create, --alter or --delete\n"; !strings.HasPrefix(stderr, want) || exit != 1 {
			t.Errorf("%v: exit %d, %q", argv, exit, stderr)
		}
	}
	if stdout, _, exit := call("kafka-topics.sh", "--version"); stdout != "4.4.0\n" || exit != 0 {
		t.Errorf("--version: %q, exit %d", stdout, exit)
	}
}

func TestUnknownCommandIsAnError(t *testing.T) {
	stdout, stderr, exit := call("barnabas", "nosuch")
	if exit != 1 || stdout != "" || !strings.HasPrefix(stderr, "barnabas: there is no command \"nosuch\"\n") {
		t.Errorf("exit %d, %q, %q", exit, stdout, stderr)
	}
	if stdout, _, exit := call("barnabas", "--help"); exit != 0 || !strings.Contains(stdout, "console-producer") {
		t.Errorf("help: exit %d, %q", exit, stdout)
	}
}

func TestToolThatASignalEndsHasTheShellsExitCode(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(Signalled(sig))
		argv := []string{"barnabas", "console-consumer", "--bootstrap-server", "127.0.0.1:1", "--topic", "t"}
		if exit := Main(ctx, argv, Streams{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}); exit != want {
			t.Errorf("%v: exit %d", sig, exit)
		}
	}
}

// TestAToolThatIsStoppedSaysNothing: what fails because the user has stopped it is no
// error that he has to read.
func TestAToolThatIsStoppedSaysNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(Signalled(syscall.SIGINT))
	for _, tool := range []string{"topics --list", "get-offsets", "consumer-groups --list", "e2e-latency --topic t --num-records 1 --producer-acks 1 --record-size 1"} {
		var out strings.Builder
		argv := append([]string{"barnabas"}, append(strings.Fields(tool), "--bootstrap-server", "127.0.0.1:1")...)
		if exit := Main(ctx, argv, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}); exit != 130 || out.Len() > 0 {
			t.Errorf("%s: exit %d, %s", tool, exit, out.String())
		}
	}
}

func TestShellsCompleteEachCommand(t *testing.T) {
	for _, c := range completions() {
		if len(c.Flags) == 0 && len(c.Commands) == 0 {
			t.Errorf("nothing is completed after %s", c.Name)
		}
	}
	for shell, want := range map[string]string{"bash": "kafka-topics.sh", "zsh": "bashcompinit", "fish": "-l bootstrap-server"} {
		if stdout, _, exit := call("barnabas", "completion", shell); exit != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d without %q", shell, exit, want)
		}
	}
	if _, stderr, exit := call("barnabas", "completion", "tcsh"); exit != 1 || stderr != "Usage: barnabas completion SHELL, where SHELL is one of bash, zsh, fish\n" {
		t.Errorf("tcsh: exit %d, %q", exit, stderr)
	}
}

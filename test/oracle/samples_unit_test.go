package oracle

import "testing"

func TestSamplesAreRead(t *testing.T) {
	text := "# note\n$ kafka-x.sh --a 'b c' ''\n[stdin]\n1\n[stdout]\nout [x]\n\n[stderr: empty]\n[exit 3]\n\n$ kafka-y.sh\n[stdout]\nz\n[stdout: no newline at its end]\n[stderr]\ne\n[exit 0]\n"
	got, err := parseSamples("f.txt", text)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	a, b := got[0], got[1]
	if len(a.args) != 4 || a.args[2] != "b c" || a.args[3] != "" || a.stdin != "1\n" || a.stdout != "out [x]\n\n" || a.stderr != "" || a.exit != 3 {
		t.Errorf("first: %+v", a)
	}
	if b.number != 2 || b.stdout != "z" || b.stderr != "e\n" {
		t.Errorf("second: %+v", b)
	}
}

func TestStandardErrorIsWhatAUserIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"[2026-11-29 14:03:01,081] ERROR a.B: Topic 't1' already exists.\n (org.apache.kafka.tools.TopicCommand)\n":            "",
		"nosuchflag is not a recognized option\njoptsimple.UnrecognizedOptionException: nosuchflag is not\n[… Java stack]\n\n": "nosuchflag is not a recognized option",
		"Missing\nOption    Description\n------  ---\n--x  y\n":                                                                "Missing",
		"Missing\n[… option table]\n": "Missing",
		"[2026-11-29 14:04:22,582] ERROR Error:  (org.X)\norg.apache.kafka.common.errors.TimeoutException\nProcessed a total of 0 messages\n": "Processed a total of 0 messages",
	} {
		if got := stderrCore(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWhatVariesHasAName(t *testing.T) {
	for text, want := range map[string]string{
		"TopicId: 48SZGKKdS6OaBR3bUejKqA\t": "TopicId: <id>\t",
		"AAAAAAAAAAAAAAAAAAAAAQ":            "AAAAAAAAAAAAAAAAAAAAAQ",
		"CreateTime:1795961038729":          "CreateTime:<ms>",
		"under-replicated-partitions":       "under-replicated-partitions",
		"Epoch: 1565":                       "Epoch: <n>",
	} {
		if got := nameWhatVaries(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

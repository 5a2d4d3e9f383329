package client

import (
	"fmt"
	"strings"
	"testing"
)

func TestFilesOfOffsets(t *testing.T) {
	for text, want := range map[string]string{
		`{"partitions":[{"topic":"b","partition":1,"offset":5},{"topic":"a","partition":0,"offset":-1}],"version":1}`: "[b-1 a-0] map[a-0:-1 b-1:5]",
		`{"partitions":[]}`:             "[] map[]",
		`{"bad":1}`:                     "Missing partitions field",
		`nonsense`:                      "The input string is not a valid JSON",
		`{"partitions":[],"version":2}`: "Not supported version field value 2",
		`{"partitions":[{"topic":"a","partition":0,"offset":1},{"topic":"a","partition":0,"offset":2}]}`: "Offset json file contains duplicate topic partitions: a-0",
		`{"partitions":[{"topic":"a","offset":1}]}`:                                                      "Each of partitions needs the fields topic, partition and offset",
		`{"partitions":[{"topic":"a","partition":4294967296,"offset":1}]}`:                               "Each of partitions needs the fields topic, partition and offset",
	} {
		order, offsets, err := parseOffsetFile([]byte(text))
		got := fmt.Sprint(order, " ", offsets)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestMistakesOnCommandLinesOfLogTools(t *testing.T) {
	for _, x := range []struct {
		tool func([]string, IO) int
		args string
		want string
	}{
		{DeleteRecords, "", `Missing required argument "[bootstrap-server]"`},
		{DeleteRecords, "--bootstrap-server h:1", `Missing required argument "[offset-json-file]"`},
		{DeleteRecords, "--bootstrap-server h:1 --offset-json-file /nonexistent", "open /nonexistent: no such file or directory"},
		{LogDirs, "--describe", `Missing required argument "[bootstrap-server]"`},
		{LogDirs, "--bootstrap-server h:1", `Missing required argument "[describe]"`},
		{LogDirs, "--bootstrap-server h:1 --describe -o xml", "-o xml is not supported: only json is"},
	} {
		_, stderr, exit := call(x.tool, strings.Fields(x.args)...)
		if first, _, _ := strings.Cut(stderr, "\n"); exit != 1 || first != x.want {
			t.Errorf("%s: exit %d, %q", x.args, exit, first)
		}
	}
}

package options

import (
	"slices"
	"strings"
	"testing"
)

func testSet() *Set {
	return New(
		Option{Name: "bootstrap-server", Argument: Required},
		Option{Name: "time", Argument: Required, Default: "latest"},
		Option{Name: "topic", Argument: Required},
		Option{Name: "topic-id", Argument: Required},
		Option{Name: "codec", Argument: Optional},
		Option{Name: "list"},
	)
}

func TestParseTakesValuesAsJoptsimpleDoes(t *testing.T) {
	s := testSet()
	if err := s.Parse([]string{"--boot", "h:1", "--time", "-1", "--topic=a", "--topic", "b", "--codec", "--list", "rest"}); err != nil {
		t.Fatal(err)
	}
	if s.Get("bootstrap-server") != "h:1" || s.Get("time") != "-1" || s.Get("topic") != "b" || s.Get("codec") != "" || !s.Has("codec") || !s.Has("list") {
		t.Errorf("got %v", s.given)
	}
	if got := s.All("topic"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("all topics %v", got)
	}
	if !slices.Equal(s.Rest(), []string{"rest"}) {
		t.Errorf("rest %v", s.Rest())
	}
	if got := testSet().Get("time"); got != "latest" {
		t.Errorf("default is %q", got)
	}
}

func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		"--nosuchflag":         "nosuchflag is not a recognized option",
		"--t x":                "t is not a recognized option", // time, topic, topic-id
		"--bootstrap-server":   "Option bootstrap-server requires an argument",
		"--list=1":             "Option list does not take an argument",
		"--topi x --topic-i x": "topi is not a recognized option", // topic and topic-id
	} {
		err := testSet().Parse(strings.Fields(line))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestIntParses(t *testing.T) {
	s := New(Option{Name: "n", Argument: Required}, Option{Name: "d", Argument: Required, Default: "5"})
	if err := s.Parse([]string{"--n", "x"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Int("n", 32); err == nil || err.Error() != "Cannot parse argument 'x' of option n" {
		t.Errorf("error %v", err)
	}
	if n, ok, err := s.Int("d", 32); n != 5 || !ok || err != nil {
		t.Errorf("default: %d %v %v", n, ok, err)
	}
}

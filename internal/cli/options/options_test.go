package options

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func testSet() *Set {
	return New(
		Option{Name: "bootstrap-server", Argument: Required},
		Option{Name: "time", Argument: Required, Default: "latest"},
		Option{Name: "topic", Argument: Required},
		Option{Name: "config", Argument: Required, Many: true},
		Option{Name: "codec", Argument: Optional},
		Option{Name: "list"},
	)
}

func TestParseTakesValuesAsJoptsimpleDoes(t *testing.T) {
	s := testSet()
	if err := s.Parse([]string{"-bootstrap-server", "h:1", "--time", "-1", "--config=a", "word", "--config", "b", "--codec", "--list=ignored", "--list", "--topic=", "--", "--nosuch"}); err != nil {
		t.Fatal(err)
	}
	if s.Get("bootstrap-server") != "h:1" || s.Get("time") != "-1" || s.Get("codec") != "" || !s.Has("codec") || !s.Has("list") || !s.Has("topic") || s.Get("topic") != "" {
		t.Errorf("got %v", s.given)
	}
	if got := s.All("config"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("all configs %v", got)
	}
	if got := testSet().Get("time"); got != "latest" {
		t.Errorf("default is %q", got)
	}
	s = testSet()
	if err := s.Parse([]string{"--codec", "-"}); err != nil || s.Get("codec") != "-" {
		t.Errorf("a dash as a value: %q, %v", s.Get("codec"), err)
	}
	if name, ok := s.OneOf("codec", "list"); name != "codec" || !ok {
		t.Errorf("one of: %q, %v", name, ok)
	}
	if _, ok := s.OneOf("topic", "list"); ok {
		t.Error("none of them was given")
	}
}

// The texts are those of Apache Kafka 4.4.0's tools.
func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		"--nosuchflag":        "joptsimple.UnrecognizedOptionException: nosuchflag is not a recognized option",
		"--nosuchflag=3":      "joptsimple.UnrecognizedOptionException: nosuchflag is not a recognized option",
		"--topi x":            "joptsimple.UnrecognizedOptionException: topi is not a recognized option",
		"-nosuchflag":         "joptsimple.UnrecognizedOptionException: n is not a recognized option",
		"-topi x":             "joptsimple.UnrecognizedOptionException: t is not a recognized option",
		"--bootstrap-server":  "joptsimple.OptionMissingRequiredArgumentException: Option bootstrap-server requires an argument",
		"--topic x --topic y": "joptsimple.MultipleArgumentsForOptionException: Found multiple arguments for option topic, but you asked for only one",
	} {
		err := testSet().Parse(strings.Fields(line))
		var e *Error
		if !errors.As(err, &e) || e.Class+": "+e.Text != want {
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

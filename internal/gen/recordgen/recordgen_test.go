package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// outputs are the committed files and the definitions that they come from.
var outputs = []struct{ def, pkg, out string }{
	{"../../../schema/metadata.def", "metarec", "../../metadata/metarec/metadata.gen.go"},
	{"../../../schema/raftcontrol.def", "metarec", "../../metadata/metarec/raftcontrol.gen.go"},
	{"../../../schema/group.def", "grouprec", "../../coordinator/grouprec/group.gen.go"},
}

func TestCommittedCodeIsWhatTheDefinitionsGive(t *testing.T) {
	for _, o := range outputs {
		want, err := generate(o.def, o.pkg)
		if err != nil {
			t.Errorf("%s: %v", o.def, err)
			continue
		}
		got, err := os.ReadFile(o.out)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what %s gives (%v): run go generate ./...", o.out, o.def, err)
		}
	}
}

func TestBadDefinitionsAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"field first":      "  A int8",
		"unknown block":    "record A id 1",
		"no versions":      "message A id 1",
		"bad versions":     "message A versions x",
		"odd attributes":   "message A versions",
		"unknown word":     "message A versions 0 color red",
		"field, no type":   "struct A\n  B",
		"unknown type":     "struct A\n  B []C",
		"type of the next": "struct A\n  B C\nstruct C\n  D int8",
		"bad tag":          "struct A\n  B int8 tag x",
		"null number":      "struct A\n  B int8 null",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{"BrokerId": "BrokerID", "id": "ID", "Identity": "Identity", "TopicIdOf": "TopicIDOf", "metadata": "Metadata"} {
		if got := (&field{name: in}).goName(); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	if got := (&field{name: "KRaftVersion"}).jsonName(); got != "kRaftVersion" {
		t.Errorf("JSON name %s", got)
	}
	if got := upperSnake("ZkMigrationStateRecord"); got != "ZK_MIGRATION_STATE_RECORD" {
		t.Errorf("type name %s", got)
	}
}

func TestVersionsOfFieldsBecomeConditions(t *testing.T) {
	out, err := generateText("message A versions 0-3 flexible 2+\n  B int8 1-2 ignorable\n  C int8 3+ tag 0\n  D string\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"version >= 1 && version <= 2", "if version >= 3 && (m.C != 0)", `w.Unsupported("C")`, "msgfmt.NewWriter(dst, version >= 2)"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, `w.Unsupported("B")`) {
		t.Error("an ignorable field is refused")
	}
}

func generateText(text string) (string, error) {
	f, err := parse(text)
	if err != nil {
		return "", err
	}
	out, err := emit(f, "test.def", "test")
	return string(out), err
}

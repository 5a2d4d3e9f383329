package kafka

import (
	"bytes"
	"strings"
	"testing"
)

func TestErrorCodeNamesAndRetriable(t *testing.T) {
	for _, c := range []struct {
		code      ErrorCode
		name      string
		retriable bool
	}{
		{ErrUnknownServerError, "UNKNOWN_SERVER_ERROR", false},
		{ErrNone, "NONE", false},
		{ErrOffsetOutOfRange, "OFFSET_OUT_OF_RANGE", false},
		{ErrNotLeaderOrFollower, "NOT_LEADER_OR_FOLLOWER", true},
		{136, "CONTROLLER_ID_NOT_REGISTERED", false},
		{999, "UNKNOWN_ERROR_CODE_999", false},
	} {
		if got := c.code.String(); got != c.name {
			t.Errorf("code %d: name %q, want %q", int16(c.code), got, c.name)
		}
		if got := c.code.Retriable(); got != c.retriable {
			t.Errorf("%s: retriable %v, want %v", c.name, got, c.retriable)
		}
	}
}

func TestUUIDTextForm(t *testing.T) {
	if got := MetadataTopicID.String(); got != "AAAAAAAAAAAAAAAAAAAAAQ" {
		t.Errorf("metadata topic id is %q", got)
	}
	u, err := ParseUUID("o7uGq1A1QtGVMaSu4T4AgA")
	if err != nil || u.String() != "o7uGq1A1QtGVMaSu4T4AgA" {
		t.Errorf("parse and print gave %v, %v", u, err)
	}
	for _, bad := range []string{"", "AAAA", "o7uGq1A1QtGVMaSu4T4A+A", strings.Repeat("A", 30)} {
		if _, err := ParseUUID(bad); err == nil {
			t.Errorf("ParseUUID(%q) gave no error", bad)
		}
	}
}

func TestRandomUUIDIsNeitherReservedNorLeadsWithDash(t *testing.T) {
	dash := bytes.Repeat([]byte{0xf8}, 16) // its text begins with '-'
	good := bytes.Repeat([]byte{0x11}, 16)
	u, err := RandomUUID(bytes.NewReader(append(dash, good...)))
	if err != nil || u.String()[0] == '-' || u.Reserved() {
		t.Errorf("got %v, %v", u, err)
	}
	if _, err := RandomUUID(bytes.NewReader(dash)); err == nil {
		t.Error("an exhausted source gave no error")
	}
}

func TestTopicNameRules(t *testing.T) {
	for name, want := range map[string]string{
		"a.b_c-D9":               "",
		"":                       "Topic name is invalid: the empty string is not allowed",
		".":                      "Topic name is invalid: '.' is not allowed",
		"..":                     "Topic name is invalid: '..' is not allowed",
		"a b":                    "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
		strings.Repeat("x", 249): "",
	} {
		got := ""
		if err := CheckTopicName(name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("CheckTopicName(%q) = %q, want %q", name, got, want)
		}
	}
	if CheckTopicName(strings.Repeat("x", 250)) == nil {
		t.Error("250 characters are accepted")
	}
}

func TestMetadataVersionsAndFeatureDefaults(t *testing.T) {
	for i, v := range MetadataVersions() {
		if int(v) != int(MinMetadataVersion)+i {
			t.Fatalf("level %d stands at place %d", v, i)
		}
	}
	for text, want := range map[string]MetadataVersion{"3.3": 7, "4.0": 25, "4.4": 33, "4.4.0": 33, "4.4-IV2": 33, "3.6-IV1": 13} {
		if got, ok := ParseMetadataVersion(text); !ok || got != want {
			t.Errorf("ParseMetadataVersion(%q) = %d, %v, want %d", text, got, ok, want)
		}
	}
	want := map[string]int16{FeatureKRaftVersion: 1, FeatureTransaction: 2, FeatureGroup: 1, FeatureELR: 1, FeatureShare: 2, FeatureStreams: 1}
	for _, f := range Features() {
		if got := f.DefaultLevel(LatestMetadataVersion); got != want[f.Name] || got != f.Max() {
			t.Errorf("%s: default %d, want %d", f.Name, got, want[f.Name])
		}
		if got := f.DefaultLevel(MinMetadataVersion); got != 0 {
			t.Errorf("%s: default at the oldest level is %d", f.Name, got)
		}
	}
}

// The pairs were tried on Apache Kafka 4.4.0, or follow from MetadataVersion.
func TestLevelsThatWriteWhatLowerOnesDoNotRead(t *testing.T) {
	for _, c := range []struct {
		low, high MetadataVersion
		want      bool
	}{{32, 33, true}, {30, 33, true}, {30, 31, false}, {24, 29, false}, {22, 23, true}, {9, 10, false}, {33, 33, false}} {
		if got := MetadataChanged(c.low, c.high); got != c.want {
			t.Errorf("%d to %d: %v", c.high, c.low, got)
		}
	}
}

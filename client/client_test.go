package client

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestPropertiesReachTheEngine(t *testing.T) {
	cl, warnings, err := New(Producer, map[string]string{"bootstrap.servers": "127.0.0.1:1", "acks": "1", "linger.ms": "7",
		"client.id": "me", "compression.type": "zstd", "nonsense": "1", "isolation.level": "read_committed"})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if got := cl.OptValue(kgo.ClientID); got != "me" {
		t.Errorf("client id %v", got)
	}
	if got := cl.OptValue(kgo.DisableIdempotentWrite); got != true {
		t.Errorf("acks=1 keeps idempotence on: %v", got)
	}
	want := []string{
		"The configuration 'isolation.level' means nothing to the producer client.",
		"The configuration 'nonsense' was supplied but isn't a known config.",
	}
	if strings.Join(warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestBadValuesAreRefused(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"acks", "2", "Invalid value 2 for configuration acks: String must be one of: all, -1, 0, 1"},
		{"linger.ms", "x", "Invalid value x for configuration linger.ms: Not a number of type LONG"},
		{"security.protocol", "SSL", "Invalid value SSL for configuration security.protocol: this release has no secured client connections, only PLAINTEXT"},
	} {
		_, _, err := Options(Producer, map[string]string{c.name: c.value})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
}

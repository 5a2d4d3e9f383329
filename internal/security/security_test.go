package security

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAuthorizedOperationsAreApachesBits(t *testing.T) {
	for _, c := range []struct {
		resource kmsg.ACLResourceType
		want     int32
	}{
		{kmsg.ACLResourceTypeTopic, 0b1101_1111_1000},     // READ to DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS
		{kmsg.ACLResourceTypeGroup, 0b1101_0100_1000},     // READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS
		{kmsg.ACLResourceTypeCluster, 0b1_1111_1010_0000}, // CREATE, ALTER to IDEMPOTENT_WRITE
	} {
		if got := AuthorizedOperations(AllowAll{}, Client{}, c.resource, "x"); got != c.want {
			t.Errorf("%v: %b, want %b", c.resource, got, c.want)
		}
		if got := AuthorizedOperations(DenyAll{}, Client{}, c.resource, "x"); got != 0 {
			t.Errorf("%v: %b for whom nothing is allowed", c.resource, got)
		}
	}
}

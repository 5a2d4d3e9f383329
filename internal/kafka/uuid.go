package kafka

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
)

// UUID is Kafka's Uuid: 16 bytes, most significant first.
type UUID [16]byte

// Ids with a meaning of their own. The first hundred are reserved.
var (
	ZeroUUID            = UUID{}                // no id
	MetadataTopicID     = UUID{15: 1}           // topic id of __cluster_metadata
	DirectoryMigrating  = UUID{}                // DirectoryId.MIGRATING
	DirectoryUnassigned = UUID{15: 1}           // DirectoryId.UNASSIGNED
	DirectoryLost       = UUID{15: 2}           // DirectoryId.LOST
	uuidText            = base64.RawURLEncoding // 22 characters
)

// IsZero says whether u is the zero id.
func (u UUID) IsZero() bool { return u == UUID{} }

// Reserved says whether u is one of the hundred ids that Kafka keeps for itself.
func (u UUID) Reserved() bool {
	return binary.BigEndian.Uint64(u[:8]) == 0 && binary.BigEndian.Uint64(u[8:]) < 100
}

// String is Kafka's text form: URL-safe base64 without padding.
func (u UUID) String() string { return uuidText.EncodeToString(u[:]) }

// ParseUUID reads the text form.
func ParseUUID(s string) (UUID, error) {
	var u UUID
	if len(s) > 24 {
		return u, fmt.Errorf("uuid %q: longer than 24 characters", s[:24])
	}
	b, err := uuidText.DecodeString(s)
	if err != nil {
		return u, fmt.Errorf("uuid %q: %w", s, err)
	}
	if len(b) != len(u) {
		return u, fmt.Errorf("uuid %q: %d bytes, want 16", s, len(b))
	}
	return UUID(b), nil
}

// RandomUUID draws an id from r that is not reserved and whose text does not
// begin with '-', which command lines would take for a flag. It has the version
// bits of a random UUID, as java.util.UUID gives them.
func RandomUUID(r io.Reader) (UUID, error) {
	for {
		var u UUID
		if _, err := io.ReadFull(r, u[:]); err != nil {
			return UUID{}, fmt.Errorf("random uuid: %w", err)
		}
		u[6] = u[6]&0x0f | 0x40
		u[8] = u[8]&0x3f | 0x80
		if !u.Reserved() && u.String()[0] != '-' {
			return u, nil
		}
	}
}

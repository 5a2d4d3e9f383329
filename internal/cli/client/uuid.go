package client

import (
	"encoding/base64"
	"strings"

	"barnabas/internal/kafka"
)

// parseUUID reads an id that a user typed. The texts are those of Java's decoder
// and of Kafka's Uuid class.
func parseUUID(text string) (kafka.UUID, error) {
	if len(text) > 24 {
		return kafka.UUID{}, illegalArgument("Input string with prefix `%s` is too long to be decoded as a base64 UUID", text[:24])
	}
	if len(text) == 1 {
		return kafka.UUID{}, illegalArgument("Input byte[] should at least have 2 bytes for base64 bytes")
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return kafka.UUID{}, illegalArgument("%s is not the base64 of an id: %s", text, err)
	}
	if len(b) != len(kafka.UUID{}) {
		return kafka.UUID{}, illegalArgument("Input string `%s` decoded as %d bytes, which is not equal to the expected 16 bytes of a base64-encoded UUID", text, len(b))
	}
	return kafka.UUID(b), nil
}

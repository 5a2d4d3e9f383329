package client

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The documents are those that Apache Kafka 4.4.0 prints of these bytes.
func TestFormattersOfInternalTopics(t *testing.T) {
	offsetKey := "0001" + "000167" + "000174" + "00000000" // group g, topic t
	for _, c := range []struct{ class, key, value, want string }{
		{"OffsetsMessageFormatter", offsetKey, "", `{"key":{"type":1,"data":{"group":"g","topic":"t","partition":0}},"value":null}`},
		{"OffsetsMessageFormatter", offsetKey, "0001" + "0000000000000005" + "0000" + "0000000000000007" + "ffffffffffffffff",
			`{"key":{"type":1,"data":{"group":"g","topic":"t","partition":0}},"value":{"version":1,"data":{"offset":5,"metadata":"","commitTimestamp":7,"expireTimestamp":-1}}}`},
		{"OffsetsMessageFormatter", "0002" + "000167", "", ""},
		{"OffsetsMessageFormatter", "7fff", "", ""},
		{"GroupMetadataMessageFormatter", "0002" + "000167", "", `{"key":{"type":2,"data":{"group":"g"}},"value":null}`},
		{"GroupMetadataMessageFormatter", offsetKey, "", ""},
		{"TransactionLogMessageFormatter", "0000" + "000178", "", `{"key":{"type":0,"data":{"transactionalId":"x"}},"value":null}`},
		{"NoOpMessageFormatter", "00", "00", ""},
	} {
		p, err := printerOf(formatters + c.class)
		if err != nil {
			t.Fatal(err)
		}
		r := &kgo.Record{Key: unhex(t, c.key), Value: unhex(t, c.value)}
		var out strings.Builder
		if err := p.print(&out, r); err != nil || out.String() != c.want {
			t.Errorf("%s %s: %v\n%s\nwant\n%s", c.class, c.key, err, out.String(), c.want)
		}
	}
	if _, err := printerOf("my.Formatter"); err == nil {
		t.Error("a class that is not there is taken")
	}
}

// unhex is nil for "".
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	if text == "" {
		return nil
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

package image

import (
	"encoding/binary"
	"os"
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// FuzzReplay replays records, each behind its length, in batches of three. What was
// accepted must come back from its own snapshot.
func FuzzReplay(f *testing.F) {
	for _, path := range []string{goldenLog, goldenSnapshot} {
		file, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var seed []byte
		for len(file) > 0 {
			raw, rest, err := record.Next(file)
			if err != nil {
				f.Fatal(err)
			}
			file = rest
			var it record.Iterator
			for it.Reset(raw); !raw.IsControl() && it.Next() && len(seed) < 3000; {
				seed = binary.AppendUvarint(seed, uint64(len(it.Record().Value)))
				seed = append(seed, it.Record().Value...)
			}
			it.Close()
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := NewStream(Empty())
		for len(data) > 0 {
			b := Batch{BaseOffset: s.Reached().Offset + 1}
			for range 3 {
				size, n := binary.Uvarint(data)
				if n <= 0 || size > uint64(len(data)-n) {
					data = nil
					break
				}
				m, _, err := metarec.Decode(data[n : n+int(size)])
				if err != nil {
					return
				}
				b.Records = append(b.Records, m)
				data = data[n+int(size):]
			}
			b.LastOffset = b.BaseOffset + kafka.Offset(len(b.Records)) - 1
			if _, err := s.Apply(b); err != nil {
				return
			}
		}
		img := s.Shown()
		copied := rebuilt(t, img)
		if d := Diff(img, copied); len(d.Brokers)+len(d.Controllers)+len(d.Configs)+len(d.ACLs)+len(d.SCRAM)+len(d.Tokens) > 0 ||
			copied.Topics.Len() != img.Topics.Len() || copied.Topics.Partitions() != img.Topics.Partitions() {
			t.Fatalf("the snapshot gives another image: %+v", d)
		}
	})
}

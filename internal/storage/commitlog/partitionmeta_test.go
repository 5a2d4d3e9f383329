package commitlog

import (
	"strings"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

func TestPartitionMetadata(t *testing.T) {
	id, err := kafka.ParseUUID("brKNDICzQrCVXFONy744mA")
	must(t, err)
	text := "version: 0\ntopic_id: brKNDICzQrCVXFONy744mA" // as Apache Kafka 4.4.0 wrote it
	mem := vfs.NewMem(nil)
	must(t, mem.MkdirAll(testDir))
	if _, found, err := ReadPartitionMetadata(mem, testDir); found || err != nil {
		t.Errorf("without a file: %v, %v", found, err)
	}
	must(t, WritePartitionMetadata(mem, testDir, id))
	if got, err := vfs.ReadFile(mem, testDir+"/partition.metadata"); err != nil || string(got) != text {
		t.Errorf("wrote %q, %v", got, err)
	}
	if got, found, err := ReadPartitionMetadata(mem, testDir); got != id || !found || err != nil {
		t.Errorf("read back %v, %v, %v", got, found, err)
	}
	for _, good := range []string{text, text + "\n", strings.ReplaceAll(text, "\n", "\r\n")} {
		if got, err := parsePartitionMetadata(good); err != nil || got != id {
			t.Errorf("%q: %v, %v", good, got, err)
		}
	}
	for _, bad := range []string{"", "version: 1\ntopic_id: brKNDICzQrCVXFONy744mA", "version: 0", "version: 0\ntopic_id: x",
		"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", "topic_id: brKNDICzQrCVXFONy744mA\nversion: 0"} {
		if got, err := parsePartitionMetadata(bad); err == nil {
			t.Errorf("%q gives %v", bad, got)
		}
	}
}

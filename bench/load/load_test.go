package load

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// frameOf is an answer as it comes from the socket.
func frameOf(resp kmsg.Response) []byte {
	b := []byte{0, 0, 0, 0, 0, 0, 0, correlationID, 0}
	b = resp.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func TestBatchFillsItsSize(t *testing.T) {
	for _, size := range []int{1 << 10, 16 << 10, 1 << 20} {
		b, records := encodeBatch(size, 100)
		if len(b) > size || len(b) < size-120 {
			t.Errorf("batch of %d bytes for a size of %d", len(b), size)
		}
		if got := int(binary.BigEndian.Uint32(b[57:])); got != records || records < size/120 {
			t.Errorf("%d records in the header, %d were said, in %d bytes", got, records, size)
		}
	}
	if _, records := encodeBatch(10, 100); records != 1 {
		t.Errorf("a size smaller than a record gives %d records", records)
	}
}

func TestProducedErrorIsSeen(t *testing.T) {
	resp := kmsg.NewPtrProduceResponse()
	resp.SetVersion(13)
	topic := kmsg.NewProduceResponseTopic()
	topic.TopicID = [16]byte{1, 2, 3}
	topic.Partitions = append(topic.Partitions, kmsg.NewProduceResponseTopicPartition())
	resp.Topics = append(resp.Topics, topic)
	if err := checkProduced(frameOf(resp)); err != nil {
		t.Error(err)
	}
	resp.Topics[0].Partitions[0].ErrorCode = 6
	if err := checkProduced(frameOf(resp)); err == nil {
		t.Error("error code 6 is not seen")
	}
	if err := checkProduced(frameOf(resp)[:20]); err == nil {
		t.Error("a cut answer is not seen")
	}
}

func TestConsumerReadsWholeBatchesOfAnAnswer(t *testing.T) {
	batch, records := encodeBatch(1000, 100)
	second := append([]byte(nil), batch...)
	binary.BigEndian.PutUint64(second, uint64(records))
	resp := kmsg.NewPtrFetchResponse()
	resp.SetVersion(17)
	resp.SessionID = 99
	topic := kmsg.NewFetchResponseTopic()
	partition := kmsg.NewFetchResponseTopicPartition()
	partition.RecordBatches = append(append(append([]byte(nil), batch...), second...), batch[:100]...)
	topic.Partitions = append(topic.Partitions, partition)
	resp.Topics = append(resp.Topics, topic)

	c := newConsumer(nil, Consume{FetchBytes: 4096}, 0)
	c.answer = frameOf(resp)
	b, err := c.parse()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.advance(b); err != nil {
		t.Fatal(err)
	}
	if c.partition.FetchOffset != int64(2*records) || c.records != int64(2*records) || c.bytes != int64(2*len(batch)) || c.req.SessionID != 99 {
		t.Errorf("offset %d, %d records, %d bytes, session %d", c.partition.FetchOffset, c.records, c.bytes, c.req.SessionID)
	}
	for name, spoil := range map[string]func(){
		"error":           func() { resp.ErrorCode = 71 },
		"partition error": func() { resp.Topics[0].Partitions[0].ErrorCode = 1 },
		"no topic":        func() { resp.Topics = nil },
	} {
		was := *resp
		spoil()
		c.answer = frameOf(resp)
		if _, err := c.parse(); err == nil {
			t.Errorf("%s is not seen", name)
		}
		*resp = was
		if len(resp.Topics) > 0 {
			resp.Topics[0].Partitions[0].ErrorCode = 0
		}
	}
	if err := c.advance(batch[:100]); err == nil {
		t.Error("an answer without a whole batch is taken")
	}
}

func TestCutFrame(t *testing.T) {
	b := []byte{0, 0, 0, 2, 'a', 'b', 0, 0, 0, 1}
	frame, rest, ok := cutFrame(b)
	if !ok || string(frame[4:]) != "ab" || len(rest) != 4 {
		t.Error(frame, rest, ok)
	}
	if _, _, ok := cutFrame(rest); ok {
		t.Error("half a frame is taken for a whole one")
	}
}

func TestPercentile(t *testing.T) {
	var l Latencies
	for i := range 1000 {
		l = append(l, time.Duration(999-i))
	}
	if p := l.Percentile(0.5); p != 500 {
		t.Error(p)
	}
	if p := l.Percentile(0.99); p != 990 {
		t.Error(p)
	}
	if p := l.Percentile(1); p != 999 {
		t.Error(p)
	}
	if p := Latencies(nil).Percentile(0.5); p != 0 {
		t.Error(p)
	}
}

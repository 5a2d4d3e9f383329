package client

import (
	"fmt"
	"io"
	"time"
)

// topicWhy is why old records of a topic are still there.
type topicWhy struct {
	Topic      string
	Partitions []struct {
		Partition int32
		Reasons   []struct{ Text string }
		Facts     struct {
			State                        string
			Bytes                        int64
			Segments                     int
			LogStartOffset, LogEndOffset int64
		}
	}
}

func (a *topicWhy) print(w io.Writer, _ time.Time) {
	for _, p := range a.Partitions {
		fmt.Fprintf(w, "%s-%d", a.Topic, p.Partition)
		if f := p.Facts; f.State == "online" {
			fmt.Fprintf(w, ": offsets %d to %d, %s in %s", f.LogStartOffset, f.LogEndOffset, counted(f.Bytes, "byte"), counted(f.Segments, "segment"))
		}
		fmt.Fprintln(w)
		for _, r := range p.Reasons {
			fmt.Fprintf(w, "  - %s\n", r.Text)
		}
	}
}

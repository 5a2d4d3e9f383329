package history

import (
	"cmp"
	"fmt"
	"slices"
)

// Name is a kind of anomaly.
type Name string

// The anomalies; the package comment says what they mean.
const (
	Lost                Name = "lost"
	Duplicate           Name = "duplicate"
	Phantom             Name = "phantom"
	AbortedRead         Name = "aborted read"
	Torn                Name = "torn"
	Skipped             Name = "skipped"
	OutOfOrder          Name = "out of order"
	InconsistentOffsets Name = "inconsistent offsets"
)

// Anomaly is something that Kafka promises not to happen.
type Anomaly struct {
	Name   Name
	Detail string
}

func (a Anomaly) String() string { return string(a.Name) + ": " + a.Detail }

// checker gathers what it finds.
type checker struct {
	*index
	events []Event
	found  []Anomaly
}

func (c *checker) add(name Name, format string, args ...any) {
	c.found = append(c.found, Anomaly{name, fmt.Sprintf(format, args...)})
}

// Check gives the anomalies of a history that is over, by name.
func Check(events []Event) []Anomaly {
	c := &checker{index: newIndex(events), events: events}
	c.checkSends()
	c.checkLogs()
	c.checkTransactions()
	c.checkOrderOfProducers()
	c.checkConsumers()
	c.checkOffsets()
	c.checkTransformations()
	slices.SortStableFunc(c.found, func(a, b Anomaly) int { return cmp.Compare(a.Name, b.Name) })
	return c.found
}

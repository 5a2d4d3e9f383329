package client

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// resetPolicy is auto.offset.reset: where to begin when nothing is committed, or when
// what is committed is no longer there.
type resetPolicy struct {
	kind resetKind
	ago  time.Duration // by_duration
}

type resetKind int

const (
	toLatest resetKind = iota
	toEarliest
	toNone
	byDuration
)

// resetOf takes auto.offset.reset out of properties where it is by_duration, which the
// translation doesn't know.
func resetOf(properties Properties) (resetPolicy, Properties, error) {
	const name = "auto.offset.reset"
	value := values(properties).text(name, "latest")
	kind, ok := map[string]resetKind{"latest": toLatest, "earliest": toEarliest, "none": toNone}[strings.ToLower(value)]
	if ok {
		return resetPolicy{kind: kind}, properties, nil
	}
	duration, ok := strings.CutPrefix(strings.ToLower(value), "by_duration:")
	if !ok {
		return resetPolicy{}, properties, nil // the translation says what is wrong
	}
	ago, err := isoDuration(duration)
	if err != nil {
		return resetPolicy{}, nil, invalid(name, value, err)
	}
	properties = maps.Clone(properties)
	delete(properties, name)
	return resetPolicy{byDuration, ago}, properties, nil
}

// iso is what java.time.Duration.parse takes.
var iso = regexp.MustCompile(`^([-+]?)p(?:([-+]?\d+)d)?(?:(t)(?:([-+]?\d+)h)?(?:([-+]?\d+)m)?(?:([-+]?\d+(?:[.,]\d{0,9})?)s)?)?$`)

// isoDuration reads a duration such as P1D or PT1H30M, in small letters; Kafka refuses
// negative ones.
func isoDuration(s string) (time.Duration, error) {
	m := iso.FindStringSubmatch(s)
	if m == nil || m[2]+m[4]+m[5]+m[6] == "" || m[3] != "" && m[4]+m[5]+m[6] == "" {
		return 0, fmt.Errorf("%q is not an ISO 8601 duration", s)
	}
	var seconds float64
	for i, unit := range map[int]float64{2: 86400, 4: 3600, 5: 60, 6: 1} {
		if m[i] == "" {
			continue
		}
		n, err := strconv.ParseFloat(strings.Replace(m[i], ",", ".", 1), 64)
		if err != nil {
			return 0, err
		}
		seconds += n * unit
	}
	if m[1] == "-" {
		seconds = -seconds
	}
	if seconds < 0 {
		return 0, fmt.Errorf("negative durations are not allowed")
	}
	if seconds > float64(1<<33) {
		return 0, fmt.Errorf("the duration is longer than 200 years")
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// engine is the policy for offsets that are no longer in the log.
func (r resetPolicy) engine() kgo.Opt {
	switch r.kind {
	case toEarliest:
		return kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
	case toNone:
		return kgo.ConsumeResetOffset(kgo.NoResetOffset())
	case byDuration:
		return kgo.ConsumeResetOffset(kgo.LookbackOffset(r.ago))
	}
	return kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd())
}

// initial finds where to begin partitions for which nothing is committed. With none
// the error wraps ErrNoOffset.
func (c *Consumer) initial(ctx context.Context, partitions []TopicPartition) (map[TopicPartition]int64, error) {
	switch {
	case len(partitions) == 0:
		return nil, nil
	case c.reset.kind == toNone:
		return nil, fmt.Errorf("%w: %v", ErrNoOffset, partitions)
	case c.reset.kind == toEarliest:
		return c.list(ctx, beginning, 0, partitions)
	case c.reset.kind == byDuration:
		return c.list(ctx, atTime, time.Now().Add(-c.reset.ago).UnixMilli(), partitions)
	}
	return c.list(ctx, end, 0, partitions)
}

type listKind int

const (
	beginning listKind = iota
	end
	atTime
)

// list lists offsets of partitions. The end is that of isolation.level. A time that
// has no record is the end.
func (c *Consumer) list(ctx context.Context, kind listKind, milli int64, partitions []TopicPartition) (map[TopicPartition]int64, error) {
	listed, err := listOffsets(ctx, c.admin(), kind, milli, c.committed, partitions)
	if err != nil {
		return nil, err
	}
	offsets := make(map[TopicPartition]int64, len(partitions))
	for tp, l := range listed {
		offsets[tp] = l.Offset
	}
	return offsets, nil
}

func listOffsets(ctx context.Context, adm *kadm.Client, kind listKind, milli int64, stable bool, partitions []TopicPartition) (map[TopicPartition]kadm.ListedOffset, error) {
	if len(partitions) == 0 {
		return nil, nil
	}
	topics := slices.Sorted(maps.Keys(byTopic(partitions)))
	var listed kadm.ListedOffsets
	var err error
	switch {
	case kind == beginning:
		listed, err = adm.ListStartOffsets(ctx, topics...)
	case kind == atTime:
		listed, err = adm.ListOffsetsAfterMilli(ctx, milli, topics...)
	case stable:
		listed, err = adm.ListCommittedOffsets(ctx, topics...)
	default:
		listed, err = adm.ListEndOffsets(ctx, topics...)
	}
	if err != nil {
		return nil, err
	}
	found := make(map[TopicPartition]kadm.ListedOffset, len(partitions))
	for _, tp := range partitions {
		l, ok := listed.Lookup(tp.Topic, tp.Partition)
		if !ok {
			l.Err = kerr.UnknownTopicOrPartition
		}
		if l.Err != nil {
			return nil, refusal("partition "+tp.String(), l.Err, "")
		}
		found[tp] = l
	}
	return found, nil
}

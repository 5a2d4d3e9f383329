package client

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"barnabas/internal/kafka"
)

// exportCSV writes new offsets as "topic,partition,offset", with the group before
// it if withGroup. Fields are quoted as Jackson does it: long ones, and those with
// a character up to the comma.
func exportCSV(results []groupOffsets, withGroup bool) string {
	var b strings.Builder
	for _, r := range results {
		for _, n := range r.offsets {
			if withGroup {
				b.WriteString(csvField(r.group) + ",")
			}
			fmt.Fprintf(&b, "%s,%d,%d\n", csvField(n.partition.Topic), n.partition.Partition, n.offset)
		}
	}
	return b.String()
}

// unquotedLength is the length up to which Jackson looks whether quotes are needed.
const unquotedLength = 24

func csvField(text string) string {
	if len(text) <= unquotedLength && !strings.ContainsFunc(text, func(r rune) bool { return r <= ',' }) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// resetPlan reads what exportCSV writes: lines of a group only, or of any group
// with its name first.
func resetPlan(text, only string) (map[string][]newOffset, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil {
		return nil, planError(err.Error())
	}
	plan := map[string][]newOffset{}
	withGroup := only == "" || len(lines) > 0 && len(lines[0]) == 4
	for i, fields := range lines {
		group := only
		if withGroup && len(fields) > 0 {
			group, fields = fields[0], fields[1:]
		}
		if len(fields) != 3 {
			return nil, planError(fmt.Sprintf("line %d does not have topic, partition and offset", i+1))
		}
		partition, err := parseInt32(strings.TrimSpace(fields[1]))
		if err != nil {
			return nil, planError(fmt.Sprintf("line %d: partition %q is not a number", i+1, fields[1]))
		}
		offset, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 64)
		if err != nil {
			return nil, planError(fmt.Sprintf("line %d: offset %q is not a number", i+1, fields[2]))
		}
		plan[group] = append(plan[group], newOffset{kafka.TopicPartition{Topic: fields[0], Partition: partition}, offset})
	}
	return plan, nil
}

func planError(text string) error {
	return &failure{runtimeException, "the file of --from-file: " + text}
}

func parseInt32(text string) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err
}

// parseDateTime reads YYYY-MM-DDThh:mm:ss.sss, in UTC unless a zone follows, to
// milliseconds since 1970.
func parseDateTime(text string) (int64, error) {
	unparseable := func(why string) error {
		return &failure{runtimeException, "java.text.ParseException: " + why}
	}
	_, clock, found := strings.Cut(text, "T")
	switch {
	case !found:
		return 0, unparseable("Error parsing timestamp. It does not contain a 'T' according to ISO8601 format")
	case clock == "":
		return 0, unparseable("Error parsing timestamp. Time part after 'T' is null or empty")
	}
	if !strings.ContainsAny(clock, "+-Z") {
		text += "Z"
	}
	for _, layout := range []string{"2006-01-02T15:04:05.000Z07:00", "2006-01-02T15:04:05.000Z0700", "2006-01-02T15:04:05.000Z07"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UnixMilli(), nil
		}
	}
	return 0, unparseable(fmt.Sprintf("Unparseable date: %q", text))
}

// isoDuration is a duration as java.time.Duration reads it.
var isoDuration = regexp.MustCompile(`(?i)^([-+]?)P(?:([-+]?[0-9]+)D)?(?:T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?$`)

// parseDuration reads PnDTnHnMn.nS.
func parseDuration(text string) (time.Duration, error) {
	m := isoDuration.FindStringSubmatch(text)
	if m == nil || strings.HasSuffix(strings.ToUpper(text), "T") || m[2]+m[3]+m[4]+m[5] == "" {
		return 0, &failure{"java.time.format.DateTimeParseException", "Text cannot be parsed to a Duration"}
	}
	var total time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if m[i+2] == "" {
			continue
		}
		n, err := strconv.ParseInt(m[i+2], 10, 64)
		if err != nil || n > int64(maxDuration/unit) || n < -int64(maxDuration/unit) {
			return 0, &failure{"java.time.format.DateTimeParseException", "Text cannot be parsed to a Duration: it is too long"}
		}
		total += time.Duration(n) * unit
	}
	if fraction := m[6]; fraction != "" {
		n, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
		if err != nil {
			return 0, err
		}
		if strings.HasPrefix(m[5], "-") {
			n = -n
		}
		total += time.Duration(n)
	}
	if m[1] == "-" {
		total = -total
	}
	return total, nil
}

// maxDuration bounds each part of a duration, so that their sum cannot overflow.
const maxDuration = 70 * 365 * 24 * time.Hour

package telemetry

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// point is a number of a message. Numbers of fields are those of
// opentelemetry/proto/metrics/v1/metrics.proto.
type point struct {
	metric     string
	attributes string // "a=b,c=d", sorted
	value      float64
	delta      bool // the change since the last push
}

// temporalityDelta is AGGREGATION_TEMPORALITY_DELTA.
const temporalityDelta = 1

// maxText bounds a metric's name and its attributes, in bytes.
const maxText = 512

// readMetrics gives the numbers of a MetricsData message.
func readMetrics(message []byte, tell func(point)) error {
	return nested(message, 1, func(resource []byte) error { // resource_metrics
		return nested(resource, 2, func(scope []byte) error { // scope_metrics
			return nested(scope, 2, func(metric []byte) error { return readMetric(metric, tell) }) // metrics
		})
	})
}

// nested calls f for each field of the id that is a message.
func nested(message []byte, id int, f func([]byte) error) error {
	return eachField(message, func(at field) error {
		if at.id != id || at.wire != wireBytes {
			return nil
		}
		return f(at.bytes)
	})
}

func readMetric(message []byte, tell func(point)) error {
	var name string
	var gauge, sum []byte
	err := eachField(message, func(at field) error {
		switch {
		case at.wire != wireBytes:
		case at.id == 1:
			name = bounded(string(at.bytes))
		case at.id == 5:
			gauge = at.bytes
		case at.id == 7:
			sum = at.bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := readPoints(name, gauge, false, tell); err != nil {
		return err
	}
	delta := false
	if err := eachField(sum, func(at field) error {
		delta = delta || at.id == 2 && at.number == temporalityDelta
		return nil
	}); err != nil {
		return err
	}
	return readPoints(name, sum, delta, tell)
}

// readPoints reads the NumberDataPoints of a gauge or sum.
func readPoints(name string, message []byte, delta bool, tell func(point)) error {
	return nested(message, 1, func(data []byte) error {
		p := point{metric: name, delta: delta}
		var attributes []string
		err := eachField(data, func(at field) error {
			switch {
			case at.id == 4 && at.wire == wireFixed64:
				p.value = math.Float64frombits(at.number)
			case at.id == 6 && at.wire == wireFixed64:
				p.value = float64(int64(at.number))
			case at.id == 7 && at.wire == wireBytes:
				text, err := readAttribute(at.bytes)
				attributes = append(attributes, text)
				return err
			}
			return nil
		})
		slices.Sort(attributes)
		p.attributes = bounded(strings.Join(attributes, ","))
		if err == nil {
			tell(p)
		}
		return err
	})
}

// readAttribute is a KeyValue as "key=value".
func readAttribute(message []byte) (string, error) {
	var key, value string
	err := eachField(message, func(at field) error {
		switch {
		case at.wire != wireBytes:
		case at.id == 1:
			key = string(at.bytes)
		case at.id == 2:
			return eachField(at.bytes, func(v field) error { value = anyValue(v); return nil })
		}
		return nil
	})
	return key + "=" + value, err
}

// anyValue is the text of a string, bool, int or double; other kinds have none.
func anyValue(v field) string {
	switch {
	case v.id == 1 && v.wire == wireBytes:
		return string(v.bytes)
	case v.id == 2 && v.wire == wireVarint:
		return strconv.FormatBool(v.number != 0)
	case v.id == 3 && v.wire == wireVarint:
		return strconv.FormatInt(int64(v.number), 10)
	case v.id == 4 && v.wire == wireFixed64:
		return strconv.FormatFloat(math.Float64frombits(v.number), 'g', -1, 64)
	}
	return ""
}

// bounded cuts a text to its limit and to what is valid UTF-8.
func bounded(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "�")
}

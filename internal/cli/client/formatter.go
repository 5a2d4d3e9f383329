package client

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/internal/kafka"
)

// formatter prints records (class DefaultMessageFormatter).
type formatter struct {
	timestamp, key, offset, delivery, epoch, partition, headers, value bool

	keySeparator, lineSeparator, headersSeparator string
	nullLiteral                                   string

	keys, values, headerValues deserializer
}

const defaultFormatterClass = "org.apache.kafka.tools.consumer.DefaultMessageFormatter"

// newFormatter reads the properties of --formatter-property and the deserializers
// of the flags, which go before those of the properties.
func newFormatter(properties map[string]string, keyDeserializer, valueDeserializer string) (*formatter, error) {
	f := &formatter{value: true, keySeparator: "\t", lineSeparator: "\n", headersSeparator: ",", nullLiteral: "null"}
	for name, target := range map[string]*bool{"print.timestamp": &f.timestamp, "print.key": &f.key, "print.offset": &f.offset,
		"print.delivery": &f.delivery, "print.epoch": &f.epoch, "print.partition": &f.partition, "print.headers": &f.headers, "print.value": &f.value} {
		if v, ok := properties[name]; ok {
			*target = strings.EqualFold(strings.TrimSpace(v), "true")
		}
	}
	for name, target := range map[string]*string{"key.separator": &f.keySeparator, "line.separator": &f.lineSeparator,
		"headers.separator": &f.headersSeparator, "null.literal": &f.nullLiteral} {
		if v, ok := properties[name]; ok {
			*target = v
		}
	}
	for _, d := range []struct {
		target *deserializer
		name   string
	}{
		{&f.keys, cmp.Or(keyDeserializer, properties["key.deserializer"])},
		{&f.values, cmp.Or(valueDeserializer, properties["value.deserializer"])},
		{&f.headerValues, properties["headers.deserializer"]},
	} {
		var err error
		if *d.target, err = deserializerOf(d.name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// print writes one record. An error of w is returned, one of a deserializer too.
func (f *formatter) print(w io.Writer, r *kgo.Record) error {
	var parts []string
	if f.timestamp {
		parts = append(parts, timestampText(r))
	}
	if f.partition {
		parts = append(parts, "Partition:"+strconv.Itoa(int(r.Partition)))
	}
	if f.offset {
		parts = append(parts, "Offset:"+strconv.FormatInt(r.Offset, 10))
	}
	if f.delivery {
		parts = append(parts, "Delivery:NOT_PRESENT")
	}
	if f.epoch {
		parts = append(parts, "Epoch:NOT_PRESENT")
	}
	if f.headers {
		text, err := f.headersText(r.Headers)
		if err != nil {
			return err
		}
		parts = append(parts, text)
	}
	for _, field := range []struct {
		on    bool
		bytes []byte
		read  deserializer
	}{{f.key, r.Key, f.keys}, {f.value, r.Value, f.values}} {
		if field.on {
			text, err := f.text(field.bytes, field.read)
			if err != nil {
				return err
			}
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return nil // a line ends after its last field, so no field is no line
	}
	_, err := io.WriteString(w, strings.Join(parts, f.keySeparator)+f.lineSeparator)
	return err
}

func timestampText(r *kgo.Record) string {
	if r.Timestamp.UnixMilli() == kafka.NoTimestamp {
		return "NO_TIMESTAMP"
	}
	kind := "CreateTime"
	if r.Attrs.TimestampType() == 1 {
		kind = "LogAppendTime"
	}
	return fmt.Sprintf("%s:%d", kind, r.Timestamp.UnixMilli())
}

func (f *formatter) headersText(headers []kgo.RecordHeader) (string, error) {
	if len(headers) == 0 {
		return "NO_HEADERS", nil
	}
	var parts []string
	for _, h := range headers {
		text, err := f.text(h.Value, f.headerValues)
		if err != nil {
			return "", err
		}
		parts = append(parts, h.Key+":"+text)
	}
	return strings.Join(parts, f.headersSeparator), nil
}

func (f *formatter) text(b []byte, read deserializer) (string, error) {
	if b == nil {
		return f.nullLiteral, nil
	}
	return read(b)
}

// deserializer turns bytes into what is printed.
type deserializer func([]byte) (string, error)

// deserializerOf knows Apache's deserializers by their Java names.
func deserializerOf(class string) (deserializer, error) {
	switch strings.TrimPrefix(class, "org.apache.kafka.common.serialization.") {
	case "", "StringDeserializer", "ByteArrayDeserializer":
		return func(b []byte) (string, error) { return string(b), nil }, nil
	case "ShortDeserializer":
		return fixed(2, func(b []byte) string { return strconv.Itoa(int(int16(binary.BigEndian.Uint16(b)))) }), nil
	case "IntegerDeserializer":
		return fixed(4, func(b []byte) string { return strconv.Itoa(int(int32(binary.BigEndian.Uint32(b)))) }), nil
	case "LongDeserializer":
		return fixed(8, func(b []byte) string { return strconv.FormatInt(int64(binary.BigEndian.Uint64(b)), 10) }), nil
	case "FloatDeserializer":
		return fixed(4, func(b []byte) string {
			return strconv.FormatFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 'g', -1, 32)
		}), nil
	case "DoubleDeserializer":
		return fixed(8, func(b []byte) string {
			return strconv.FormatFloat(math.Float64frombits(binary.BigEndian.Uint64(b)), 'g', -1, 64)
		}), nil
	case "BooleanDeserializer":
		return fixed(1, func(b []byte) string { return strconv.FormatBool(b[0] != 0) }), nil
	}
	return nil, fmt.Errorf("deserializer %s is not supported: there are no Java classes here, only Kafka's own for strings, byte arrays, numbers and booleans", class)
}

func fixed(size int, read func([]byte) string) deserializer {
	return func(b []byte) (string, error) {
		if len(b) != size {
			return "", fmt.Errorf("Size of data received by deserializer is not %d", size)
		}
		return read(b), nil
	}
}

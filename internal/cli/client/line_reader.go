package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// lineReader turns lines into records (class LineMessageReader).
type lineReader struct {
	in   *bufio.Reader
	line int

	topic                                 string
	parseKey, parseHeaders                bool
	keySeparator                          string
	headersDelimiter                      string // between headers and the rest
	headersSeparator, headersKeySeparator string
	ignoreError                           bool
	nullMarker                            string
	hasNullMarker                         bool
}

// maxLine bounds a line, so that a stream without line ends can't fill memory.
const maxLine = 1 << 30

func newLineReader(in io.Reader, topic string, properties map[string]string) (*lineReader, error) {
	r := &lineReader{in: bufio.NewReaderSize(in, 64<<10), topic: topic, keySeparator: "\t", headersDelimiter: "\t",
		headersSeparator: ",", headersKeySeparator: ":"}
	for name, target := range map[string]*string{"key.separator": &r.keySeparator, "headers.delimiter": &r.headersDelimiter,
		"headers.separator": &r.headersSeparator, "headers.key.separator": &r.headersKeySeparator, "null.marker": &r.nullMarker} {
		if v, ok := properties[name]; ok {
			*target = v
		}
	}
	_, r.hasNullMarker = properties["null.marker"]
	for name, target := range map[string]*bool{"parse.key": &r.parseKey, "parse.headers": &r.parseHeaders, "ignore.error": &r.ignoreError} {
		*target = strings.EqualFold(strings.TrimSpace(properties[name]), "true")
	}
	if r.keySeparator == r.nullMarker && r.hasNullMarker {
		return nil, errors.New("null.marker and key.separator may not be equal")
	}
	if r.headersSeparator == r.headersKeySeparator {
		return nil, errors.New("headers.separator and headers.key.separator may not be equal")
	}
	return r, nil
}

// next returns the next record, or io.EOF.
func (r *lineReader) next() (*kgo.Record, error) {
	line, err := r.readLine()
	if err != nil {
		return nil, err
	}
	r.line++
	rec := &kgo.Record{Topic: r.topic}
	rest := line
	if r.parseHeaders {
		headers, after, ok, err := r.cut(rest, r.headersDelimiter, "headers delimiter")
		if err != nil {
			return nil, err
		}
		if ok {
			rest = after
			if rec.Headers, err = r.headers(headers); err != nil {
				return nil, err
			}
		}
	}
	if r.parseKey {
		key, after, ok, err := r.cut(rest, r.keySeparator, "key separator")
		if err != nil {
			return nil, err
		}
		if ok {
			rec.Key, rest = r.bytes(key), after
		}
	}
	rec.Value = r.bytes(rest)
	return rec, nil
}

func (r *lineReader) readLine() (string, error) {
	var b strings.Builder
	for {
		part, err := r.in.ReadSlice('\n')
		b.Write(part)
		switch {
		case b.Len() > maxLine:
			return "", fmt.Errorf("line %d is longer than %d bytes", r.line+1, maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && b.Len() == 0:
			return "", err
		case err != nil && !errors.Is(err, io.EOF):
			return "", err
		}
		return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r"), nil
	}
}

// cut splits at a separator; a missing one is an error unless errors are ignored.
func (r *lineReader) cut(text, separator, what string) (before, after string, ok bool, err error) {
	before, after, ok = strings.Cut(text, separator)
	if !ok && !r.ignoreError {
		err = fmt.Errorf("No %s found on line number %d: '%s'", what, r.line, text)
	}
	return before, after, ok, err
}

func (r *lineReader) bytes(text string) []byte {
	if r.hasNullMarker && text == r.nullMarker {
		return nil
	}
	return []byte(text)
}

func (r *lineReader) headers(text string) ([]kgo.RecordHeader, error) {
	if r.hasNullMarker && text == r.nullMarker {
		return nil, nil
	}
	var out []kgo.RecordHeader
	for _, pair := range strings.Split(text, r.headersSeparator) {
		key, value, ok := strings.Cut(pair, r.headersKeySeparator)
		if !ok {
			if r.ignoreError {
				out = append(out, kgo.RecordHeader{Key: pair})
				continue
			}
			return nil, fmt.Errorf("No header key separator found in pair '%s' on line number %d", pair, r.line)
		}
		if r.hasNullMarker && key == r.nullMarker {
			return nil, fmt.Errorf("Header keys should not be equal to the null marker '%s' as they can't be null", r.nullMarker)
		}
		out = append(out, kgo.RecordHeader{Key: key, Value: r.bytes(value)})
	}
	return out, nil
}

package client

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/internal/cli/internaltopics"
)

// recordPrinter prints records; the class of --formatter says which it is.
type recordPrinter interface {
	print(w io.Writer, r *kgo.Record) error
}

const formatters = "org.apache.kafka.tools.consumer."

// printerOf returns the printer of a class that needs no properties; nil for the
// default formatter.
func printerOf(class string) (recordPrinter, error) {
	switch class {
	case defaultFormatterClass:
		return nil, nil
	case formatters + "NoOpMessageFormatter":
		return silence{}, nil
	case formatters + "OffsetsMessageFormatter":
		return &coordinatorFormatter{types: []int16{0, 1}, key: internaltopics.GroupKey, value: internaltopics.GroupValue}, nil
	case formatters + "GroupMetadataMessageFormatter":
		return &coordinatorFormatter{types: []int16{2}, key: internaltopics.GroupKey, value: internaltopics.GroupValue}, nil
	case formatters + "TransactionLogMessageFormatter":
		return &coordinatorFormatter{types: []int16{0}, key: internaltopics.TransactionKey, value: internaltopics.TransactionValue}, nil
	}
	return nil, fmt.Errorf("formatter %s is not supported: there are no Java classes here, only %s{DefaultMessageFormatter, NoOpMessageFormatter, OffsetsMessageFormatter, GroupMetadataMessageFormatter, TransactionLogMessageFormatter}", class, formatters)
}

// silence prints nothing (class NoOpMessageFormatter).
type silence struct{}

func (silence) print(io.Writer, *kgo.Record) error { return nil }

// coordinatorFormatter prints records of an internal topic as JSON, one document
// behind the other (class CoordinatorRecordMessageFormatter). Records of other types
// are passed over.
type coordinatorFormatter struct {
	types []int16
	key   func([]byte) (int16, []byte, error)
	value func(int16, []byte) ([]byte, error)
}

func (f *coordinatorFormatter) print(w io.Writer, r *kgo.Record) error {
	if r.Key == nil {
		return nil
	}
	t, key, err := f.key(r.Key)
	if _, unknown := err.(internaltopics.UnknownTypeError); unknown || err == nil && !slices.Contains(f.types, t) {
		return nil
	}
	value := []byte("null")
	if err == nil && r.Value != nil {
		value, err = f.value(t, r.Value)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `{"key":%s,"value":%s}`, numbered(key), numbered(value))
	return err
}

// numbered takes the quotes off the number with which a key or value begins.
func numbered(document []byte) []byte {
	head, rest, ok := bytes.Cut(document, []byte(`":"`))
	if !ok {
		return document
	}
	number, rest, _ := bytes.Cut(rest, []byte(`"`))
	return slices.Concat(head, []byte(`":`), number, rest)
}

package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Kind says which of Kafka's three clients the properties are meant for.
type Kind int

// The kinds of clients.
const (
	Admin Kind = iota
	Producer
	Consumer
)

func (k Kind) String() string { return [...]string{"admin", "producer", "consumer"}[k] }

// New opens a client with the given properties; more options come after them and
// win. Warnings name the properties that are not known.
func New(kind Kind, properties map[string]string, more ...kgo.Opt) (cl *kgo.Client, warnings []string, err error) {
	options, warnings, err := Options(kind, properties)
	if err != nil {
		return nil, warnings, err
	}
	cl, err = kgo.NewClient(append(options, more...)...)
	return cl, warnings, err
}

// Options translates properties into options of the engine.
func Options(kind Kind, properties map[string]string) (options []kgo.Opt, warnings []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		value := strings.TrimSpace(properties[name])
		translate, ok := translators[name]
		switch {
		case !ok:
			warnings = append(warnings, fmt.Sprintf("The configuration '%s' was supplied but isn't a known config.", name))
			continue
		case translate.kinds&(1<<kind) == 0:
			warnings = append(warnings, fmt.Sprintf("The configuration '%s' means nothing to the %s client.", name, kind))
			continue
		}
		o, err := translate.option(value)
		if err != nil {
			return nil, warnings, invalid(name, value, err)
		}
		if translate.kinds&inGroup == 0 || properties["group.id"] != "" {
			options = append(options, o...)
		}
	}
	switch kind {
	case Producer:
		options = append(producerDefaults(properties), options...)
	case Consumer:
		if properties["allow.auto.create.topics"] != "false" {
			options = append(options, kgo.AllowAutoTopicCreation())
		}
	}
	return options, warnings, nil
}

func invalid(name, value string, why error) error {
	return fmt.Errorf("Invalid value %s for configuration %s: %w", value, name, why)
}

// defaultMaxPollRecords is the default of max.poll.records.
const defaultMaxPollRecords = 500

// MaxPollRecords is how many records one poll may return (max.poll.records). The
// engine leaves that to whoever polls: it is what kgo.Client.PollRecords is given.
func MaxPollRecords(properties map[string]string) (int, error) {
	value, set := properties[maxPollRecords]
	if !set {
		return defaultMaxPollRecords, nil
	}
	n, err := positive(strings.TrimSpace(value))
	if err != nil {
		return 0, invalid(maxPollRecords, value, err)
	}
	return n, nil
}

// producerDefaults are where Kafka's producer differs from the engine.
func producerDefaults(properties map[string]string) []kgo.Opt {
	options := []kgo.Opt{
		kgo.AllowAutoTopicCreation(),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RecordPartitioner(kgo.UniformBytesPartitioner(16<<10, true, true, nil)),
	}
	// Kafka turns idempotence off by itself when acks isn't all, unless it was
	// asked for by name.
	acks, set := properties["acks"]
	if set && acks != "all" && acks != "-1" && properties["enable.idempotence"] == "" {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	return options
}

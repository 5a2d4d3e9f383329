package client

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Kind says which of Kafka's three clients the properties are meant for.
type Kind int

// The kinds of clients.
const (
	ForAdmin Kind = iota
	ForProducer
	ForConsumer
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
	var idle idleProperties
	var given []kgo.Opt
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		value := strings.TrimSpace(properties[name])
		translate, honoured := translators[name]
		if !honoured {
			translate = withoutEffect[name]
		}
		switch {
		case translate.option == nil:
			idle.add("they are not known", name)
			continue
		case translate.kinds&(1<<kind) == 0:
			idle.add(fmt.Sprintf("they mean nothing to the %s client", kind), name)
			continue
		}
		o, err := translate.option(value)
		if err != nil {
			return nil, idle.warnings(), invalid(name, value, err)
		}
		if translate.without != "" {
			idle.add(translate.without, name)
		}
		if translate.kinds&inGroup == 0 || properties["group.id"] != "" {
			given = append(given, o...)
		}
	}
	if properties[bootstrapServers] == "" {
		return nil, idle.warnings(), errors.New(`Missing required configuration "bootstrap.servers" which has no default value.`)
	}
	options = values(properties).ofAll(kind)
	var more []kgo.Opt
	switch kind {
	case ForProducer:
		more, err = values(properties).ofProducer()
	case ForConsumer:
		more, err = values(properties).ofConsumer()
	}
	return append(append(options, more...), given...), idle.warnings(), err
}

// idleProperties are the names of properties that have no effect, by the reason.
type idleProperties map[string][]string

func (p *idleProperties) add(reason, name string) {
	if *p == nil {
		*p = idleProperties{}
	}
	(*p)[reason] = append((*p)[reason], name)
}

// warnings are a line for each reason.
func (p idleProperties) warnings() []string {
	var lines []string
	for _, reason := range slices.Sorted(maps.Keys(p)) {
		lines = append(lines, fmt.Sprintf("These configurations '[%s]' were supplied but have no effect: %s.", strings.Join(p[reason], ", "), reason))
	}
	return lines
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

// MaxBlock is how long a producer waits for a topic, or for room, before it gives up a
// record (max.block.ms): the engine leaves the wait for a topic to whoever produces.
func MaxBlock(properties map[string]string) (time.Duration, error) {
	return waitOf(properties, maxBlock)
}

// APITimeout is how long a call may take in all (default.api.timeout.ms). It is for
// the context of calls.
func APITimeout(properties map[string]string) (time.Duration, error) {
	return waitOf(properties, defaultAPITimeout)
}

// waitOf is a property in milliseconds, a minute if it is not set.
func waitOf(properties map[string]string, name string) (time.Duration, error) {
	value, set := properties[name]
	if !set {
		return time.Minute, nil
	}
	n, err := long(0)(strings.TrimSpace(value))
	if err != nil {
		return 0, invalid(name, value, err)
	}
	return time.Duration(min(n, math.MaxInt32)) * time.Millisecond, nil
}

package client

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// translator turns the value of one property into options.
type translator struct {
	kinds  int // bit set of Kind, and inGroup
	option func(value string) ([]kgo.Opt, error)
}

const (
	all      = 1<<Admin | 1<<Producer | 1<<Consumer
	producer = 1 << Producer
	consumer = 1 << Consumer
	// inGroup properties mean something only with a group.id.
	inGroup = 1 << 3
)

// translators holds the properties that are honoured; it is read only.
var translators = map[string]translator{
	"bootstrap.servers":                     {all, list(func(v []string) kgo.Opt { return kgo.SeedBrokers(v...) })},
	"client.id":                             {all, text(kgo.ClientID)},
	"client.rack":                           {consumer, text(kgo.Rack)},
	"security.protocol":                     {all, onlyPlaintext},
	"metadata.max.age.ms":                   {all, milliseconds(kgo.MetadataMaxAge)},
	"connections.max.idle.ms":               {all, milliseconds(kgo.ConnIdleTimeout)},
	"request.timeout.ms":                    {all, milliseconds(kgo.RequestTimeoutOverhead)},
	"retry.backoff.ms":                      {all, milliseconds(func(d time.Duration) kgo.Opt { return kgo.RetryBackoffFn(func(int) time.Duration { return d }) })},
	"socket.connection.setup.timeout.ms":    {all, milliseconds(kgo.DialTimeout)},
	"acks":                                  {producer, acks},
	"enable.idempotence":                    {producer, unless(kgo.DisableIdempotentWrite)},
	"batch.size":                            {producer, number(func(n int32) kgo.Opt { return kgo.ProducerBatchMaxBytes(max(n, 512)) })},
	"linger.ms":                             {producer, milliseconds(kgo.ProducerLinger)},
	"delivery.timeout.ms":                   {producer, milliseconds(kgo.RecordDeliveryTimeout)},
	"retries":                               {producer, number(func(n int32) kgo.Opt { return kgo.RecordRetries(int(n)) })},
	"compression.type":                      {producer, compression},
	"buffer.memory":                         {producer, number(func(n int32) kgo.Opt { return kgo.MaxBufferedBytes(int(n)) })},
	"max.in.flight.requests.per.connection": {producer, number(func(n int32) kgo.Opt { return kgo.MaxProduceRequestsInflightPerBroker(int(n)) })},
	"transactional.id":                      {producer, text(kgo.TransactionalID)},
	"transaction.timeout.ms":                {producer, milliseconds(kgo.TransactionTimeout)},
	"fetch.min.bytes":                       {consumer, number(kgo.FetchMinBytes)},
	"fetch.max.bytes":                       {consumer, number(kgo.FetchMaxBytes)},
	"fetch.max.wait.ms":                     {consumer, milliseconds(kgo.FetchMaxWait)},
	"max.partition.fetch.bytes":             {consumer, number(kgo.FetchMaxPartitionBytes)},
	maxPollRecords:                          {consumer, checked(positive)}, // MaxPollRecords reads it
	"isolation.level":                       {consumer, isolation},
	"auto.offset.reset":                     {consumer, offsetReset},
	"check.crcs":                            {consumer, onlyTrue},
	"allow.auto.create.topics":              {consumer, checked(boolean)}, // Options reads it
	"group.id":                              {consumer, groupID},
	"group.instance.id":                     {consumer | inGroup, text(kgo.InstanceID)},
	"group.protocol":                        {consumer | inGroup, groupProtocol},
	"partition.assignment.strategy":         {consumer | inGroup, assignors},
	"session.timeout.ms":                    {consumer | inGroup, milliseconds(kgo.SessionTimeout)},
	"heartbeat.interval.ms":                 {consumer | inGroup, milliseconds(kgo.HeartbeatInterval)},
	"max.poll.interval.ms":                  {consumer | inGroup, milliseconds(kgo.RebalanceTimeout)},
	"enable.auto.commit":                    {consumer | inGroup, unless(kgo.DisableAutoCommit)},
	"auto.commit.interval.ms":               {consumer | inGroup, milliseconds(kgo.AutoCommitInterval)},
}

const maxPollRecords = "max.poll.records"

// checked checks a value that has its effect elsewhere.
func checked[T any](parse func(string) (T, error)) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		_, err := parse(v)
		return nil, err
	}
}

func positive(v string) (int, error) {
	n, err := strconv.ParseInt(v, 10, 32)
	switch {
	case err != nil:
		return 0, errors.New("Not a number of type INT")
	case n < 1:
		return 0, errors.New("Value must be at least 1")
	}
	return int(n), nil
}

func text[O kgo.Opt](f func(string) O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) { return []kgo.Opt{f(v)}, nil }
}

func list[O kgo.Opt](f func([]string) O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		words := strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
		if len(words) == 0 {
			return nil, errors.New("the list is empty")
		}
		return []kgo.Opt{f(words)}, nil
	}
}

func number[O kgo.Opt](f func(int32) O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil {
			return nil, errors.New("Not a number of type INT")
		}
		return []kgo.Opt{f(int32(n))}, nil
	}
}

func milliseconds[O kgo.Opt](f func(time.Duration) O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return nil, errors.New("Not a number of type LONG")
		}
		return []kgo.Opt{f(time.Duration(n) * time.Millisecond)}, nil
	}
}

func groupID(v string) ([]kgo.Opt, error) {
	if v == "" {
		return nil, nil
	}
	return []kgo.Opt{kgo.ConsumerGroup(v)}, nil
}

func groupProtocol(v string) ([]kgo.Opt, error) {
	switch strings.ToLower(v) {
	case "classic":
		return nil, nil
	case "consumer":
		return []kgo.Opt{kgo.ServerSideBalancer()}, nil
	}
	return nil, errors.New("String must be one of: consumer, classic")
}

func assignors(v string) ([]kgo.Opt, error) {
	known := map[string]func() kgo.GroupBalancer{"Range": kgo.RangeBalancer, "RoundRobin": kgo.RoundRobinBalancer,
		"Sticky": kgo.StickyBalancer, "CooperativeSticky": kgo.CooperativeStickyBalancer}
	var balancers []kgo.GroupBalancer
	for class := range strings.SplitSeq(v, ",") {
		name := strings.TrimPrefix(strings.TrimSpace(class), "org.apache.kafka.clients.consumer.")
		balancer, ok := known[strings.TrimSuffix(name, "Assignor")]
		if !ok {
			return nil, fmt.Errorf("there are no Java classes here, only Kafka's own Range, RoundRobin, Sticky and CooperativeStickyAssignor")
		}
		balancers = append(balancers, balancer())
	}
	return []kgo.Opt{kgo.Balancers(balancers...)}, nil
}

// unless is an option of the engine for a property that is false.
func unless[O kgo.Opt](off func() O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		on, err := boolean(v)
		if err != nil || on {
			return nil, err
		}
		return []kgo.Opt{off()}, nil
	}
}

func onlyPlaintext(v string) ([]kgo.Opt, error) {
	if v != "PLAINTEXT" {
		return nil, errors.New("this release has no secured client connections, only PLAINTEXT")
	}
	return nil, nil
}

func onlyTrue(v string) ([]kgo.Opt, error) {
	if v != "true" {
		return nil, errors.New("checksums are always checked, only true is supported")
	}
	return nil, nil
}

func boolean(v string) (bool, error) {
	if v != "true" && v != "false" {
		return false, errors.New("Expected value to be either true or false")
	}
	return v == "true", nil
}

func acks(v string) ([]kgo.Opt, error) {
	switch v {
	case "0":
		return []kgo.Opt{kgo.RequiredAcks(kgo.NoAck())}, nil
	case "1":
		return []kgo.Opt{kgo.RequiredAcks(kgo.LeaderAck())}, nil
	case "-1", "all":
		return []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks())}, nil
	}
	return nil, errors.New("String must be one of: all, -1, 0, 1")
}

func compression(v string) ([]kgo.Opt, error) {
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	c, ok := codecs[v]
	if !ok {
		return nil, errors.New("String must be one of: none, gzip, snappy, lz4, zstd")
	}
	return []kgo.Opt{kgo.ProducerBatchCompression(c)}, nil
}

func isolation(v string) ([]kgo.Opt, error) {
	switch v {
	case "read_committed":
		return []kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadCommitted())}, nil
	case "read_uncommitted":
		return []kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadUncommitted())}, nil
	}
	return nil, errors.New("String must be one of: read_committed, read_uncommitted")
}

func offsetReset(v string) ([]kgo.Opt, error) {
	switch v {
	case "earliest":
		return []kgo.Opt{kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}, nil
	case "latest":
		return []kgo.Opt{kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd())}, nil
	case "none":
		return []kgo.Opt{kgo.ConsumeResetOffset(kgo.NoResetOffset())}, nil
	}
	return nil, errors.New("must be one of: earliest, latest, none")
}

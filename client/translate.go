package client

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// translator turns the value of one property into options.
type translator struct {
	kinds  int // bit set of Kind, and inGroup
	option func(value string) ([]kgo.Opt, error)
	// without is why the property has no effect, "" if it has one. Its value is
	// checked all the same.
	without string
}

const (
	all      = 1<<ForAdmin | 1<<ForProducer | 1<<ForConsumer
	producer = 1 << ForProducer
	consumer = 1 << ForConsumer
	admin    = 1 << ForAdmin
	// inGroup properties mean something only with a group.id.
	inGroup = 1 << 3
)

// translators holds the properties that are honoured; it is read only. Those whose
// option comes from checked have their effect in together.go, or where whoever opens
// the client asks for them.
var translators = map[string]translator{
	bootstrapServers:                     {kinds: all, option: list(func(v []string) kgo.Opt { return kgo.SeedBrokers(v...) })},
	"client.id":                          {kinds: all, option: text(kgo.ClientID)},
	"client.rack":                        {kinds: producer | consumer, option: text(kgo.Rack)},
	"client.dns.lookup":                  {kinds: all, option: one("use_all_dns_ips", "all addresses of a name are tried, only use_all_dns_ips is supported")},
	"security.protocol":                  {kinds: all, option: onlyPlaintext},
	"config.providers":                   {kinds: all, option: refused("there are no Java classes here")},
	"interceptor.classes":                {kinds: producer | consumer, option: refused("there are no Java classes here")},
	"enable.metrics.push":                {kinds: all, option: unless(kgo.DisableClientMetrics)},
	"metadata.max.age.ms":                {kinds: all, option: metadataAge},
	"connections.max.idle.ms":            {kinds: all, option: idle},
	"request.timeout.ms":                 {kinds: all, option: checked(whole(0, math.MaxInt32))},
	"retry.backoff.ms":                   {kinds: all, option: checked(long(0))},
	"retry.backoff.max.ms":               {kinds: all, option: checked(long(0))},
	"receive.buffer.bytes":               {kinds: all, option: checked(whole(-1, math.MaxInt32))},
	"send.buffer.bytes":                  {kinds: all, option: checked(whole(-1, math.MaxInt32))},
	"socket.connection.setup.timeout.ms": {kinds: all, option: milliseconds(kgo.DialTimeout)},
	"bootstrap.controllers":              {kinds: admin, option: refused("a client can't be opened on controllers by a property; the tools have --bootstrap-controller")},
	defaultAPITimeout:                    {kinds: admin | consumer, option: checked(whole(0, math.MaxInt32))}, // APITimeout reads it

	"acks":                                     {kinds: producer, option: acks},
	"enable.idempotence":                       {kinds: producer, option: unless(kgo.DisableIdempotentWrite)},
	"batch.size":                               {kinds: producer, option: checked(whole(0, math.MaxInt32))},
	"max.request.size":                         {kinds: producer, option: checked(whole(0, math.MaxInt32))},
	"linger.ms":                                {kinds: producer, option: milliseconds(kgo.ProducerLinger)},
	"delivery.timeout.ms":                      {kinds: producer, option: checked(whole(0, math.MaxInt32))},
	"compression.type":                         {kinds: producer, option: checked(codecNamed)},
	"compression.gzip.level":                   {kinds: producer, option: checked(gzipLevel)},
	"compression.lz4.level":                    {kinds: producer, option: checked(whole(1, 17))},
	"compression.zstd.level":                   {kinds: producer, option: checked(whole(-131072, 22))},
	"buffer.memory":                            {kinds: producer, option: checked(long(0))},
	"max.in.flight.requests.per.connection":    {kinds: producer, option: checked(whole(1, math.MaxInt32))},
	"partitioner.class":                        {kinds: producer, option: checked(partitionerNamed)},
	"partitioner.ignore.keys":                  {kinds: producer, option: checked(boolean)},
	"partitioner.adaptive.partitioning.enable": {kinds: producer, option: checked(boolean)},
	"partitioner.rack.aware":                   {kinds: producer, option: when(kgo.RackAwarePartitioning)},
	maxBlock:                                   {kinds: producer, option: checked(long(0))}, // MaxBlock reads it
	"transactional.id":                         {kinds: producer, option: text(kgo.TransactionalID)},
	"transaction.timeout.ms":                   {kinds: producer, option: milliseconds(kgo.TransactionTimeout)},
	"transaction.two.phase.commit.enable":      {kinds: producer, option: one("false", "transactions of two phases are not supported")},
	"retries":                                  {kinds: producer | admin, option: checked(whole(0, math.MaxInt32))},

	"fetch.min.bytes":           {kinds: consumer, option: number(0, kgo.FetchMinBytes)},
	"fetch.max.bytes":           {kinds: consumer, option: number(0, fetchMaxBytes)},
	"fetch.max.wait.ms":         {kinds: consumer, option: milliseconds(func(d time.Duration) kgo.Opt { return kgo.FetchMaxWait(max(d, 10*time.Millisecond)) })},
	"max.partition.fetch.bytes": {kinds: consumer, option: number(0, kgo.FetchMaxPartitionBytes)},
	maxPollRecords:              {kinds: consumer, option: checked(positive)}, // MaxPollRecords reads it
	"isolation.level":           {kinds: consumer, option: isolation},
	"auto.offset.reset":         {kinds: consumer, option: offsetReset},
	"check.crcs":                {kinds: consumer, option: one("true", "checksums are always checked, only true is supported")},
	"exclude.internal.topics":   {kinds: consumer, option: one("true", "expressions never match internal topics, only true is supported")},
	"allow.auto.create.topics":  {kinds: consumer, option: checked(boolean)}, // Options reads it
	"group.id":                  {kinds: consumer, option: groupID},

	"group.instance.id":             {kinds: consumer | inGroup, option: text(kgo.InstanceID)},
	groupProtocol:                   {kinds: consumer | inGroup, option: groupProtocolOf},
	remoteAssignor:                  {kinds: consumer | inGroup, option: serverAssignor},
	"partition.assignment.strategy": {kinds: consumer | inGroup, option: assignors},
	"session.timeout.ms":            {kinds: consumer | inGroup, option: milliseconds(func(d time.Duration) kgo.Opt { return kgo.SessionTimeout(max(d, 100*time.Millisecond)) })},
	"heartbeat.interval.ms":         {kinds: consumer | inGroup, option: milliseconds(kgo.HeartbeatInterval)},
	"max.poll.interval.ms":          {kinds: consumer | inGroup, option: milliseconds(func(d time.Duration) kgo.Opt { return kgo.RebalanceTimeout(max(d, 100*time.Millisecond)) })},
	"enable.auto.commit":            {kinds: consumer | inGroup, option: unless(kgo.DisableAutoCommit)},
	"auto.commit.interval.ms":       {kinds: consumer | inGroup, option: milliseconds(func(d time.Duration) kgo.Opt { return kgo.AutoCommitInterval(max(d, 100*time.Millisecond)) })},
}

// Properties that others than their translators read.
const (
	bootstrapServers  = "bootstrap.servers"
	maxPollRecords    = "max.poll.records"
	defaultAPITimeout = "default.api.timeout.ms"
	maxBlock          = "max.block.ms"
	groupProtocol     = "group.protocol"
	remoteAssignor    = "group.remote.assignor"
)

// maxMessage is the largest message that the engine reads or writes; what a property
// says beyond that counts as this.
const maxMessage = 1 << 30

func fetchMaxBytes(n int32) kgo.Opt { return kgo.FetchMaxBytes(min(n, maxMessage)) }

// metadataAge is metadata.max.age.ms, within what the engine takes: asking once an
// hour is as good as asking less often.
func metadataAge(v string) ([]kgo.Opt, error) {
	n, err := long(0)(v)
	if err != nil {
		return nil, err
	}
	age := within(n, 10*time.Millisecond, time.Hour)
	return []kgo.Opt{kgo.MetadataMaxAge(age), kgo.MetadataMinAge(min(age, 5*time.Second))}, nil
}

// idle is connections.max.idle.ms, within what the engine takes. Kafka's own -1 is
// never.
func idle(v string) ([]kgo.Opt, error) {
	n, err := long(math.MinInt64)(v)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		n = math.MaxInt32
	}
	return []kgo.Opt{kgo.ConnIdleTimeout(within(n, 100*time.Millisecond, 15*time.Minute))}, nil
}

// within is so many milliseconds, at least low and at most high.
func within(milliseconds int64, low, high time.Duration) time.Duration {
	return max(low, time.Duration(min(milliseconds, high.Milliseconds()))*time.Millisecond)
}

func groupID(v string) ([]kgo.Opt, error) {
	if v == "" {
		return nil, nil
	}
	return []kgo.Opt{kgo.ConsumerGroup(v)}, nil
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

func isolation(v string) ([]kgo.Opt, error) {
	switch v {
	case "read_committed":
		return []kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadCommitted())}, nil
	case "read_uncommitted":
		return []kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadUncommitted())}, nil
	}
	return nil, errors.New("String must be one of: read_committed, read_uncommitted")
}

// offsetReset is auto.offset.reset. The time of "by_duration" counts from the opening
// of the client.
func offsetReset(v string) ([]kgo.Opt, error) {
	reset := kgo.NewOffset()
	switch strings.ToLower(v) {
	case "earliest":
		return []kgo.Opt{kgo.ConsumeResetOffset(reset.AtStart())}, nil
	case "latest":
		return []kgo.Opt{kgo.ConsumeResetOffset(reset.AtEnd())}, nil
	case "none":
		return []kgo.Opt{kgo.ConsumeResetOffset(kgo.NoResetOffset())}, nil
	}
	if strings.HasPrefix(strings.ToLower(v), "by_duration:") {
		return nil, errors.New("resets by duration are not supported here, only earliest, latest and none")
	}
	return nil, errors.New("must be one of: earliest, latest, none")
}

func onlyPlaintext(v string) ([]kgo.Opt, error) {
	switch strings.ToUpper(v) {
	case "PLAINTEXT":
		return nil, nil
	case "SSL", "SASL_PLAINTEXT", "SASL_SSL":
		return nil, errors.New("this release has no secured client connections, only PLAINTEXT")
	}
	return nil, errors.New("String must be one of (case insensitive): SASL_SSL, PLAINTEXT, SSL, SASL_PLAINTEXT")
}

// refused takes the empty value alone, for the reason that is given.
func refused(why string) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		if v != "" {
			return nil, errors.New(why)
		}
		return nil, nil
	}
}

func groupProtocolOf(v string) ([]kgo.Opt, error) {
	switch strings.ToLower(v) {
	case "classic":
		return nil, nil
	case "consumer":
		return []kgo.Opt{kgo.ServerSideBalancer()}, nil
	}
	return nil, errors.New("String must be one of (case insensitive): CONSUMER, CLASSIC")
}

// serverAssignor is what the broker is asked to assign by: the engine names it by the
// balancer that does the same.
func serverAssignor(v string) ([]kgo.Opt, error) {
	switch v {
	case "uniform":
		return []kgo.Opt{kgo.Balancers(kgo.StickyBalancer())}, nil
	case "range":
		return []kgo.Opt{kgo.Balancers(kgo.RangeBalancer())}, nil
	}
	return nil, errors.New("this client can ask for uniform and range only")
}

package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kgo"
)

// values are properties whose values translators have checked.
type values map[string]string

func (v values) text(name, fallback string) string {
	if s, set := v[name]; set {
		return strings.TrimSpace(s)
	}
	return fallback
}

func (v values) number(name string, fallback int64) int64 {
	n, err := strconv.ParseInt(v.text(name, ""), 10, 64)
	if err != nil {
		return fallback
	}
	return n
}

func (v values) milliseconds(name string, fallback int64) time.Duration {
	return time.Duration(min(v.number(name, fallback), math.MaxInt32)) * time.Millisecond
}

func (v values) isTrue(name string, fallback bool) bool {
	on, err := boolean(v.text(name, strconv.FormatBool(fallback)))
	return err == nil && on
}

// ofAll are options of every client that follow from several properties, or from
// Kafka's defaults.
func (v values) ofAll(kind Kind) []kgo.Opt {
	timeout := v.milliseconds("request.timeout.ms", 30_000)
	options := []kgo.Opt{
		kgo.RequestTimeoutOverhead(min(max(timeout, 100*time.Millisecond), 15*time.Minute)),
		kgo.RetryBackoffFn(backoff(v.milliseconds("retry.backoff.ms", 100), v.milliseconds("retry.backoff.max.ms", 1000))),
	}
	if receive, send := v.number("receive.buffer.bytes", -1), v.number("send.buffer.bytes", -1); receive > 0 || send > 0 {
		options = append(options, kgo.Dialer(dialer(int(receive), int(send), v.milliseconds("socket.connection.setup.timeout.ms", 10_000))))
	}
	if kind == ForAdmin {
		options = append(options, kgo.RetryTimeout(v.milliseconds(defaultAPITimeout, 60_000)),
			kgo.RequestRetries(int(v.number("retries", math.MaxInt32))))
	}
	return options
}

// backoff is how long to wait after so many failures: twice as long after each, and
// up to a fifth more or less by chance.
func backoff(first, most time.Duration) func(fails int) time.Duration {
	return func(fails int) time.Duration {
		wait := float64(first) * math.Pow(2, float64(min(max(fails-1, 0), 40)))
		return time.Duration(min(wait, float64(max(most, 0))) * (0.8 + 0.4*rand.Float64()))
	}
}

// dialer dials with buffers of so many bytes; of 0 or less, as the operating system
// has them.
func dialer(receive, send int, timeout time.Duration) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{Timeout: timeout}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return conn, nil
		}
		var failed error
		if receive > 0 {
			failed = tcp.SetReadBuffer(receive)
		}
		if send > 0 {
			failed = errors.Join(failed, tcp.SetWriteBuffer(send))
		}
		if failed != nil {
			return nil, errors.Join(failed, conn.Close())
		}
		return conn, nil
	}
}

// ofProducer are the options of a producer that follow from several properties, or
// from Kafka's defaults.
//
// The engine has one size of batches where Kafka has two: it takes no record beyond
// it. So it is max.request.size; batch.size is how much goes to one partition before
// the next is chosen, for records without a key.
func (v values) ofProducer() ([]kgo.Opt, error) {
	linger, timeout := v.milliseconds("linger.ms", 5), v.milliseconds("request.timeout.ms", 30_000)
	delivery := v.milliseconds("delivery.timeout.ms", 120_000)
	if delivery < linger+timeout {
		if _, set := v["delivery.timeout.ms"]; set {
			return nil, errors.New("delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms")
		}
		delivery = linger + timeout
	}
	batch := min(max(v.number("max.request.size", 1<<20), 512), maxMessage)
	options := []kgo.Opt{
		kgo.AllowAutoTopicCreation(),
		kgo.ProducerBatchCompression(v.codec()),
		kgo.RecordPartitioner(v.partitioner()),
		kgo.ProducerLinger(linger),
		kgo.RecordDeliveryTimeout(max(delivery, time.Second)),
		kgo.ProduceRequestTimeout(max(timeout, 100*time.Millisecond)),
		kgo.ProducerBatchMaxBytes(int32(batch)),
		kgo.BrokerMaxWriteBytes(int32(max(batch, 100<<20))),
		kgo.MaxBufferedBytes(int(max(v.number("buffer.memory", 32<<20), 1))),
		kgo.TransactionTimeout(v.milliseconds("transaction.timeout.ms", 60_000)),
		kgo.RecordRetries(int(v.number("retries", math.MaxInt32))),
	}
	if acks := v.text("acks", "all"); v.idempotent() && acks != "all" && acks != "-1" {
		return nil, errors.New("Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.")
	}
	inFlight := v.number("max.in.flight.requests.per.connection", 5)
	switch {
	case !v.idempotent():
		options = append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(int(inFlight)))
	case inFlight > 5:
		return nil, errors.New("Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent producer.")
	}
	return options, nil
}

// idempotent says whether the producer is. Kafka turns that off by itself when acks
// isn't all, unless it was asked for by name.
func (v values) idempotent() bool {
	acks, asked := v.text("acks", "all"), v.text("enable.idempotence", "")
	if asked == "" {
		return acks == "all" || acks == "-1"
	}
	return v.isTrue("enable.idempotence", true)
}

// codec is the compression, with its level if that is given.
func (v values) codec() kgo.CompressionCodec {
	name := v.text("compression.type", "none")
	codec, err := codecNamed(name)
	if err != nil {
		panic("BUG: compression.type was not checked")
	}
	level := "compression." + name + ".level"
	if v.text(level, "") == "" {
		return codec
	}
	n := int(v.number(level, 0))
	switch name {
	case "gzip":
		return codec.WithLevel(n)
	case "lz4":
		return codec.WithLevel(int(lz4.Level1) << (min(n, 9) - 1))
	case "zstd":
		return codec.WithLevel(int(zstd.EncoderLevelFromZstd(n)))
	}
	return codec
}

func codecNamed(name string) (kgo.CompressionCodec, error) {
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	c, ok := codecs[name]
	if !ok {
		return c, errors.New("String must be one of: none, gzip, snappy, lz4, zstd")
	}
	return c, nil
}

func gzipLevel(v string) (int64, error) {
	n, err := whole(math.MinInt32, math.MaxInt32)(v)
	if err == nil && n != gzip.DefaultCompression && (n < gzip.BestSpeed || n > gzip.BestCompression) {
		err = fmt.Errorf("Value must be between %d and %d or equal to %d", gzip.BestSpeed, gzip.BestCompression, gzip.DefaultCompression)
	}
	return n, err
}

// roundRobin is the class of the one partitioner that can be named.
const roundRobin = "org.apache.kafka.clients.producer.RoundRobinPartitioner"

func partitionerNamed(class string) (string, error) {
	if class != "" && class != roundRobin {
		return "", errors.New("there are no Java classes here, only Kafka's own RoundRobinPartitioner")
	}
	return class, nil
}

func (v values) partitioner() kgo.Partitioner {
	if v.text("partitioner.class", "") == roundRobin {
		return kgo.RoundRobinPartitioner()
	}
	return kgo.UniformBytesPartitioner(int(max(v.number("batch.size", 16<<10), 1)),
		v.isTrue("partitioner.adaptive.partitioning.enable", true), !v.isTrue("partitioner.ignore.keys", false), nil)
}

// ofConsumer are the options of a consumer that follow from several properties, or
// from Kafka's defaults.
func (v values) ofConsumer() ([]kgo.Opt, error) {
	options := []kgo.Opt{
		kgo.FetchMaxWait(500 * time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()),
		kgo.RebalanceTimeout(5 * time.Minute),
	}
	if v.number("fetch.max.bytes", 0) > 100<<20 {
		options = append(options, kgo.BrokerMaxReadBytes(maxMessage))
	}
	if v.isTrue("allow.auto.create.topics", true) {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	if strings.EqualFold(v.text(groupProtocol, "classic"), "classic") {
		if v.text(remoteAssignor, "") != "" {
			return nil, errors.New(remoteAssignor + " cannot be set when " + groupProtocol + "=CLASSIC")
		}
		return append(options, kgo.Balancers(kgo.RangeBalancer(), kgo.CooperativeStickyBalancer())), nil
	}
	for _, name := range []string{"partition.assignment.strategy", "heartbeat.interval.ms", "session.timeout.ms"} {
		if v.text(name, "") != "" {
			return nil, errors.New(name + " cannot be set when " + groupProtocol + "=CONSUMER")
		}
	}
	// The broker chooses by its first assignor, uniform, where none is asked for.
	return append(options, kgo.Balancers(kgo.StickyBalancer())), nil
}

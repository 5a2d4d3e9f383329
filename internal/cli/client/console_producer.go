package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/options"
	"barnabas/internal/cli/progress"
	"barnabas/internal/kafka"
)

func consoleProducerOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server to connect to", Help: "The servers to connect to."},
		options.Option{Name: "topic", Argument: options.Required, Value: "topic", Help: "The topic to write to."},
		options.Option{Name: "sync", Help: "Send one record at a time and wait for its answer."},
		options.Option{Name: "compression-codec", Argument: options.Optional, Value: "compression-codec", Help: "none, gzip, snappy, lz4 or zstd; gzip if no value is given."},
		options.Option{Name: "batch-size", Argument: options.Required, Value: "size", Help: "Bytes of a batch.", Default: "16384"},
		options.Option{Name: "max-partition-memory-bytes", Argument: options.Required, Value: "memory in bytes per partition", Help: "The same as batch-size.", Deprecated: true},
		options.Option{Name: "message-send-max-retries", Argument: options.Required, Value: "Integer", Help: "Tries of one record.", Default: "3"},
		options.Option{Name: "retry-backoff-ms", Argument: options.Required, Value: "Long", Help: "Wait before a retry.", Default: "100"},
		options.Option{Name: "timeout", Argument: options.Required, Value: "timeout_ms", Help: "How long a batch waits for more records.", Default: "1000"},
		options.Option{Name: "request-required-acks", Argument: options.Required, Value: "request required acks", Help: "0, 1 or -1.", Default: "-1"},
		options.Option{Name: "request-timeout-ms", Argument: options.Required, Value: "request timeout ms", Help: "How long an answer may take.", Default: "1500"},
		options.Option{Name: "metadata-expiry-ms", Argument: options.Required, Value: "metadata expiration interval", Help: "After how long metadata is asked for again.", Default: "300000"},
		options.Option{Name: "max-block-ms", Argument: options.Required, Value: "max block on send", Help: "How long a send may wait for metadata or memory.", Default: "60000"},
		options.Option{Name: "max-memory-bytes", Argument: options.Required, Value: "total memory in bytes", Help: "Memory for records that wait.", Default: "33554432"},
		options.Option{Name: "socket-buffer-size", Argument: options.Required, Value: "size", Help: "The send buffer of connections.", Default: "102400"},
		options.Option{Name: "line-reader", Argument: options.Required, Value: "reader_class", Help: "Only the built-in reader of lines.", Default: lineReaderClass},
		options.Option{Name: "property", Argument: options.Required, Many: true, Value: "prop", Help: "See reader-property.", Deprecated: true},
		options.Option{Name: "reader-property", Argument: options.Required, Many: true, Value: "prop", Help: "parse.key, key.separator, parse.headers, headers.delimiter, headers.separator, headers.key.separator, ignore.error, null.marker."},
		options.Option{Name: "reader-config", Argument: options.Required, Value: "config file", Help: "A file of reader properties."},
		options.Option{Name: "producer-property", Argument: options.Required, Many: true, Value: "producer_prop", Help: "See command-property.", Deprecated: true},
		options.Option{Name: "command-property", Argument: options.Required, Many: true, Value: "producer_prop", Help: "A property of the producer."},
		options.Option{Name: "producer.config", Argument: options.Required, Value: "config file", Help: "See command-config.", Deprecated: true},
		options.Option{Name: "command-config", Argument: options.Required, Value: "config file", Help: "A file of producer properties."},
	)
}

const lineReaderClass = "org.apache.kafka.tools.LineMessageReader"

// ConsoleProducer is kafka-console-producer.
func ConsoleProducer(args []string, o IO) int {
	set := consoleProducerOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if !set.Has("bootstrap-server") {
		return usageExit(set, o, fmt.Errorf("Error while validating the bootstrap address\n"))
	}
	if err := checkProducerOptions(set); err != nil {
		return usageExit(set, o, err)
	}
	tellOfDeprecated(set, o, "Warning: --%s is deprecated and will be removed in a future version. Use --%s instead.\n",
		"producer-property", "command-property", "property", "reader-property", "producer.config", "command-config")
	if err := produceLines(set, o); err != nil {
		fmt.Fprintf(o.Stderr, "%s: %s\n", exception(err), err)
		return 1
	}
	return 0
}

func checkProducerOptions(set *options.Set) error {
	switch {
	case !set.Has("topic"):
		return missingArgument(set, "topic")
	case set.Has("property") && set.Has("reader-property"):
		return fmt.Errorf("Options [property] and [reader-property] cannot be specified together")
	case set.Has("producer-property") && set.Has("command-property"):
		return fmt.Errorf("Options [producer-property] and [command-property] cannot be specified together")
	case set.Has("producer.config") && set.Has("command-config"):
		return fmt.Errorf("Options [producer.config] and [command-config] cannot be specified together")
	case set.Get("line-reader") != lineReaderClass:
		return fmt.Errorf("line-reader %s is not supported: there are no Java classes here, only the built-in reader of lines", set.Get("line-reader"))
	}
	return nil
}

func produceLines(set *options.Set, o IO) error {
	reader, err := readerOf(set, o)
	if err != nil {
		return err
	}
	props, err := producerProperties(set)
	if err != nil {
		return err
	}
	block, err := kafkaclient.MaxBlock(props)
	if err != nil {
		return asConfigError(err)
	}
	cl, err := open(kafkaclient.ForProducer, props, o)
	if err != nil {
		return err
	}
	defer cl.Close()
	p := consoleProducer{cl: cl, o: o, block: block, sync: set.Has("sync"), prompt: progress.IsTerminal(o.Stdin)}
	readErr := p.run(reader)
	return errors.Join(readErr, cl.Flush(context.WithoutCancel(o.Context)))
}

// producerProperties joins the file, the properties of the command line and the
// tool's own flags: a flag that is given wins, the default of one that is not stands
// behind a property.
func producerProperties(set *options.Set) (map[string]string, error) {
	props, err := readProperties(cmp.Or(set.Get("command-config"), set.Get("producer.config")), append(set.All("producer-property"), set.All("command-property")...))
	if err != nil {
		return nil, err
	}
	for _, f := range [][2]string{
		{"metadata-expiry-ms", "metadata.max.age.ms"}, {"request-required-acks", "acks"}, {"request-timeout-ms", "request.timeout.ms"},
		{"message-send-max-retries", "retries"}, {"retry-backoff-ms", "retry.backoff.ms"}, {"timeout", "linger.ms"},
		{"max-partition-memory-bytes", "batch.size"}, {"batch-size", "batch.size"}, {"max-memory-bytes", "buffer.memory"},
		{"max-block-ms", "max.block.ms"}, {"socket-buffer-size", "send.buffer.bytes"},
	} {
		if _, named := props[f[1]]; set.Get(f[0]) != "" && (set.Has(f[0]) || !named) {
			props[f[1]] = set.Get(f[0])
		}
	}
	props["bootstrap.servers"] = set.Get("bootstrap-server")
	props["compression.type"] = "none" // which a file can't change, as with Apache's tool
	if set.Has("compression-codec") {
		props["compression.type"] = cmp.Or(set.Get("compression-codec"), "gzip")
	}
	props["client.id"] = cmp.Or(props["client.id"], "console-producer")
	return props, nil
}

func readerOf(set *options.Set, o IO) (*lineReader, error) {
	props, err := readProperties(set.Get("reader-config"), append(set.All("property"), set.All("reader-property")...))
	if err != nil {
		return nil, err
	}
	return newLineReader(o.Stdin, set.Get("topic"), props)
}

// consoleProducer sends what a reader gives.
type consoleProducer struct {
	cl     *kgo.Client
	o      IO
	block  time.Duration // how long a record may wait for its topic
	sync   bool
	prompt bool
}

func (p consoleProducer) run(reader *lineReader) error {
	known := false
	for {
		if p.prompt {
			fmt.Fprint(p.o.Stdout, ">")
		}
		r, err := p.read(reader)
		switch {
		case errors.Is(err, io.EOF) || p.o.Context.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if !known {
			if err := waitForTopic(p.o.Context, p.cl, r.Topic, p.block); err != nil {
				p.failed(r, err)
				continue
			}
			known = true
		}
		p.send(r)
	}
}

// read reads a record. A read that a terminal or a pipe holds up can't be ended;
// when the program is interrupted it is left behind, and ends with the process.
func (p consoleProducer) read(reader *lineReader) (*kgo.Record, error) {
	buffered, _ := reader.in.Peek(reader.in.Buffered()) // what is there can be peeked at
	if bytes.IndexByte(buffered, '\n') >= 0 {
		return reader.next()
	}
	type result struct {
		r   *kgo.Record
		err error
	}
	done := make(chan result, 1)
	go func() {
		r, err := reader.next()
		done <- result{r, err}
	}()
	select {
	case got := <-done:
		return got.r, got.err
	case <-p.o.Context.Done():
		return nil, p.o.Context.Err()
	}
}

// send buffers a record, or with --sync waits until it is answered.
func (p consoleProducer) send(r *kgo.Record) {
	if p.sync {
		if err := p.cl.ProduceSync(p.o.Context, r).FirstErr(); err != nil {
			p.failed(r, err)
		}
		return
	}
	p.cl.Produce(context.WithoutCancel(p.o.Context), r, func(r *kgo.Record, err error) {
		if err != nil {
			p.failed(r, err)
		}
	})
}

// failed reports a record as Apache's ErrorLoggingCallback does.
func (p consoleProducer) failed(r *kgo.Record, err error) {
	p.o.logf("ERROR", "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback",
		"Error when sending message to topic %s with key: %s, value: %s with error:", r.Topic, sizeText(r.Key), sizeText(r.Value))
	name := exception(err)
	if name == "org.apache.kafka.common.KafkaException" {
		name = kafka.ErrRequestTimedOut.Exception()
	}
	fmt.Fprintf(p.o.Stderr, "%s: %s\n", name, err)
}

func sizeText(b []byte) string {
	if b == nil {
		return "null"
	}
	return strconv.Itoa(len(b)) + " bytes"
}

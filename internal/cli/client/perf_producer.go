package client

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
)

// ProducerPerf is kafka-producer-perf-test.
func ProducerPerf(args []string, o IO) int {
	tool := producerPerfTool()
	parsed, done, exit := parseArgs(tool, args, o)
	if done {
		return exit
	}
	for _, old := range [][2]string{{"--producer-props", "--command-property"}, {"--producer.config", "--command-config"}} {
		if parsed.Has(old[0]) {
			fmt.Fprintf(o.Stdout, "Option %s has been deprecated and will be removed in a future version. Use %s instead.\n", old[0], old[1])
		}
	}
	p, err := parseProducerPerf(tool, parsed)
	if err != nil {
		fmt.Fprintln(o.Stderr, err)
		return 1
	}
	return toldExit(o, p.run(o))
}

// perfBuffered is how many records wait for their answer at most; bytes are
// bounded by buffer.memory.
const perfBuffered = 1 << 20

func (p *producerPerf) run(o IO) error {
	block, err := kafkaclient.MaxBlock(p.props)
	if err != nil {
		return asConfigError(err)
	}
	cl, err := open(kafkaclient.ForProducer, p.props, o, append(p.batches(), kgo.MaxBufferedRecords(perfBuffered))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := waitForTopic(o.Context, cl, p.topic, block); err != nil {
		return err
	}
	if p.warmup > 0 {
		fmt.Fprintf(o.Stdout, "Warmup first %d records. Steady state results will print after the complete test summary.\n", p.warmup)
	}
	r := perfRun{producerPerf: p, o: o, cl: cl}
	if err := r.send(); err != nil {
		return err
	}
	if err := cl.Flush(o.Context); err != nil && o.Context.Err() == nil {
		return err
	}
	if err := r.commit(); err != nil {
		return err
	}
	now := time.Now()
	r.all.summary("", now)
	if r.steady != nil {
		r.steady.summary(" steady state", now)
	}
	return nil
}

// batches are the options that end batches at batch.size, if that is given: the size
// of records is known here, so that none is refused for it.
func (p *producerPerf) batches() []kgo.Opt {
	size, err := strconv.ParseInt(p.props["batch.size"], 10, 32)
	if err != nil {
		return nil // it is not given, or the client refuses it
	}
	return []kgo.Opt{kgo.ProducerBatchMaxBytes(int32(min(max(size, p.payload.largest()+perfOverhead), perfLargestBatch)))}
}

// perfOverhead is what a record and its batch have beside the value at most, and
// perfLargestBatch what the engine takes.
const (
	perfOverhead     = 512
	perfLargestBatch = 100 << 20
)

// perfRun is a run on its way.
type perfRun struct {
	*producerPerf
	o           IO
	cl          *kgo.Client
	all         *latencyStats
	steady      *latencyStats // nil: no warmup, or it lasts
	transaction time.Time     // when the open transaction began; zero: none
}

func (r *perfRun) send() error {
	begin := time.Now()
	r.all = newLatencyStats(r.o.Stdout, time.Duration(r.reporting)*time.Millisecond, r.records, begin)
	pace := throttle{begin, r.throughput}
	for number := range r.records {
		if r.o.Context.Err() != nil {
			return nil
		}
		if r.warmup > 0 && number == r.warmup {
			r.steady = newLatencyStats(r.o.Stdout, 0, r.records-r.warmup, time.Now())
		}
		if err := r.beginTransaction(); err != nil {
			return err
		}
		r.produce(number)
		if r.transactional && time.Since(r.transaction) >= time.Duration(r.transactionDuration)*time.Millisecond {
			if err := r.commit(); err != nil {
				return err
			}
		}
		pace.wait(r.o.Context.Done(), number+1)
	}
	return nil
}

func (r *perfRun) produce(number int64) {
	record, steady := r.payload.record(r.topic, number), r.steady
	sent := time.Now()
	r.cl.Produce(r.o.Context, record, func(record *kgo.Record, err error) {
		if err != nil {
			if r.o.Context.Err() == nil {
				fmt.Fprintf(r.o.Stderr, "%s: %s\n", exception(err), err)
			}
			return
		}
		now := time.Now()
		r.all.add(number, len(record.Value), sent, now)
		if steady != nil {
			steady.add(number-r.warmup, len(record.Value), sent, now)
		}
	})
}

func (r *perfRun) beginTransaction() error {
	if !r.transactional || !r.transaction.IsZero() {
		return nil
	}
	r.transaction = time.Now()
	return r.cl.BeginTransaction()
}

// commit ends the open transaction, if there is one.
func (r *perfRun) commit() error {
	if r.transaction.IsZero() {
		return nil
	}
	r.transaction = time.Time{}
	ctx := context.WithoutCancel(r.o.Context)
	if err := r.cl.Flush(ctx); err != nil {
		return err
	}
	return r.cl.EndTransaction(ctx, kgo.TryCommit)
}

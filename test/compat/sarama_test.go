package compat

import (
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

// saramaClient is IBM/sarama.
type saramaClient struct{}

func (saramaClient) config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.MaxVersion
	c.Producer.Partitioner = sarama.NewManualPartitioner
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Return.Successes = true
	c.Producer.Return.Errors = true
	c.Consumer.Return.Errors = true
	return c
}

func (s saramaClient) produce(bootstrap, topic string, n int) error {
	p, err := sarama.NewAsyncProducer([]string{bootstrap}, s.config())
	if err != nil {
		return err
	}
	go func() {
		for i := range n {
			p.Input() <- &sarama.ProducerMessage{Topic: topic, Partition: int32(i % Partitions),
				Key: sarama.StringEncoder(Key(i)), Value: sarama.StringEncoder(Value(i))}
		}
	}()
	var failed error
	for range n {
		select {
		case <-p.Successes():
		case e := <-p.Errors():
			failed = errors.Join(failed, e)
		case <-time.After(patience):
			return errors.New("no acknowledgement")
		}
	}
	return errors.Join(failed, p.Close())
}

func (s saramaClient) consume(bootstrap, topic string, n int) error {
	c, err := sarama.NewConsumer([]string{bootstrap}, s.config())
	if err != nil {
		return err
	}
	defer c.Close()
	check := newChecker(n)
	for p := range Partitions {
		if err := s.consumePartition(c, topic, p, InPartition(n, p), check); err != nil {
			return err
		}
	}
	return check.result()
}

func (saramaClient) consumePartition(c sarama.Consumer, topic string, p, n int, check *checker) error {
	pc, err := c.ConsumePartition(topic, int32(p), sarama.OffsetOldest)
	if err != nil {
		return err
	}
	defer pc.Close()
	for range n {
		select {
		case m := <-pc.Messages():
			check.record(p, m.Offset, m.Key, m.Value)
		case e := <-pc.Errors():
			return e
		case <-time.After(patience):
			return fmt.Errorf("partition %d: no record after %d", p, check.seen)
		}
	}
	return nil
}

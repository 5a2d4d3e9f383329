package load

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Calls is a closed loop of rounds: each connection does one after the other.
type Calls struct {
	Address     string
	Connections int
	Rounds      int // in all
	Round       func(c *Conn, connection int) error
}

// Run runs the load to its end. Result.Requests counts rounds.
func (l Calls) Run() (Result, error) {
	conns, err := DialMany(l.Address, l.Connections)
	defer CloseAll(conns)
	if err != nil {
		return Result{}, err
	}
	each := max(1, l.Rounds/l.Connections)
	latencies, errs := make([]Latencies, l.Connections), make([]error, l.Connections)
	began := time.Now()
	var all sync.WaitGroup
	for i, c := range conns {
		all.Go(func() {
			for n := 0; n < each && errs[i] == nil; n++ {
				sent := time.Now()
				errs[i] = l.Round(c, i)
				latencies[i] = append(latencies[i], time.Since(sent))
			}
		})
	}
	all.Wait()
	result := Result{Requests: int64(each * l.Connections), Wall: time.Since(began)}
	for _, ls := range latencies {
		result.Latencies = append(result.Latencies, ls...)
	}
	return result, errors.Join(errs...)
}

// DialMany opens n connections. With an error it returns those that are open.
func DialMany(address string, n int) ([]*Conn, error) {
	conns := make([]*Conn, 0, n)
	for range n {
		c, err := Dial(address)
		if err != nil {
			return conns, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// CloseAll closes connections that are of no more use.
func CloseAll(conns []*Conn) {
	for _, c := range conns {
		_ = c.Close()
	}
}

// EndOffset asks for the end of a topic's first partition: a small request that
// reads a little state.
func (c *Conn) EndOffset(topic string) error {
	resp, err := c.ask(endOffsets(topic, 1))
	if err != nil {
		return err
	}
	topics := resp.(*kmsg.ListOffsetsResponse).Topics
	if len(topics) != 1 || len(topics[0].Partitions) != 1 || topics[0].Partitions[0].ErrorCode != 0 {
		return fmt.Errorf("end of %s: %+v", topic, topics)
	}
	return nil
}

// Command member is a member of a consumer group by one of Go's client libraries:
// it takes commands on standard input and writes events to standard output, a JSON
// object a line. The test of package compat says what they mean.
//
//	member franz-go [consumer]|sarama|kafka-go
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o := &output{}
	libraries := map[string]consumer{"franz-go": &franz{o: o}, "sarama": &saramaMember{o: o}, "kafka-go": &segment{o: o}}
	if len(args) == 2 && args[0] == "franz-go" && args[1] == "consumer" {
		return serve(o, &franz{o: o, serverSide: true})
	}
	if len(args) != 1 || libraries[args[0]] == nil {
		return fmt.Errorf("usage: member franz-go [consumer]|sarama|kafka-go")
	}
	return serve(o, libraries[args[0]])
}

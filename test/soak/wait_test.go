package soak

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// waitUntil waits for a condition, 60 seconds at most.
func waitUntil(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute until %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// leads says whether every partition of the load answers.
func leads(bootstrap string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return false
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, soakTopics...)
	if err != nil || len(ends) != len(soakTopics) {
		return false
	}
	for _, partitions := range ends {
		for _, e := range partitions {
			if e.Err != nil {
				return false
			}
		}
	}
	return true
}

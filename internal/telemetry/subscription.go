package telemetry

import (
	"fmt"
	"hash/crc32"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"time"

	"barnabas/internal/kafka"
)

// Client is who asks.
type Client struct {
	InstanceID      kafka.UUID // zero if the client has none yet
	ID              string     // client.id
	SoftwareName    string
	SoftwareVersion string
	Address         netip.AddrPort
}

// Resource is a client-metrics resource.
type Resource struct {
	Metrics  []string // prefixes of names; "*" for all
	Interval time.Duration
	// Match holds, for client_instance_id, client_id, client_software_name,
	// client_software_version, client_source_address and client_source_port, what a
	// client's whole value must match. Empty matches each client.
	Match map[string]*regexp.Regexp
}

func (r *Resource) matches(c *Client) bool {
	for key, expression := range r.Match {
		value := map[string]string{
			"client_instance_id": c.InstanceID.String(), "client_id": c.ID,
			"client_software_name": c.SoftwareName, "client_software_version": c.SoftwareVersion,
			"client_source_address": c.Address.Addr().String(), "client_source_port": strconv.Itoa(int(c.Address.Port())),
		}[key]
		if !expression.MatchString(value) {
			return false
		}
	}
	return true
}

// Subscription is what a client is asked for.
type Subscription struct {
	InstanceID kafka.UUID
	ID         int32
	Metrics    []string // empty: nothing; "*": all
	Interval   time.Duration
}

// defaultInterval is the interval of clients that are asked for nothing.
const defaultInterval = 5 * time.Minute

// allMetrics in a list stands for all.
const allMetrics = "*"

// subscribe joins the resources that match the client. The id is any number that
// changes with the subscription; Apache's is made likewise.
func subscribe(resources []Resource, c *Client) Subscription {
	s := Subscription{InstanceID: c.InstanceID, Interval: defaultInterval}
	matched := false
	for i := range resources {
		r := &resources[i]
		if !r.matches(c) {
			continue
		}
		if !matched || r.Interval < s.Interval {
			s.Interval = r.Interval
		}
		matched = true
		s.Metrics = append(s.Metrics, r.Metrics...)
	}
	slices.Sort(s.Metrics)
	s.Metrics = slices.Compact(s.Metrics)
	if slices.Contains(s.Metrics, allMetrics) {
		s.Metrics = []string{allMetrics}
	}
	text := fmt.Sprintf("%q%d", s.Metrics, s.Interval.Milliseconds())
	s.ID = int32(crc32.Checksum(append([]byte(text), c.InstanceID[:]...), crc32.MakeTable(crc32.Castagnoli)))
	return s
}

package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"barnabas/internal/cli/options"
)

// defaultAdmin is where a node's admin listener is unless barnabas.admin.listener
// says otherwise.
const defaultAdmin = "127.0.0.1:9095"

func topicsWhyOptions() *options.Set {
	return options.New(
		options.Option{Name: "admin", Argument: options.Required, Value: "host:port", Default: defaultAdmin,
			Help: "The admin listener of the node to ask (barnabas.admin.listener)."},
		outputOption,
	)
}

// topicsWhy is "topics why TOPIC": why old records are still there. Only the node
// itself knows, and tells it on its admin listener.
func topicsWhy(args []string, o IO) int {
	set := topicsWhyOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if len(set.Rest()) != 1 {
		return usageExit(set, o, errors.New("Usage: barnabas topics why TOPIC [--admin HOST:PORT] [-o json]"))
	}
	asJSON, err := checkOutput(set.Get("o"), set.Has("o"))
	var body []byte
	if err == nil {
		body, err = askAdmin(o, set.Get("admin"), "/topics/why?topic="+url.QueryEscape(set.Rest()[0]))
	}
	var answer whyAnswer
	if err == nil && json.Unmarshal(body, &answer) != nil {
		err = notAnAdminListener(set.Get("admin"))
	}
	if err != nil {
		fmt.Fprintf(o.Stderr, "topics why: %s\n", err)
		return 1
	}
	if asJSON {
		fmt.Fprintf(o.Stdout, "%s", body)
		return 0
	}
	answer.print(o.Stdout)
	return 0
}

// whyAnswer is what is printed of the page.
type whyAnswer struct {
	Topic      string
	Partitions []struct {
		Partition int32
		Reasons   []struct{ Text string }
		Facts     struct {
			State                        string
			Bytes                        int64
			Segments                     int
			LogStartOffset, LogEndOffset int64
		}
	}
}

func (a *whyAnswer) print(w io.Writer) {
	for _, p := range a.Partitions {
		fmt.Fprintf(w, "%s-%d", a.Topic, p.Partition)
		if f := p.Facts; f.State == "online" {
			fmt.Fprintf(w, ": offsets %d to %d, %d bytes in %d segments", f.LogStartOffset, f.LogEndOffset, f.Bytes, f.Segments)
		}
		fmt.Fprintln(w)
		for _, r := range p.Reasons {
			fmt.Fprintf(w, "  - %s\n", r.Text)
		}
	}
}

func notAnAdminListener(address string) error {
	return fmt.Errorf("what answers at %s is not the admin listener of a Barnabas node (barnabas.admin.listener; --admin names another)", address)
}

// adminLimit bounds what is read of a page.
const adminLimit = 64 << 20

// askAdmin reads a page of a node's admin listener. What the node refuses is an
// error with its text.
func askAdmin(o IO, address, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(o.Context, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil, fmt.Errorf("--admin %s: it must be host:port", address)
	}
	client := http.Client{Timeout: adminTimeout, Transport: &http.Transport{DisableKeepAlives: true, ResponseHeaderTimeout: 30 * time.Second}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no node of Barnabas answers at %s, where its admin listener is asked (barnabas.admin.listener; --admin names another): %w", address, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, adminLimit))
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		return body, nil
	case resp.StatusCode == http.StatusNotFound && len(body) > 0 && resp.Header.Get("Cache-Control") == "no-store":
		return nil, errors.New(string(trimLine(body)))
	}
	return nil, notAnAdminListener(address)
}

func trimLine(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return b
}

package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"barnabas/internal/cli/options"
)

// defaultAdmin is where a node's admin listener is unless barnabas.admin.listener
// says otherwise.
const defaultAdmin = "127.0.0.1:9095"

func whyOptions() *options.Set {
	return options.New(
		options.Option{Name: "admin", Argument: options.Required, Value: "host:port", Default: defaultAdmin,
			Help: "The admin listener of the node to ask (barnabas.admin.listener)."},
		outputOption,
	)
}

// whyAnswer is what a page of the admin listener says, with the fields that are
// printed.
type whyAnswer interface {
	print(out io.Writer, now time.Time)
}

// why is "topics why TOPIC" or "groups why GROUP", as what says: "topic" or "group".
// Only a node of this project knows such things, and tells them on its admin
// listener. The page is read into answer.
func why(what string, answer whyAnswer, args []string, o IO) int {
	set := whyOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if len(set.Rest()) != 1 {
		return usageExit(set, o, fmt.Errorf("Usage: barnabas %ss why %s [--admin HOST:PORT] [-o json]", what, strings.ToUpper(what)))
	}
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	var body []byte
	if err == nil {
		body, err = askAdmin(o, set.Get("admin"), "/"+what+"s/why?"+what+"="+url.QueryEscape(set.Rest()[0]))
	}
	if err == nil && json.Unmarshal(body, answer) != nil {
		err = notAnAdminListener(set.Get("admin"))
	}
	if err != nil {
		fmt.Fprintf(o.Stderr, "%ss why: %s\n", what, err)
		return 1
	}
	if asJSON {
		fmt.Fprintf(o.Stdout, "%s", body)
		return 0
	}
	answer.print(o.Stdout, time.Now())
	return 0
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
	case len(body) > 0 && resp.Header.Get("Cache-Control") == "no-store": // a page of the listener, not one that is missing
		return nil, errors.New(strings.TrimSpace(string(body)))
	}
	return nil, notAnAdminListener(address)
}

// counted is a number with its word, which gets an s where it is more than one.
func counted[N int | int64](n N, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

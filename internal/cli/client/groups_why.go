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

func groupsWhyOptions() *options.Set {
	return options.New(
		options.Option{Name: "admin", Argument: options.Required, Value: "host:port", Default: defaultAdmin, Help: "The admin listener of the node (barnabas.admin.listener)."},
		options.Option{Name: "json", Help: "Print what the node says as it is."},
	)
}

// groupWhy is what /groups/why says.
type groupWhy struct {
	Group      string `json:"group"`
	State      string `json:"state"`
	Members    int    `json:"members"`
	Rebalances []struct {
		Began       time.Time `json:"began"`
		TookSeconds float64   `json:"tookSeconds"`
		Cause       string    `json:"cause"`
		Member      string    `json:"member"`
		Client      string    `json:"client"`
		Reason      string    `json:"reason"`
		Lost        []string  `json:"lost"`
		LostCount   int       `json:"lostCount"`
		Generation  int32     `json:"generation"`
		Members     int       `json:"members"`
		Outcome     string    `json:"outcome"`
	} `json:"rebalances"`
	Partitions []struct {
		Topic         string  `json:"topic"`
		Partition     int32   `json:"partition"`
		Committed     int64   `json:"committed"`
		End           int64   `json:"end"`
		Lag           int64   `json:"lag"`
		BehindSeconds float64 `json:"behindSeconds"`
		Stuck         bool    `json:"stuck"`
		StillSeconds  float64 `json:"stillSeconds"`
	} `json:"partitions"`
}

// groupsWhy is "groups why GROUP": what a node of this project remembers of a group.
func groupsWhy(args []string, o IO) int {
	set := groupsWhyOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if len(set.Rest()) != 1 {
		return usageExit(set, o, errors.New("Usage: groups why GROUP"))
	}
	group := set.Rest()[0]
	body, err := askAdminPage(o, set.Get("admin"), "/groups/why?group="+url.QueryEscape(group))
	if err != nil {
		fmt.Fprintf(o.Stderr, "groups why: %s\n", err)
		return 1
	}
	if set.Has("json") {
		fmt.Fprint(o.Stdout, string(body))
		return 0
	}
	var why groupWhy
	if err := json.Unmarshal(body, &why); err != nil {
		fmt.Fprintf(o.Stderr, "groups why: %s is no admin listener of Barnabas: %s\n", set.Get("admin"), err)
		return 1
	}
	why.print(o.Stdout, time.Now())
	return 0
}

// maxAdminAnswer bounds what is read of the admin listener.
const maxAdminAnswer = 16 << 20

// askAdminPage gets a page of the admin listener. Only a node of this project has one.
func askAdminPage(o IO, address, page string) ([]byte, error) {
	req, err := http.NewRequestWithContext(o.Context, http.MethodGet, "http://"+address+page, nil)
	if err != nil {
		return nil, err
	}
	cl := http.Client{Timeout: 15 * time.Second}
	resp, err := cl.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no admin listener of Barnabas answers at %s; --admin says where it is, and other brokers have none (%w)", address, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAdminAnswer))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, errors.New(strings.TrimSpace(string(body)))
	case resp.Header.Get("Content-Type") != "application/json":
		return nil, fmt.Errorf("%s is no admin listener of Barnabas", address)
	}
	return body, nil
}

func (w *groupWhy) print(out io.Writer, now time.Time) {
	fmt.Fprintf(out, "Group %s is %s with %d members.\n", w.Group, w.State, w.Members)
	if len(w.Rebalances) == 0 {
		fmt.Fprint(out, "\nNo rebalance since this node started.\n")
	} else {
		fmt.Fprint(out, "\nLast rebalances, the newest first:\n")
	}
	for _, r := range w.Rebalances {
		fmt.Fprintf(out, "  %s ago  %-22s took %s, %s: generation %d, %d members", round(now.Sub(r.Began)), r.Cause, round(seconds(r.TookSeconds)), r.Outcome, r.Generation, r.Members)
		if r.Member != "" {
			fmt.Fprintf(out, "; by %s (%s)", r.Member, r.Client)
		}
		if r.Reason != "" {
			fmt.Fprintf(out, ": %s", r.Reason)
		}
		if r.LostCount > 0 {
			fmt.Fprintf(out, "; did not come in time: %s", strings.Join(r.Lost, ", "))
		}
		fmt.Fprintln(out)
	}
	stuck := 0
	for _, p := range w.Partitions {
		if !p.Stuck {
			continue
		}
		if stuck++; stuck == 1 {
			fmt.Fprint(out, "\nStuck partitions: members are there, records wait, and nothing is committed:\n")
		}
		fmt.Fprintf(out, "  %s-%d at %d for %s, %d records wait\n", p.Topic, p.Partition, p.Committed, round(seconds(p.StillSeconds)), p.Lag)
	}
	if stuck == 0 {
		fmt.Fprint(out, "\nNo partition is stuck.\n")
	}
	behind := 0
	for _, p := range w.Partitions {
		if p.Lag == 0 || p.Stuck {
			continue
		}
		if behind++; behind == 1 {
			fmt.Fprint(out, "\nBehind:\n")
		}
		fmt.Fprintf(out, "  %s-%d by %d records, for %s\n", p.Topic, p.Partition, p.Lag, round(seconds(p.BehindSeconds)))
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// round leaves of a duration what people read.
func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

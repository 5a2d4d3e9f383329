package client

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// groupWhy is what became of a group lately.
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
	Unwatched bool `json:"unwatched"`
}

func (w *groupWhy) print(out io.Writer, now time.Time) {
	fmt.Fprintf(out, "Group %s is %s with %s.\n", w.Group, w.State, counted(w.Members, "member"))
	if len(w.Rebalances) == 0 {
		fmt.Fprint(out, "\nNo rebalance since this node started.\n")
	} else {
		fmt.Fprint(out, "\nLast rebalances, the newest first:\n")
	}
	for _, r := range w.Rebalances {
		fmt.Fprintf(out, "  %s ago  %-22s took %s, %s: generation %d, %s", round(now.Sub(r.Began)), r.Cause, round(seconds(r.TookSeconds)), r.Outcome, r.Generation, counted(r.Members, "member"))
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
	if w.Unwatched {
		fmt.Fprint(out, "\nIts partitions are not watched: there are more of all groups than there is room for (barnabas_group_lag_dropped).\n")
		return
	}
	stuck := 0
	for _, p := range w.Partitions {
		if !p.Stuck {
			continue
		}
		if stuck++; stuck == 1 {
			fmt.Fprint(out, "\nStuck partitions: members are there, records wait, and nothing is committed:\n")
		}
		fmt.Fprintf(out, "  %s-%d at %d for %s, behind by %s\n", p.Topic, p.Partition, p.Committed, round(seconds(p.StillSeconds)), counted(p.Lag, "record"))
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
		fmt.Fprintf(out, "  %s-%d by %s, for %s\n", p.Topic, p.Partition, counted(p.Lag, "record"), round(seconds(p.BehindSeconds)))
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

package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serveAdmin serves an admin listener and returns its address.
func serveAdmin(t *testing.T, page http.HandlerFunc) string {
	server := httptest.NewServer(page)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestTopicsWhy(t *testing.T) {
	page := `{"topic":"a","partitions":[{"partition":0,"reasons":[{"rule":"x","text":"because"},{"rule":"y","text":"and so"}],` +
		`"facts":{"state":"online","bytes":79,"segments":2,"logStartOffset":3,"logEndOffset":5}},{"partition":1,"reasons":[{"text":"gone"}],"facts":{"state":"offline"}},{"partition":2,"facts":{"state":"online","bytes":70,"segments":1,"logStartOffset":0,"logEndOffset":1}}]}` + "\n"
	address := serveAdmin(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("topic") {
		case "a":
			fmt.Fprint(w, page)
		case "other":
			fmt.Fprint(w, "<html>")
		case "unknown":
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, "no such topic here")
		default:
			http.NotFound(w, r)
		}
	})
	stdout, stderr, exit := call(Topics, "why", "a", "--admin", address)
	if want := "a-0: offsets 3 to 5, 79 bytes in 2 segments\n  - because\n  - and so\na-1\n  - gone\na-2: offsets 0 to 1, 70 bytes in 1 segment\n"; stdout != want || stderr != "" || exit != 0 {
		t.Errorf("%q %q %d", stdout, stderr, exit)
	}
	if stdout, _, exit := call(Topics, "why", "a", "-o", "json", "--admin", address); stdout != page || exit != 0 {
		t.Errorf("%q %d", stdout, exit)
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	for args, want := range map[string]string{
		"why unknown --admin " + address:                             "topics why: no such topic here\n",
		"why other --admin " + address:                               "is not the admin listener of a Barnabas node",
		"why x --admin " + address:                                   "is not the admin listener of a Barnabas node",
		"why a --admin " + strings.TrimPrefix(closed.URL, "http://"): "no node of Barnabas answers at",
		"why":             "Usage: barnabas topics why TOPIC",
		"why a b":         "Usage: barnabas topics why TOPIC",
		"why a -o xml":    "-o xml is not supported",
		"why a --admin :": "topics why:",
	} {
		if stdout, stderr, exit := call(Topics, strings.Fields(args)...); exit != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: %q %q %d", args, stdout, stderr, exit)
		}
	}
}

func TestGroupsWhy(t *testing.T) {
	began := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339Nano)
	address := serveAdmin(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		switch r.URL.Path + " " + r.URL.Query().Get("group") {
		case "/groups/why a b&c":
			fmt.Fprintf(w, `{"group":"a b&c","state":"Stable","members":1,"rebalances":[`+
				`{"began":%[1]q,"tookSeconds":3.25,"cause":"session-timeout","member":"m-1","client":"c","reason":"late","lost":["m-2"],"lostCount":1,"generation":4,"members":2,"outcome":"stable"},`+
				`{"began":%[1]q,"tookSeconds":0,"cause":"member-left","generation":3,"members":1,"outcome":"empty"}],"partitions":[`+
				`{"topic":"t","partition":0,"committed":4,"end":10,"lag":6,"behindSeconds":90,"stuck":true,"stillSeconds":75},`+
				`{"topic":"t","partition":1,"committed":9,"end":10,"lag":1,"behindSeconds":2.5},{"topic":"t","partition":2,"committed":10,"end":10,"lag":0}]}`, began)
		case "/groups/why calm":
			fmt.Fprint(w, `{"group":"calm","state":"Empty","members":0,"rebalances":[],"partitions":[]}`)
		case "/groups/why unwatched":
			fmt.Fprint(w, `{"group":"unwatched","state":"Empty","members":0,"rebalances":[],"partitions":[],"unwatched":true}`)
		case "/groups/why loading":
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, "it is being loaded")
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, "there is no such group")
		}
	})
	stdout, stderr, exit := call(Groups, "why", "a b&c", "--admin", address)
	want := `Group a b&c is Stable with 1 member.

Last rebalances, the newest first:
  1h0m0s ago  session-timeout        took 3.25s, stable: generation 4, 2 members; by m-1 (c): late; did not come in time: m-2
  1h0m0s ago  member-left            took 0s, empty: generation 3, 1 member

Stuck partitions: members are there, records wait, and nothing is committed:
  t-0 at 4 for 1m15s, behind by 6 records

Behind:
  t-1 by 1 record, for 2.5s
`
	if stdout != want || stderr != "" || exit != 0 {
		t.Errorf("exit %d, %s\n%s", exit, stderr, stdout)
	}
	if stdout, _, exit := call(Groups, "why", "calm", "--admin", address); exit != 0 || stdout != "Group calm is Empty with 0 members.\n\nNo rebalance since this node started.\n\nNo partition is stuck.\n" {
		t.Errorf("exit %d, %s", exit, stdout)
	}
	if stdout, _, exit := call(Groups, "why", "unwatched", "--admin", address); exit != 0 || !strings.Contains(stdout, "Its partitions are not watched") || strings.Contains(stdout, "stuck") {
		t.Errorf("exit %d, %s", exit, stdout)
	}
	if stdout, _, exit := call(Groups, "why", "calm", "-o", "json", "--admin", address); exit != 0 || !strings.HasPrefix(stdout, `{"group":"calm"`) {
		t.Errorf("exit %d, %s", exit, stdout)
	}
	for args, want := range map[string]string{
		"why nosuch --admin " + address:  "groups why: there is no such group\n",
		"why loading --admin " + address: "groups why: it is being loaded\n",
		"why":                            "Usage: barnabas groups why GROUP [--admin HOST:PORT] [-o json]\n",
	} {
		if stdout, stderr, exit := call(Groups, strings.Fields(args)...); exit != 1 || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: %q %q %d", args, stdout, stderr, exit)
		}
	}
}

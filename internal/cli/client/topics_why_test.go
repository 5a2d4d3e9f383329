package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTopicsWhy(t *testing.T) {
	page := `{"topic":"a","partitions":[{"partition":0,"reasons":[{"rule":"x","text":"because"},{"rule":"y","text":"and so"}],` +
		`"facts":{"state":"online","bytes":79,"segments":2,"logStartOffset":3,"logEndOffset":5}},{"partition":1,"reasons":[{"text":"gone"}],"facts":{"state":"offline"}}]}` + "\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	stdout, stderr, exit := call(Topics, "why", "a", "--admin", address)
	if want := "a-0: offsets 3 to 5, 79 bytes in 2 segments\n  - because\n  - and so\na-1\n  - gone\n"; stdout != want || stderr != "" || exit != 0 {
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

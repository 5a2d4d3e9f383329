package membership

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func dirID(n byte) kafka.UUID { return kafka.UUID{0: 1, 15: n} }

func dirList(ids [][16]byte) string {
	if ids == nil {
		return "null"
	}
	out := []string{}
	for _, id := range ids {
		out = append(out, strconv.Itoa(int(id[15])))
	}
	return "[" + strings.Join(out, " ") + "]"
}

func showRequest(r kmsg.Request) string {
	switch r := r.(type) {
	case *kmsg.BrokerRegistrationRequest:
		return fmt.Sprintf("register v%d broker=%d cluster=%s previous=%d dirs=%s", r.Version, r.BrokerID, r.ClusterID, r.PreviousBrokerEpoch, dirList(r.LogDirs))
	case *kmsg.BrokerHeartbeatRequest:
		return fmt.Sprintf("heartbeat epoch=%d offset=%d fence=%v shutdown=%v offline=%s cordoned=%s", r.BrokerEpoch, r.CurrentMetadataOffset, r.WantFence, r.WantShutdown, dirList(r.OfflineLogDirs), dirList(r.CordonedLogDirs))
	}
	return ""
}

// TestScripts drives the core: "start" makes it, the other commands are inputs at
// the time set by "at" (milliseconds). Printed are the state, what is sent and
// when the core wants to be asked again.
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		began := time.Unix(1_000_000, 0)
		now := began
		var c *core
		return func(cmd script.Command) string {
			ms := func(key string) time.Time { return began.Add(time.Duration(cmd.Int(key, 0)) * time.Millisecond) }
			n := func() int64 {
				v, err := strconv.ParseInt(cmd.Word(0), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			switch cmd.Name {
			case "start":
				c = newCore(Options{
					ID: 1, ClusterID: "c", LogDirs: []kafka.UUID{dirID(8), dirID(7)}, PreviousEpoch: kafka.BrokerEpoch(cmd.Int("previous", -1)),
					HeartbeatInterval: 2 * time.Second, InitialRegistrationTimeout: time.Minute, DirFailureTimeout: 30 * time.Second, ControlledShutdown: true,
				})
				c.onStart(now)
			case "at":
				now = began.Add(time.Duration(n()) * time.Millisecond)
			case "registered":
				c.onRegistered(now, kafka.ErrorCode(cmd.Int("code", 0)), kafka.BrokerEpoch(cmd.Int("epoch", -1)))
			case "heartbeat":
				a := kmsg.NewBrokerHeartbeatResponse()
				a.ErrorCode, a.IsCaughtUp, a.IsFenced, a.ShouldShutdown = int16(cmd.Int("code", 0)), cmd.Has("caught-up"), cmd.Has("fenced"), cmd.Has("shutdown")
				c.onHeartbeat(now, &a)
			case "failed":
				c.onFailed(now)
			case "metadata":
				c.onMetadata(Metadata{Offset: kafka.Offset(n()), Version: kafka.MetadataVersion(cmd.Int("mv", 33))})
			case "ready":
				c.onReady()
			case "dir":
				c.onDirOffline(now, dirID(byte(n())))
			case "cordon":
				c.onCordoned([]kafka.UUID{dirID(byte(n()))})
			case "shutdown":
				c.onShutdown(ms("deadline"))
			default:
				t.Fatalf("unknown command %q", cmd.Name)
			}
			request, wake := c.next(now)
			out := c.state.String()
			if c.failure != "" {
				out += ": " + c.failure
			}
			if !wake.IsZero() {
				out += fmt.Sprintf(", again at %d", wake.Sub(began).Milliseconds())
			}
			if request != nil {
				out += "\n" + showRequest(request)
			}
			return out
		}
	})
}

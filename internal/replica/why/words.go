package why

import (
	"fmt"
	"time"

	"barnabas/internal/kafka"
)

// latest is the largest time that is written out: what lies behind it, as a
// timestamp that makes no sense may, is a number.
const latest = 253402300799999 // 9999-12-31

func when(ms kafka.TimestampMs) string {
	if ms < 0 || ms > latest {
		return fmt.Sprintf("timestamp %d", ms)
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05 UTC")
}

// span is a duration in its two largest units.
func span(ms int64) string {
	units := []struct {
		ms   int64
		name string
	}{{86_400_000, "day"}, {3_600_000, "hour"}, {60_000, "minute"}, {1000, "second"}, {1, "millisecond"}}
	for i, u := range units {
		if ms < u.ms {
			continue
		}
		text := count(ms/u.ms, u.name)
		if i+1 < len(units) && u.ms > 1000 {
			if rest := ms % u.ms / units[i+1].ms; rest > 0 {
				text += " " + count(rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 milliseconds"
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func size(bytes int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	if bytes < 1024 {
		return count(bytes, "byte")
	}
	v, unit := float64(bytes), ""
	for _, unit = range units {
		if v /= 1024; v < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

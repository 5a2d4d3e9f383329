package run

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A node has little alive, a few megabytes, and much that passes by. Left to
// itself, Go would collect that small heap again and again. So the heap may grow to
// five times what lives before it is collected, but by no more than growth, unless
// it is so large that Go's own rule gives it more. And since what has been touched
// once stays with the process, a node that has become quiet gives it back to the
// system. docs/decisions/0002-heap.md has the measurements.
//
// Both are of the process, not of a node: only the command does this, never a node
// inside somebody else's program. GOGC in the environment switches the first off.
const (
	growth     = 64 << 20
	minPercent = 100 // Go's own: a heap may double
	maxPercent = 400 // Go's smallest heap, 4 MiB at 100 %, is 16 MiB then

	quietCheck = 4 * time.Second
	quietBytes = 2 << 20 // allocated in quietCheck by a node that is quiet
	worthwhile = 8 << 20 // that can be given back
)

// percentFor is GOGC for a heap of so many living bytes.
func percentFor(live uint64) int {
	if live == 0 {
		return maxPercent
	}
	return int(min(max(growth*100/live, minPercent), maxPercent))
}

// keeper is what looks after the process's memory.
type keeper struct {
	stop chan struct{}
	done sync.WaitGroup
}

// keepMemory begins to look after the process's memory, until close.
func keepMemory(environ []string) *keeper {
	k := &keeper{stop: make(chan struct{})}
	if lookup(environ, "GOGC") == "" {
		debug.SetGCPercent(maxPercent)
		k.arm()
	}
	k.done.Go(k.watch)
	return k
}

func (k *keeper) close() {
	close(k.stop)
	k.done.Wait()
}

func (k *keeper) stopped() bool {
	select {
	case <-k.stop:
		return true
	default:
		return false
	}
}

// cycle is an object that nobody holds: its end is the end of a collection.
type cycle struct{ keeper *keeper }

// arm has the percentage follow what the next collection finds alive.
func (k *keeper) arm() {
	runtime.SetFinalizer(&cycle{k}, func(c *cycle) {
		if c.keeper.stopped() {
			debug.SetGCPercent(minPercent)
			return
		}
		debug.SetGCPercent(percentFor(readMemory().live))
		c.keeper.arm()
	})
}

// watch gives memory back once whenever the node has become quiet.
func (k *keeper) watch() {
	tick := time.NewTicker(quietCheck)
	defer tick.Stop()
	q := quiet{last: readMemory()}
	for {
		select {
		case <-k.stop:
			return
		case <-tick.C:
		}
		if q.giveBack(readMemory()) {
			debug.FreeOSMemory()
		}
	}
}

// quiet notices that a node has become quiet.
type quiet struct {
	last memory
	told bool // since it became quiet
}

// giveBack says whether to give memory back now. It is asked at intervals.
func (q *quiet) giveBack(now memory) bool {
	allocated := now.allocated - q.last.allocated
	q.last = now
	if allocated > quietBytes {
		q.told = false
		return false
	}
	if q.told || now.spare() < worthwhile {
		return false
	}
	q.told = true
	return true
}

// memory is what the runtime says of the heap, in bytes.
type memory struct {
	live      uint64 // found by the last collection
	allocated uint64 // ever
	objects   uint64 // live and dead
	free      uint64 // in the process's hands, without objects
}

// spare is what a collection could give back to the system.
func (m memory) spare() uint64 { return m.free + max(m.objects, m.live) - m.live }

func readMemory() memory {
	s := [...]metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
	}
	metrics.Read(s[:])
	v := func(i int) uint64 { return s[i].Value.Uint64() }
	return memory{live: v(0), allocated: v(1), objects: v(2), free: v(3) + v(4)}
}

// minMemory is the least that --memory may say: a node without clients needs a
// third of it.
const minMemory = 64 << 20

// limitMemory sets the limit that --memory names.
func limitMemory(text string) error {
	size, err := parseSize(text)
	if err != nil {
		return fmt.Errorf("--memory %s: %w", text, err)
	}
	if size < minMemory {
		return fmt.Errorf("--memory %s: must be 64M at least", text)
	}
	debug.SetMemoryLimit(size)
	return nil
}

// parseSize reads a number of bytes with an optional unit: K, M, G, T, also as KB
// or KiB, all powers of 1024.
func parseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "KMGTBIkmgtbi")
	shift := -1
	switch strings.ToUpper(text[len(number):]) {
	case "", "B":
		shift = 0
	case "K", "KB", "KIB":
		shift = 10
	case "M", "MB", "MIB":
		shift = 20
	case "G", "GB", "GIB":
		shift = 30
	case "T", "TB", "TIB":
		shift = 40
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || shift < 0 || n > math.MaxInt64>>shift {
		return 0, errors.New("must be a number of bytes such as 512M or 2G")
	}
	return n << shift, nil
}

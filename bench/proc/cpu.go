package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the CPU time that the process has used, ended threads included.
func cpuTime(pid int) (time.Duration, error) {
	const schedClock = 2 // CPUCLOCK_SCHED of the kernel's encoding of foreign clocks
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedClock), &ts); err != nil {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// userHZ is the unit of /proc/stat on every Linux that Go runs on.
const userHZ = 100

// machineBusy is the time that all processors together were neither idle nor
// waiting for a disk.
func machineBusy() (time.Duration, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var ticks int64
	for _, column := range []int{1, 2, 3, 6, 7, 8} { // user nice system irq softirq steal
		n, err := strconv.ParseInt(fields[column], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHZ, nil
}

// moment is the state of all clocks at one instant.
type moment struct {
	wall                   time.Time
	server, client, system time.Duration
	switches               int64
}

// now reads all clocks; pid 0 is a process that does not run yet.
func now(pid int) (moment, error) {
	var m moment
	var err error
	if pid != 0 {
		if m.server, err = cpuTime(pid); err != nil {
			return m, err
		}
		if m.switches, err = contextSwitches(pid); err != nil {
			return m, err
		}
	}
	if m.client, err = cpuTime(os.Getpid()); err != nil {
		return m, err
	}
	m.system, err = machineBusy()
	m.wall = time.Now()
	return m, err
}

// Window is a span of time over one process.
type Window struct {
	pid   int
	begin moment
}

// Cost is what happened in a window.
type Cost struct {
	Wall     time.Duration
	Server   time.Duration // CPU time of the process
	Client   time.Duration // CPU time of the caller's process
	Foreign  float64       // CPUs that everything else kept busy
	Switches int64         // context switches of threads that still live
}

// Open begins a window.
func Open(pid int) (*Window, error) {
	begin, err := now(pid)
	return &Window{pid: pid, begin: begin}, err
}

// OpenBeforeStart begins a window over a process that is about to be started;
// CloseOn says which it was.
func OpenBeforeStart() (*Window, error) { return Open(0) }

// CloseOn is Close for a window of OpenBeforeStart.
func (w *Window) CloseOn(pid int) (Cost, error) {
	w.pid = pid
	return w.Close()
}

// Close ends the window.
func (w *Window) Close() (Cost, error) {
	end, err := now(w.pid)
	if err != nil {
		return Cost{}, err
	}
	c := Cost{
		Wall:     end.wall.Sub(w.begin.wall),
		Server:   end.server - w.begin.server,
		Client:   end.client - w.begin.client,
		Switches: end.switches - w.begin.switches,
	}
	foreign := end.system - w.begin.system - c.Server - c.Client
	c.Foreign = max(0, foreign.Seconds()/c.Wall.Seconds())
	return c, nil
}

// Foreign watches the machine for the given time and says how many CPUs others
// keep busy.
func Foreign(span time.Duration) (float64, error) {
	w, err := Open(os.Getpid())
	if err != nil {
		return 0, err
	}
	time.Sleep(span)
	c, err := w.Close()
	// The process is server and client at once here, so its time went off twice.
	return c.Foreign + c.Client.Seconds()/c.Wall.Seconds(), err
}

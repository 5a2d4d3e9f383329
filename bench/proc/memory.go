package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory is resident memory of a process in bytes.
type Memory struct {
	RSS  int64 // with mapped files
	Anon int64 // without
	Peak int64 // the highest RSS so far
}

// ReadMemory reads /proc/PID/status.
func ReadMemory(pid int) (Memory, error) {
	fields, err := status(fmt.Sprintf("/proc/%d/status", pid), "VmRSS", "RssAnon", "VmHWM")
	if err != nil {
		return Memory{}, err
	}
	return Memory{RSS: fields[0] << 10, Anon: fields[1] << 10, Peak: fields[2] << 10}, nil
}

// contextSwitches is the sum over the threads that live.
func contextSwitches(pid int) (int64, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, file := range files {
		fields, err := status(file, "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
		if errors.Is(err, os.ErrNotExist) {
			continue // the thread has ended meanwhile
		}
		if err != nil {
			return 0, err
		}
		sum += fields[0] + fields[1]
	}
	return sum, nil
}

// status reads numbers from a status file, in the order of names.
func status(file string, names ...string) ([]int64, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	values := make([]int64, len(names))
	found := 0
	for line := range strings.Lines(string(b)) {
		key, rest, _ := strings.Cut(line, ":")
		for i, name := range names {
			if key != name {
				continue
			}
			number := strings.TrimSuffix(strings.TrimSpace(rest), " kB")
			if values[i], err = strconv.ParseInt(number, 10, 64); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file, name, err)
			}
			found++
		}
	}
	if found != len(names) {
		return nil, fmt.Errorf("%s: found %d of %v", file, found, names)
	}
	return values, nil
}

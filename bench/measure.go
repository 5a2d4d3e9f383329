package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"barnabas/bench/load"
	"barnabas/bench/proc"
	"barnabas/test/kit"
)

// measure runs work in a window over the node's process, once the machine is
// quiet or the patience for that is at its end.
func measure(s *side, n *kit.Node, work func() (load.Result, error)) (load.Result, proc.Cost, error) {
	if err := s.waitQuiet(); err != nil {
		return load.Result{}, proc.Cost{}, err
	}
	window, err := proc.Open(n.PID())
	if err != nil {
		return load.Result{}, proc.Cost{}, err
	}
	result, err := work()
	if err != nil {
		return result, proc.Cost{}, err
	}
	cost, err := window.Close()
	if err != nil {
		return result, cost, err
	}
	s.noisy = s.noisy || cost.Foreign > noisyAbove
	return result, cost, s.takeProfile(n, work)
}

// startInWindow starts n in a window that begins with its process.
func (s *side) startInWindow(n *kit.Node) (*proc.Window, error) {
	window, err := proc.OpenBeforeStart()
	if err != nil {
		return nil, err
	}
	return window, s.start(n)
}

// closeWindow ends a window of startInWindow.
func (s *side) closeWindow(window *proc.Window, n *kit.Node) error {
	cost, err := window.CloseOn(n.PID())
	s.noisy = s.noisy || cost.Foreign > noisyAbove
	return err
}

// waitQuiet waits until others leave the machine alone, as long as -settle says.
func (s *side) waitQuiet() error {
	for deadline := time.Now().Add(s.settle); time.Now().Before(deadline); {
		foreign, err := proc.Foreign(500 * time.Millisecond)
		if err != nil || foreign <= noisyAbove {
			return err
		}
	}
	return nil
}

// profileTime is how long a profile is.
const profileTime = 5 * time.Second

// takeProfile repeats work while a CPU profile is taken of our server.
func (s *side) takeProfile(n *kit.Node, work func() (load.Result, error)) error {
	if s.profile == "" || !s.ours {
		return nil
	}
	taken := make(chan error, 1)
	file := filepath.Join(s.profile, s.workload+".pprof")
	go func() {
		url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%.0f", n.Admin, profileTime.Seconds())
		taken <- download(url, file)
	}()
	for {
		select {
		case err := <-taken:
			return err
		default:
		}
		if _, err := work(); err != nil {
			return errors.Join(err, <-taken)
		}
	}
}

func download(url, file string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, resp.Body)
	return errors.Join(err, out.Close())
}

// perGB is CPU seconds per 10^9 bytes.
func perGB(d time.Duration, bytes int64) float64 { return d.Seconds() / (float64(bytes) / 1e9) }

// perRequest is microseconds of CPU per request.
func perRequest(d time.Duration, requests int64) float64 {
	return float64(d.Nanoseconds()) / 1e3 / float64(requests)
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func megabytes(n int64) float64 { return float64(n) / 1e6 }

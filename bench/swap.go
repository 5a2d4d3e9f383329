package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"barnabas/bench/load"
	"barnabas/bench/table"
	"barnabas/test/kit"
)

// golden has folders that Apache Kafka wrote, relative to this module.
const golden = "../test/oracle/testdata/golden"

// swap starts a server on a folder of Apache Kafka's, stopped or killed.
type swap string

func (v swap) run(s *side) (outcome, error) {
	partitions, err := v.partitions()
	if err != nil {
		return outcome{}, err
	}
	s.nodes++
	dir := filepath.Join(s.root, strconv.Itoa(s.nodes))
	if err := kit.Untar(filepath.Join(golden, string(v)+".tar.gz"), dir); err != nil {
		return outcome{}, err
	}
	n, err := kit.AdoptNode(s.server, dir, "authorizer.class.name", "super.users")
	if err != nil {
		return outcome{}, err
	}
	if err := s.setAdmin(n); err != nil {
		return outcome{}, err
	}
	if err := s.waitQuiet(); err != nil {
		return outcome{}, err
	}
	began := time.Now()
	window, err := s.startInWindow(n)
	if err != nil {
		return outcome{}, err
	}
	listening := time.Since(began)
	if err := load.WaitLeaders(n.Address(), partitions); err != nil {
		return outcome{}, err
	}
	led := time.Since(began)
	if err := s.closeWindow(window, n); err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{
		{"listens", "ms", table.Goal{}, milliseconds(listening)},
		{fmt.Sprintf("%d partitions have leaders", partitions), "ms", table.Goal{}, milliseconds(led)},
	}}, nil
}

// partitions counts what the folder holds.
func (v swap) partitions() (int, error) {
	b, err := os.ReadFile(filepath.Join(golden, "expect.json"))
	if err != nil {
		return 0, err
	}
	var expect map[string]struct {
		Topics map[string]struct{ PartitionCount int }
	}
	if err := json.Unmarshal(b, &expect); err != nil {
		return 0, fmt.Errorf("expect.json: %w", err)
	}
	count := 0
	for _, t := range expect[string(v)].Topics {
		count += t.PartitionCount
	}
	if count == 0 {
		return 0, fmt.Errorf("expect.json says nothing of partitions of the %s folder", v)
	}
	return count, nil
}

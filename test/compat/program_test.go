package compat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"barnabas/test/kit"
)

// program is a client in another language: "command produce|consume bootstrap
// topic records".
type program struct{ command []string }

func (p program) run(verb, bootstrap, topic string, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := append(p.command[1:len(p.command):len(p.command)], verb, bootstrap, topic, strconv.Itoa(n))
	out, err := exec.CommandContext(ctx, p.command[0], args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(p.command[0]), verb, err, out[max(0, len(out)-3000):])
	}
	return nil
}

func (p program) produce(bootstrap, topic string, n int) error {
	return p.run("produce", bootstrap, topic, n)
}

func (p program) consume(bootstrap, topic string, n int) error {
	return p.run("consume", bootstrap, topic, n)
}

// javaClient is Apache's own Java client.
func javaClient(a *kit.Apache) program {
	return program{[]string{"java", "-cp", a.ClassPath(), "java/RoundTrip.java"}}
}

// kcat is the command-line client on librdkafka.
type kcat struct{}

func (kcat) produce(bootstrap, topic string, n int) error {
	for p := range Partitions {
		cmd := exec.Command("kcat", "-P", "-b", bootstrap, "-t", topic, "-p", strconv.Itoa(p), "-K", ":", "-X", "acks=all")
		cmd.Stdin = strings.NewReader(lines(n, p))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("kcat -P: %w\n%s", err, out)
		}
	}
	return nil
}

func (kcat) consume(bootstrap, topic string, n int) error {
	for p := range Partitions {
		var stderr bytes.Buffer
		cmd := exec.Command("kcat", "-C", "-b", bootstrap, "-t", topic, "-p", strconv.Itoa(p), "-o", "beginning", "-e", "-K", ":")
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("kcat -C: %w\n%s", err, stderr.String())
		}
		if err := sameLines(string(out), lines(n, p)); err != nil {
			return fmt.Errorf("kcat, partition %d: %w", p, err)
		}
	}
	return nil
}

// apacheTools are kafka-console-producer and kafka-console-consumer. The
// producer cannot choose a partition, so all goes through a topic of one
// partition in a test of its own.
type apacheTools struct{ apache *kit.Apache }

func (a apacheTools) roundTrip(bootstrap, topic string, n int) error {
	input := allLines(n)
	out, err := a.apache.Tool("topics", "--bootstrap-server", bootstrap, "--create", "--topic", topic, "--partitions", "1", "--replication-factor", "1")
	if err != nil || out.Exit != 0 || out.Stdout != "Created topic "+topic+".\n" {
		return fmt.Errorf("kafka-topics --create: %v %+v", err, out)
	}
	out, err = a.apache.ToolWithInput(input, "console-producer", "--bootstrap-server", bootstrap, "--topic", topic,
		"--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
	if err != nil || out.Exit != 0 {
		return fmt.Errorf("kafka-console-producer: %v %+v", err, out)
	}
	out, err = a.apache.Tool("console-consumer", "--bootstrap-server", bootstrap, "--topic", topic, "--partition", "0",
		"--offset", "earliest", "--max-messages", strconv.Itoa(n), "--timeout-ms", "60000",
		"--formatter-property", "print.key=true", "--formatter-property", "key.separator=:")
	if err != nil || out.Exit != 0 {
		return fmt.Errorf("kafka-console-consumer: %v exit %d %s", err, out.Exit, out.Stderr)
	}
	if err := sameLines(out.Stdout, input); err != nil {
		return err
	}
	out, err = a.apache.Tool("get-offsets", "--bootstrap-server", bootstrap, "--topic", topic)
	if want := fmt.Sprintf("%s:0:%d\n", topic, n); err != nil || out.Stdout != want {
		return fmt.Errorf("kafka-get-offsets: %v %+v, want %q", err, out, want)
	}
	return nil
}

// lines are the records of one partition as "key:value" lines.
func lines(n, partition int) string {
	var b strings.Builder
	for i := partition; i < n; i += Partitions {
		b.WriteString(Key(i) + ":" + Value(i) + "\n")
	}
	return b.String()
}

func allLines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(Key(i) + ":" + Value(i) + "\n")
	}
	return b.String()
}

func sameLines(got, want string) error {
	if got == want {
		return nil
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Errorf("line %d is %q, want %q", i, g[i], w[i])
		}
	}
	return fmt.Errorf("%d lines, want %d", len(g), len(w))
}

// pythonEnvironment makes a virtual environment with the newest clients, once
// per user, and returns its interpreter.
func pythonEnvironment() (string, error) {
	return installed("python", func(dir string) error {
		return commands(dir,
			[]string{"python3", "-m", "venv", "."},
			[]string{"bin/pip", "install", "-q", "--disable-pip-version-check", "confluent-kafka==2.16.1", "kafka-python==3.0.12"})
	}, "bin/python")
}

// kafkajsFolder installs kafkajs, once per user, and returns the folder.
func kafkajsFolder() (string, error) {
	return installed("node", func(dir string) error {
		return commands(dir, []string{"npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", ".", "kafkajs@2.2.4"})
	}, "node_modules")
}

func installed(name string, install func(dir string) error, result string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "barnabas-test", "compat-"+name)
	mark := filepath.Join(dir, "complete")
	if _, err := os.Stat(mark); err == nil {
		return filepath.Join(dir, result), nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	if err := install(dir); err != nil {
		return "", fmt.Errorf("install %s clients: %w", name, err)
	}
	return filepath.Join(dir, result), os.WriteFile(mark, nil, 0o644)
}

func commands(dir string, lines ...[]string) error {
	for _, l := range lines {
		cmd := exec.Command(l[0], l[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(l, " "), err, out)
		}
	}
	return nil
}

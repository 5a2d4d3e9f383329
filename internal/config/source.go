package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"sort"
	"strings"

	"barnabas/internal/config/properties"
)

// origin says where a setting was written, for messages.
type origin struct {
	file string // of a configuration file
	line int
	name string // where there is no file: "environment variable X", "--override x"
}

func (o origin) String() string {
	if o.file != "" {
		return fmt.Sprintf("%s:%d", o.file, o.line)
	}
	return o.name
}

// setting is the text that a key is set to.
type setting struct {
	value  string
	origin origin
}

// settings holds what is set, by key; what comes later goes before.
type settings map[string]setting

// located is an error with the place where the wrong setting was written.
type located struct {
	origin origin
	err    error
}

func (e *located) Error() string { return e.origin.String() + ": " + e.err.Error() }
func (e *located) Unwrap() error { return e.err }

// at puts the place where a key was set before an error about it, unless the
// error has one.
func (s settings) at(key string, err error) error {
	var has *located
	set, ok := s[key]
	if !ok || set.origin == (origin{}) || errors.As(err, &has) {
		return err
	}
	return &located{set.origin, err}
}

// named returns the settings with what other is set to also under the name key,
// unless key is set.
func (s settings) named(key, other string) settings {
	set, ok := s[other]
	if _, has := s[key]; has || !ok {
		return s
	}
	s = maps.Clone(s)
	s[key] = set
	return s
}

func (s settings) values() map[string]string {
	out := make(map[string]string, len(s))
	for k, v := range s {
		out[k] = v.value
	}
	return out
}

func (s settings) names() []string {
	out := make([]string, 0, len(s))
	for k := range s {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// readFile adds the properties of a file.
func (s settings) readFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	list, err := properties.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range list {
		s[p.Key] = setting{p.Value, origin{file: name, line: p.Line}}
	}
	return nil
}

// notProperties are variables of Apache's scripts and images that are no keys.
var notProperties = map[string]bool{
	"KAFKA_VERSION": true, "KAFKA_HEAP_OPTS": true, "KAFKA_LOG4J_OPTS": true, "KAFKA_OPTS": true, "KAFKA_JMX_OPTS": true,
	"KAFKA_JVM_PERFORMANCE_OPTS": true, "KAFKA_GC_LOG_OPTS": true, "KAFKA_LOG4J_ROOT_LOGLEVEL": true, "KAFKA_LOG4J_LOGGERS": true,
	"KAFKA_TOOLS_LOG4J_LOGLEVEL": true, "KAFKA_JMX_HOSTNAME": true, "KAFKA_DEBUG": true, "KAFKA_HOME": true,
	"BARNABAS_LOG_LEVEL": true, // read before there is a configuration
}

// readEnvironment adds the variables that begin with KAFKA_ or, before them,
// with BARNABAS_. KAFKA_FOO_BAR is foo.bar; two underscores stand for one, three
// for a dash, as in Apache's container image. BARNABAS_ADMIN_LISTENER is also
// short for barnabas.admin.listener.
func (s settings) readEnvironment(environ []string) {
	for _, prefix := range []string{"KAFKA_", "BARNABAS_"} {
		for _, pair := range environ {
			name, value, _ := strings.Cut(pair, "=")
			rest, ok := strings.CutPrefix(name, prefix)
			if !ok || rest == "" || notProperties[name] {
				continue
			}
			key := environmentKey(rest)
			if own := "barnabas." + key; prefix == "BARNABAS_" && lookupNode(key) == nil && lookupNode(own) != nil {
				key = own
			}
			s[key] = setting{value, origin{name: "environment variable " + name}}
		}
	}
}

func environmentKey(name string) string {
	key := strings.ReplaceAll(strings.ToLower(name), "_", ".")
	key = strings.ReplaceAll(key, "...", "-")
	return strings.ReplaceAll(key, "..", "_")
}

// readOverrides adds "key=value" arguments.
func (s settings) readOverrides(args []string) error {
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return fmt.Errorf("--override %s: must be of the form key=value", arg)
		}
		s[key] = setting{value, origin{name: "--override " + key}}
	}
	return nil
}

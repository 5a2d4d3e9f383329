package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Check is a rule for the values of a key.
type Check interface {
	// test returns nil or an error with Apache's text. v is a parsed value, nil
	// for null.
	test(name string, v any) error
	// String is the rule as Apache's documentation gives it.
	String() string
}

// invalid is Apache's ConfigException for a value.
func invalid(name string, v any, why string) error {
	return fmt.Errorf("Invalid value %s for configuration %s: %s", javaString(v), name, why)
}

// interval bounds a number on one or both sides.
type interval struct {
	min, max float64
	bounded  bool // above
}

func atLeast(min float64) Check      { return interval{min: min} }
func between(min, max float64) Check { return interval{min, max, true} }

func (c interval) test(name string, v any) error {
	var n float64
	switch v := v.(type) {
	case nil:
		return nil
	case int64:
		n = float64(v)
	case float64:
		n = v
	}
	switch {
	case n < c.min:
		return invalid(name, v, "Value must be at least "+number(c.min))
	case c.bounded && n > c.max:
		return invalid(name, v, "Value must be no more than "+number(c.max))
	}
	return nil
}

func (c interval) String() string {
	if c.bounded {
		return "[" + number(c.min) + ",...," + number(c.max) + "]"
	}
	return "[" + number(c.min) + ",...]"
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// gzip is the rule of compression.gzip.level.
type gzip struct{}

func gzipLevel() Check { return gzip{} }

func (gzip) test(name string, v any) error {
	if n, ok := v.(int64); ok && n != -1 && (n < 1 || n > 9) {
		return invalid(name, v, "Value must be between 1 and 9 or equal to -1")
	}
	return nil
}

func (gzip) String() string { return "[1,...,9] or -1" }

// choice is a set of strings.
type choice struct {
	of   []string
	fold bool // upper and lower case are the same
}

func oneOf(of ...string) Check     { return choice{of, false} }
func oneOfFold(of ...string) Check { return choice{of, true} }

func (c choice) test(name string, v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	for _, allowed := range c.of {
		if s == allowed || c.fold && strings.EqualFold(s, allowed) {
			return nil
		}
	}
	how := "String must be one of: "
	if c.fold {
		how = "String must be one of (case insensitive): "
	}
	return invalid(name, s, how+strings.Join(c.of, ", "))
}

func (c choice) String() string {
	s := "[" + strings.Join(c.of, ", ") + "]"
	if c.fold {
		return "(case insensitive) " + s
	}
	return s
}

// list is the rule for the items of a list.
type list struct {
	of       []string // empty: any
	nonEmpty bool
}

func anyList() Check                { return list{} }
func nonEmptyList() Check           { return list{nonEmpty: true} }
func listOf(of ...string) Check     { return list{of: of} }
func someOf(of ...string) Check     { return list{of: of, nonEmpty: true} }
func (c list) allowed() string      { return "[" + strings.Join(c.of, ", ") + "]" }
func isList(v any) ([]string, bool) { l, ok := v.([]string); return l, ok }

func (c list) test(name string, v any) error {
	items, ok := isList(v)
	if !ok {
		return nil
	}
	if c.nonEmpty && len(items) == 0 {
		valid := "any non-empty value"
		if len(c.of) > 0 {
			valid = c.allowed()
		}
		return fmt.Errorf("Configuration '%s' must not be empty. Valid values include: %s", name, valid)
	}
	for _, item := range items {
		if item == "" {
			return fmt.Errorf("Configuration '%s' values must not be empty.", name)
		}
		if len(c.of) > 0 {
			if err := (choice{of: c.of}).test(name, item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c list) String() string {
	if len(c.of) == 0 {
		return ""
	}
	return c.allowed()
}

// text is the rule for strings that may not be empty, or not be unset.
type text struct{ nonEmpty bool }

func nonEmptyString() Check { return text{true} }
func notNull() Check        { return text{false} }

func (c text) test(name string, v any) error {
	if c.nonEmpty && v == "" {
		return invalid(name, v, "String must be non-empty")
	}
	return nil
}

func (c text) String() string {
	if c.nonEmpty {
		return "non-empty string"
	}
	return "non-null string"
}

// parsed is the rule for lists whose items have a form of their own.
type parsed struct {
	parse func(name string, items []string) error
	doc   string
}

func (c parsed) test(name string, v any) error {
	if items, ok := isList(v); ok {
		return c.parse(name, items)
	}
	return nil
}

func (c parsed) String() string { return c.doc }

func voterList() Check {
	return parsed{func(_ string, items []string) error { _, err := parseVoters(items); return err }, "non-empty list"}
}

func hostPortList() Check {
	return parsed{func(name string, items []string) error { _, err := parseHostPorts(name, items); return err }, "non-empty list"}
}

const replicaList = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."

// replicaPair also takes nothing, so that a list may end in a comma.
var replicaPair = regexp.MustCompile(`^([0-9]+:[0-9]+)?$`)

// throttledReplicas is the rule of leader.replication.throttled.replicas.
func throttledReplicas() Check {
	return parsed{func(name string, items []string) error {
		if len(items) == 1 && strings.TrimSpace(items[0]) == "*" {
			return nil
		}
		for _, item := range items {
			if !replicaPair.MatchString(item) {
				return invalid(name, items, name+" must be the literal '*' or a list of replicas in the following format: "+replicaList)
			}
		}
		return nil
	}, replicaList}
}

// offsetReset is the rule of share.auto.offset.reset.
type resetRule struct{}

func offsetReset() Check { return resetRule{} }

var isoDuration = regexp.MustCompile(`^by_duration:(?i)P(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d{0,9})?S)?)?$`)

func (resetRule) test(name string, v any) error {
	s, ok := v.(string)
	if !ok || s == "latest" || s == "earliest" || isoDuration.MatchString(s) && !strings.HasSuffix(strings.ToUpper(s), "P") && !strings.HasSuffix(strings.ToUpper(s), "T") {
		return nil
	}
	return invalid(name, v, fmt.Sprintf("Invalid value `%s` for configuration %s. The value must be either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.", s, name))
}

func (resetRule) String() string { return "[latest, earliest, by_duration:PnDTnHnMn.nS]" }

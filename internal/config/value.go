package config

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Parsed values are nil (null), bool, int64 (int, short, long), float64, string
// (also class and password) or []string.

// parse reads text as a value of the key and checks it; errors have Apache's
// text (class ConfigDef).
func (k *Key) parse(text string) (any, error) {
	v, err := parseType(k.Name, k.Type, text)
	if err != nil {
		return nil, err
	}
	if k.Check != nil {
		if err := k.Check.test(k.Name, v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func parseType(name string, t Type, text string) (any, error) {
	trimmed := strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }) // String.trim
	switch t {
	case Boolean:
		switch {
		case strings.EqualFold(trimmed, "true"):
			return true, nil
		case strings.EqualFold(trimmed, "false"):
			return false, nil
		}
		return nil, invalid(name, text, "Expected value to be either true or false")
	case Int, Short, Long:
		n, err := strconv.ParseInt(trimmed, 10, bits(t))
		if err != nil {
			return nil, invalid(name, text, "Not a number of type "+t.String())
		}
		return n, nil
	case Double:
		f, err := parseJavaDouble(trimmed)
		if err != nil {
			return nil, invalid(name, text, "Not a number of type "+t.String())
		}
		return f, nil
	case List:
		return parseList(trimmed), nil
	case Class:
		if trimmed == "" {
			return nil, invalid(name, text, "Class "+trimmed+" could not be found.")
		}
	}
	return trimmed, nil
}

func bits(t Type) int {
	switch t {
	case Short:
		return 16
	case Int:
		return 32
	}
	return 64
}

var comma = regexp.MustCompile(`\s*,\s*`)

// parseList splits at commas and drops repeated items, as Kafka 4.4 does with a
// warning.
func parseList(trimmed string) []string {
	if trimmed == "" {
		return []string{}
	}
	items := comma.Split(trimmed, -1)
	seen := make(map[string]bool, len(items))
	out := items[:0]
	for _, item := range items {
		if !seen[item] {
			seen[item] = true
			out = append(out, item)
		}
	}
	return out
}

var javaDecimal = regexp.MustCompile(`^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?$`)

// parseJavaDouble is Double.parseDouble but for hexadecimal notation.
func parseJavaDouble(s string) (float64, error) {
	switch s {
	case "NaN", "+NaN", "-NaN":
		return math.NaN(), nil
	case "Infinity", "+Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	m := javaDecimal.FindStringSubmatch(s)
	if m == nil {
		return 0, errors.New("not a number")
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if errors.Is(err, strconv.ErrRange) {
		return f, nil // Java gives infinity or zero
	}
	return f, err
}

// formatValue is the text in which DescribeConfigs shows a parsed value; nil for
// null.
func formatValue(v any) *string {
	var s string
	switch v := v.(type) {
	case nil:
		return nil
	case []string:
		s = strings.Join(v, ",")
	default:
		s = javaString(v)
	}
	return &s
}

// javaString is the text that Java's string concatenation gives.
func javaString(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return javaDouble(v)
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	case string:
		return v
	}
	panic("BUG: a configuration value of an unknown type")
}

// javaDouble is Double.toString: plain notation from 0.001 up to ten million,
// else one digit before the point and an exponent.
func javaDouble(f float64) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case a == 0 || a >= 1e-3 && a < 1e7:
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, err := strconv.Atoi(exponent)
	if err != nil {
		panic("BUG: exponent of " + mantissa + ": " + err.Error())
	}
	return mantissa + "E" + strconv.Itoa(n)
}

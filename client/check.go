package client

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// This file reads values, with Kafka's words for those that are wrong (ConfigDef).

// checked checks a value that has its effect elsewhere, or none.
func checked[T any](parse func(string) (T, error)) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		_, err := parse(v)
		return nil, err
	}
}

// anything is a string or a list.
func anything(v string) (string, error) { return v, nil }

// whole reads a 32-bit number between two others.
func whole(least, most int64) func(string) (int64, error) {
	return func(v string) (int64, error) {
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil {
			return 0, errors.New("Not a number of type INT")
		}
		return between(n, least, most)
	}
}

// long reads a 64-bit number.
func long(least int64) func(string) (int64, error) {
	return func(v string) (int64, error) {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return 0, errors.New("Not a number of type LONG")
		}
		return between(n, least, math.MaxInt64)
	}
}

func between(n, least, most int64) (int64, error) {
	switch {
	case n < least:
		return 0, fmt.Errorf("Value must be at least %d", least)
	case n > most:
		return 0, fmt.Errorf("Value must be no more than %d", most)
	}
	return n, nil
}

func positive(v string) (int, error) {
	n, err := whole(1, math.MaxInt32)(v)
	return int(n), err
}

func boolean(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("Expected value to be either true or false")
}

// decimal reads a number with a fraction.
func decimal(v string) (float64, error) {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return 0, errors.New("Not a number of type DOUBLE")
	}
	return n, nil
}

// word reads one of several words, of any case.
func word(words ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		for _, w := range words {
			if strings.EqualFold(v, w) {
				return w, nil
			}
		}
		return "", errors.New("String must be one of: " + strings.Join(words, ", "))
	}
}

// one takes a single value, of any case, for the reason that is given.
func one(value, otherwise string) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		if !strings.EqualFold(v, value) {
			return nil, errors.New(otherwise)
		}
		return nil, nil
	}
}

func text[O kgo.Opt](f func(string) O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) { return []kgo.Opt{f(v)}, nil }
}

func list[O kgo.Opt](f func([]string) O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		words := strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
		if len(words) == 0 {
			return nil, errors.New("the list is empty")
		}
		return []kgo.Opt{f(words)}, nil
	}
}

func number[O kgo.Opt](least int64, f func(int32) O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		n, err := whole(least, math.MaxInt32)(v)
		if err != nil {
			return nil, err
		}
		return []kgo.Opt{f(int32(n))}, nil
	}
}

func milliseconds[O kgo.Opt](f func(time.Duration) O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		n, err := long(0)(v)
		if err != nil {
			return nil, err
		}
		return []kgo.Opt{f(time.Duration(min(n, math.MaxInt32)) * time.Millisecond)}, nil
	}
}

// when is an option of the engine for a property that is true.
func when[O kgo.Opt](on func() O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		yes, err := boolean(v)
		if err != nil || !yes {
			return nil, err
		}
		return []kgo.Opt{on()}, nil
	}
}

// unless is an option of the engine for a property that is false.
func unless[O kgo.Opt](off func() O) func(string) ([]kgo.Opt, error) {
	return func(v string) ([]kgo.Opt, error) {
		on, err := boolean(v)
		if err != nil || on {
			return nil, err
		}
		return []kgo.Opt{off()}, nil
	}
}

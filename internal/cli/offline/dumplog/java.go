package dumplog

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"barnabas/internal/cli/options"
)

// exception is an error that Apache's tool does not catch.
type exception struct {
	class, text string
}

func (e *exception) Error() string {
	if e.text == "" {
		return e.class
	}
	return e.class + ": " + e.text
}

// javaError gives an error of the system the words that Java has for it.
func javaError(err error) error {
	var e *exception
	var line *options.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &e):
		return err
	case errors.As(err, &line):
		return &exception{line.Class, line.Text}
	case errors.Is(err, fs.ErrNotExist) && errors.As(err, &path):
		return &exception{"java.nio.file.NoSuchFileException", path.Path}
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &path):
		return &exception{"java.nio.file.AccessDeniedException", path.Path}
	}
	return &exception{"java.io.IOException", err.Error()}
}

// parseLong is Long.parseLong.
func parseLong(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, &exception{"java.lang.NumberFormatException", `For input string: "` + s + `"`}
	}
	return n, nil
}

// optionalLong is OptionalLong.toString.
func optionalLong(n int64, ok bool) string {
	if !ok {
		return "OptionalLong.empty"
	}
	return "OptionalLong[" + strconv.FormatInt(n, 10) + "]"
}

// text is new String(b, UTF_8): a broken sequence becomes one replacement
// character up to the byte that breaks it.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			s.WriteRune(utf8.RuneError)
			b = b[brokenPrefix(b):]
			continue
		}
		s.WriteRune(r)
		b = b[n:]
	}
	return s.String()
}

// brokenPrefix is the length of the longest start of b that could begin a
// character, at least 1. Half of a surrogate pair is one for Java, up to its end.
func brokenPrefix(b []byte) int {
	lo, hi, size := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		size = 2
	case c >= 0xe0 && c <= 0xef:
		size = 3
		if c == 0xe0 {
			lo = 0xa0
		}
	case c >= 0xf0 && c <= 0xf4:
		size = 4
		if c == 0xf0 {
			lo = 0x90
		}
		if c == 0xf4 {
			hi = 0x8f
		}
	}
	n := 1
	for n < size && n < len(b) && b[n] >= lo && b[n] <= hi {
		lo, hi = 0x80, 0xbf
		n++
	}
	return n
}

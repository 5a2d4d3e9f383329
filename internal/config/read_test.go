package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"barnabas/internal/config"
)

// TestHonouredKeysAreReadSomewhere finds, for each key that is said to have an
// effect, code outside this package that reads its field.
func TestHonouredKeysAreReadSomewhere(t *testing.T) {
	read := fieldsRead(t)
	for key, field := range keyFields(reflect.TypeOf(config.Broker{})) {
		if k := config.BrokerKeys().Lookup(key); k != nil && k.Status == config.Honoured && !read[field] {
			t.Errorf("%s is honoured, but nothing reads %s", key, field)
		}
	}
	for key, field := range keyFields(reflect.TypeOf(config.Topic{})) {
		if k := config.TopicKeys().Lookup(key); k != nil && k.Status == config.Honoured && !read[field] {
			t.Errorf("topic key %s is honoured, but nothing reads %s", key, field)
		}
	}
}

// keyFields maps keys to the names of the fields that hold them.
func keyFields(t reflect.Type) map[string]string {
	out := map[string]string{}
	for i := range t.NumField() {
		f := t.Field(i)
		if key := f.Tag.Get("key"); key != "" {
			out[key] = f.Name
		}
		if f.Type.Kind() == reflect.Struct {
			for k, name := range keyFields(f.Type) {
				out[k] = name
			}
		}
	}
	return out
}

var selector = regexp.MustCompile(`\.([A-Z]\w*)`)

// fieldsRead are the names behind a dot in the product's code outside of config.
func fieldsRead(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "config" {
			if d != nil && d.IsDir() && d.Name() == "config" {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range selector.FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

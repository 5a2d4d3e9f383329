package api

import (
	"reflect"

	"barnabas/internal/kafka"
	"barnabas/internal/metrics"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// errorCounter counts the error codes of answers.
type errorCounter struct {
	errors *metrics.Errors // nil: nobody wants to know
	places [kmsg.MaxKey + 1]*errorPlaces
}

// newErrorCounter makes a counter for the answers to requests of those keys.
func newErrorCounter(errors *metrics.Errors, keys []kmsg.Key) *errorCounter {
	c := &errorCounter{errors: errors}
	for _, key := range keys {
		c.places[key] = findPlaces(reflect.TypeOf(key.Response()).Elem())
	}
	return c
}

// count counts the codes of an answer, wherever in it they stand.
func (c *errorCounter) count(key int16, resp kmsg.Response) {
	if c.errors != nil {
		c.places[key].count(reflect.ValueOf(resp).Elem(), func(code int16) { c.add(key, code) })
	}
}

// add counts one code.
func (c *errorCounter) add(key, code int16) {
	if c.errors != nil {
		c.errors.Add(key, kafka.ErrorCode(code), 1)
	}
}

// errorPlaces says where in a struct error codes may stand, so that an answer with
// ten thousand entries is gone through without a look at their other fields.
type errorPlaces struct {
	code   int // index of the field ErrorCode; -1: none
	inside []inside
}

// inside is a field, a struct or a slice of structs, that has error codes in it.
type inside struct {
	field  int
	places *errorPlaces
}

func findPlaces(t reflect.Type) *errorPlaces {
	p := &errorPlaces{code: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		of := f.Type
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		switch {
		case f.Name == "ErrorCode" && of.Kind() == reflect.Int16:
			p.code = i
		case of.Kind() == reflect.Struct && f.IsExported():
			if in := findPlaces(of); in.code >= 0 || len(in.inside) > 0 {
				p.inside = append(p.inside, inside{i, in})
			}
		}
	}
	return p
}

func (p *errorPlaces) count(v reflect.Value, add func(code int16)) {
	if p.code >= 0 {
		if code := v.Field(p.code).Int(); code != 0 {
			add(int16(code))
		}
	}
	for _, in := range p.inside {
		f := v.Field(in.field)
		if f.Kind() == reflect.Struct {
			in.places.count(f, add)
			continue
		}
		for i := range f.Len() {
			in.places.count(f.Index(i), add)
		}
	}
}

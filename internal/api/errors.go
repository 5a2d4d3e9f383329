package api

import (
	"reflect"
	"sync"

	"barnabas/internal/kafka"
	"barnabas/internal/metrics"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// countErrors counts the error codes of an answer, wherever in it they stand. Those
// of Produce and Fetch are counted where they are made.
func countErrors(errs *metrics.Errors, key int16, resp kmsg.Response) {
	v := reflect.ValueOf(resp).Elem()
	placesOf(v.Type()).count(v, func(code int16) { errs.Add(key, kafka.ErrorCode(code), 1) })
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

// knownPlaces has the *errorPlaces of each type that was answered.
var knownPlaces sync.Map

func placesOf(t reflect.Type) *errorPlaces {
	if p, ok := knownPlaces.Load(t); ok {
		return p.(*errorPlaces)
	}
	p := findPlaces(t)
	knownPlaces.Store(t, p)
	return p
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

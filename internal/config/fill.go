package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// fill sets the tagged fields of a struct, and of the structs in it, from parsed
// values. The tags are the one place that ties fields to keys; a test holds them
// against the registry.
func fill(dst any, v values) {
	fillStruct(reflect.ValueOf(dst).Elem(), v)
}

func fillStruct(dst reflect.Value, v values) {
	for i := range dst.NumField() {
		field := dst.Type().Field(i)
		key, tagged := field.Tag.Lookup("key")
		switch {
		case tagged:
			value, ok := v[key]
			if !ok {
				panic(fmt.Sprintf("BUG: field %s has the tag of an unknown key %s", field.Name, key))
			}
			setField(dst.Field(i), key, value)
		case field.Type.Kind() == reflect.Struct && field.IsExported():
			fillStruct(dst.Field(i), v)
		}
	}
}

func setField(dst reflect.Value, key string, value any) {
	if value == nil {
		return
	}
	if dst.Type() == reflect.TypeFor[time.Duration]() {
		dst.SetInt(int64(duration(key, value.(int64))))
		return
	}
	switch value := value.(type) {
	case bool:
		dst.SetBool(value)
	case int64:
		dst.SetInt(value)
	case float64:
		dst.SetFloat(value)
	case string:
		dst.SetString(value)
	case []string:
		dst.Set(reflect.ValueOf(value))
	}
}

// duration turns a number into a time by the unit in the key's name. Negative
// numbers and those beyond 292 years are Forever.
func duration(key string, n int64) time.Duration {
	unit := time.Millisecond
	switch key[strings.LastIndexByte(key, '.')+1:] {
	case "seconds":
		unit = time.Second
	case "minutes":
		unit = time.Minute
	case "hours":
		unit = time.Hour
	}
	if n < 0 || n > int64(Forever/unit) {
		return Forever
	}
	return time.Duration(n) * unit
}

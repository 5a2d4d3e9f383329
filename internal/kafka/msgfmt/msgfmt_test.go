package msgfmt

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestPlainAndCompactFormsAreReadBack(t *testing.T) {
	for _, flexible := range []bool{false, true} {
		w := NewWriter([]byte{9}, flexible)
		text := "é"
		w.String(text)
		w.NullString(nil)
		w.NullString(&text)
		w.Bytes([]byte{1, 2})
		NullArrayLen[int](&w, nil)
		NullArrayLen(&w, []int{})
		w.ArrayLen(2)
		w.Int32(7)
		w.Int32(-1)
		w.Bool(true)
		w.Uint16(65535)
		w.Int64(math.MinInt64)
		w.Float64(0.5)
		w.UUID([16]byte{3})
		w.Tags(nil)
		out, err := w.Finish("m", 0)
		if err != nil || out[0] != 9 {
			t.Fatalf("%x, %v", out, err)
		}
		r := NewReader(out[1:], flexible)
		i32 := func(r *Reader) int32 { return r.Int32() }
		if s, n, m := r.String(), r.NullString(), r.NullString(); s != text || n != nil || m == nil || *m != text {
			t.Errorf("strings %q %v %v", s, n, m)
		}
		if b := r.Bytes(); !bytes.Equal(b, []byte{1, 2}) {
			t.Errorf("bytes %x", b)
		}
		if null, empty := NullElements(&r, 4, i32), NullElements(&r, 4, i32); null != nil || empty == nil || len(empty) > 0 {
			t.Errorf("arrays %v %v", null, empty)
		}
		if a := Elements(&r, 4, i32); !reflect.DeepEqual(a, []int32{7, -1}) {
			t.Errorf("array %v", a)
		}
		if !r.Bool() || r.Uint16() != 65535 || r.Int64() != math.MinInt64 || r.Float64() != 0.5 || r.UUID() != [16]byte{3} || r.Tags(nil) != nil {
			t.Error("numbers differ")
		}
		if rest, err := r.Finish("m", 0); err != nil || len(rest) > 0 {
			t.Errorf("%d left, %v", len(rest), err)
		}
	}
}

func TestReaderRefusesBadInput(t *testing.T) {
	i8 := func(r *Reader) int8 { return r.Int8() }
	for name, c := range map[string]struct {
		src  []byte
		read func(*Reader)
		want error
	}{
		"null string":       {[]byte{0}, func(r *Reader) { _ = r.String() }, ErrInvalid},
		"null bytes":        {[]byte{0}, func(r *Reader) { r.Bytes() }, ErrInvalid},
		"null array":        {[]byte{0}, func(r *Reader) { Elements(r, 1, i8) }, ErrInvalid},
		"short string":      {[]byte{5, 'a'}, func(r *Reader) { _ = r.String() }, ErrShort},
		"long string":       {[]byte{0xff, 0xff, 0x7f, 'a'}, func(r *Reader) { r.NullString() }, ErrInvalid},
		"number cut off":    {[]byte{0x80}, func(r *Reader) { r.Uvarint() }, ErrShort},
		"number too large":  {[]byte{0xff, 0xff, 0xff, 0xff, 0x1f}, func(r *Reader) { r.Uvarint() }, ErrInvalid},
		"number too long":   {[]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0}, func(r *Reader) { r.Uvarint() }, ErrInvalid},
		"array of too many": {[]byte{0xc1, 0x84, 0x3d}, func(r *Reader) { Elements(r, 1, i8) }, ErrShort},
		"tags of too many":  {[]byte{0x91, 0x4e}, func(r *Reader) { r.Tags(nil) }, ErrInvalid},
		"tag cut off":       {[]byte{1, 0, 4, 1}, func(r *Reader) { r.Tags(nil) }, ErrShort},
		"bytes behind a tag": {[]byte{1, 0, 2, 1, 1}, func(r *Reader) {
			r.Tags(func(r *Reader, _ uint32) bool { r.Int8(); return true })
		}, ErrInvalid},
		"tag too short": {[]byte{1, 0, 1, 1}, func(r *Reader) {
			r.Tags(func(r *Reader, _ uint32) bool { r.Int32(); return true })
		}, ErrShort},
	} {
		r := NewReader(c.src, true)
		c.read(&r)
		if _, err := r.Finish("m", 1); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	million := append([]byte{0xc1, 0x84, 0x3d}, make([]byte, MaxElements+1)...)
	r := NewReader(million, true)
	if got := Elements(&r, 1, i8); len(got) != MaxElements {
		t.Errorf("a million elements: %d", len(got))
	}
	million[0]++
	r = NewReader(million, true)
	Elements(&r, 1, i8)
	if _, err := r.Finish("m", 1); !errors.Is(err, ErrInvalid) {
		t.Errorf("a million elements and one: %v", err)
	}
}

func TestWriterRefusesWhatTheFormatCannotHold(t *testing.T) {
	for name, write := range map[string]func(*Writer){
		"long string":         func(w *Writer) { w.String(strings.Repeat("x", math.MaxInt16+1)) },
		"many elements":       func(w *Writer) { w.ArrayLen(MaxElements + 1) },
		"tags without a room": func(w *Writer) { w.Tags([]Tag{{Tag: 1}}) },
	} {
		w := NewWriter(nil, false)
		write(&w)
		if _, err := w.Finish("m", 0); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestHighestTagIsWritten(t *testing.T) {
	w := NewWriter(nil, true)
	w.Tags([]Tag{{Tag: math.MaxUint32, Data: []byte{1}}})
	out, err := w.Finish("m", 0)
	if err != nil || !bytes.Equal(out, []byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 1}) {
		t.Errorf("%x, %v", out, err)
	}
}

func TestJSONLooksAsApacheKafkaPrintsIt(t *testing.T) {
	j := NewJSON([]byte("x "))
	j.BeginObject()
	j.Field("s")
	j.String("a\"\\\b\t\n\f\r\x00\x1fé\xff<>&\U0001F600")
	j.Field("n")
	j.NullString(nil)
	j.Field("l")
	j.BeginArray()
	for i := range 3 {
		j.Element()
		j.Int(int64(i))
	}
	j.EndArray()
	j.Field("o")
	j.BeginArray()
	for range 2 {
		j.BeginElement()
		j.Field("b")
		j.Bytes([]byte{1})
		j.EndObject()
	}
	j.EndArray()
	j.Field("f")
	j.Float64(math.NaN())
	j.Field("u")
	j.UUID([16]byte{})
	j.EndObject()
	want := `x {"s":"a\"\\\b\t\n\f\r\u0000\u001Fé` + "\ufffd<>&\U0001F600" + `","n":null,"l":[0,1,2],"o":[{"b":"AQ=="},{"b":"AQ=="}],"f":"NaN","u":"AAAAAAAAAAAAAAAAAAAAAA"}`
	if got := string(j.Finish()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDoublesAsJavaPrintsThem(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2.5: "-2.5", 0.001: "0.001", 0.0009: "9.0E-4", 9999999: "9999999.0", 1e7: "1.0E7", 123456789: "1.23456789E8",
		1e-10: "1.0E-10", 1.5e100: "1.5E100", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", math.MaxFloat64: "1.7976931348623157E308",
	} {
		if got := JavaDouble(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := JavaDouble(math.Copysign(0, -1)); got != "-0.0" {
		t.Errorf("negative zero: %s", got)
	}
}

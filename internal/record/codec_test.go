package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// pack packs with an encoder of this package, in writes of the given size.
func pack(t testing.TB, c Compression, data []byte, write int) []byte {
	t.Helper()
	var out output
	e, err := newEncoder(c, &out)
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 0 {
		n := min(write, len(data))
		if _, err := e.Write(data[:n]); err != nil {
			t.Fatal(err)
		}
		data = data[n:]
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e.free()
	return out.b
}

// samples are contents at the edges of blocks and chunks, compressible and not.
func samples() map[string][]byte {
	rng := rand.New(rand.NewPCG(7, 7))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	var lines []byte
	for len(lines) < 300_000 {
		lines = append(lines, logLine(rng)...)
	}
	out := map[string][]byte{"empty": nil, "one byte": {7}, "noise": noise, "lines": lines, "zeros": make([]byte, 3<<20)}
	for _, n := range []int{snappyBlockSize, lz4BlockSize, chunkSize} {
		for _, d := range []int{-1, 0, 1} {
			out["lines to an edge "+string(rune('a'+d+1))+string(rune('0'+n>>15))] = lines[:n+d]
		}
	}
	return out
}

var levels = map[Codec][]int{
	Gzip:   {0, -1, 1, 6, 9, 99},
	Snappy: {0},
	LZ4:    {0, 1, 2, 5, 8, 9, 10, 17},
	Zstd:   {0, -131072, -1, 1, 3, 9, 19, 22},
}

func TestEveryLevelOfEveryCodecRoundTrips(t *testing.T) {
	for name, data := range samples() {
		for c, ls := range levels {
			for _, level := range ls {
				if len(data) > 1<<20 && level > 9 {
					continue
				}
				packed := pack(t, Compression{c, level}, data, 10_000)
				got, err := unpack(c, packed, MagicV2, DefaultMaxRecordSize)
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s, %s level %d: %d bytes of %d, %v", name, c, level, len(got), len(data), err)
				}
			}
		}
	}
}

func TestOtherLibrariesReadOurStreams(t *testing.T) {
	for name, data := range samples() {
		zr, err := gzip.NewReader(bytes.NewReader(pack(t, Compression{Codec: Gzip}, data, 777)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(zr); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: gzip: %v", name, err)
		}
		if got, err := io.ReadAll(lz4.NewReader(bytes.NewReader(pack(t, Compression{Codec: LZ4}, data, 777)))); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: lz4: %v", name, err)
		}
		zd, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := zd.DecodeAll(pack(t, Compression{Codec: Zstd}, data, 777), nil); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: zstd: %v", name, err)
		}
		zd.Close()
		if got := readXerial(t, pack(t, Compression{Codec: Snappy}, data, 777)); !bytes.Equal(got, data) {
			t.Errorf("%s: snappy", name)
		}
	}
}

// readXerial is the format of org.xerial.snappy in the plainest words.
func readXerial(t *testing.T, b []byte) (out []byte) {
	t.Helper()
	if !strings.HasPrefix(string(b), "\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01") {
		t.Fatalf("header %x", b[:min(len(b), 16)])
	}
	for b = b[16:]; len(b) > 0; {
		n := binary.BigEndian.Uint32(b)
		chunk, err := s2.Decode(nil, b[4:4+n])
		if err != nil {
			t.Fatal(err)
		}
		if len(chunk) > snappyBlockSize {
			t.Fatalf("chunk of %d bytes", len(chunk))
		}
		out, b = append(out, chunk...), b[4+n:]
	}
	return out
}

func TestDecodersSayTheEndAgain(t *testing.T) {
	for _, c := range codecs[1:] {
		for name, data := range samples() {
			dec, err := newDecoder(c, pack(t, Compression{Codec: c}, data, 1<<20), MagicV2)
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				var chunk []byte
				if chunk, err = dec.next(); err == nil && len(chunk) == 0 {
					t.Fatalf("%s, %s: empty chunk", c, name)
				}
			}
			for range 3 {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s, %s: %v", c, name, err)
				}
				_, err = dec.next()
			}
			dec.free()
		}
	}
}

func gzipOf(t testing.TB, data []byte) []byte {
	return pack(t, Compression{Codec: Gzip}, data, 1<<20)
}

func zstdOf(t testing.TB, data []byte, opts ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

func lz4Of(t testing.TB, data []byte, opts ...lz4.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	if err := w.Apply(opts...); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func snappyChunk(data []byte) []byte {
	packed := s2.EncodeSnappy(nil, data)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(packed))), packed...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func edit(b []byte, at int, xor byte) []byte {
	b = bytes.Clone(b)
	if at < 0 {
		at += len(b)
	}
	b[at] ^= xor
	return b
}

// TestStreamsAreReadAsApacheReadsThem has the verdict of Apache Kafka 4.4.0 on
// each of these streams in a Produce request.
func TestStreamsAreReadAsApacheReadsThem(t *testing.T) {
	data := []byte("some data, some data, some more data")
	half, rest := data[:9], data[9:]
	gz, zs := gzipOf(t, data), zstdOf(t, data)
	own := pack(t, Compression{Codec: LZ4}, data, 100)
	noSum := lz4Of(t, data, lz4.ChecksumOption(false))
	blockSum := lz4Of(t, data, lz4.ChecksumOption(false), lz4.BlockChecksumOption(true))
	x := join(snappyHeader[:], snappyChunk(data))
	version0 := edit(snappyHeader[:], 11, 1)
	skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9}
	garbage := []byte("garbage garbage garbage")
	for _, c := range []struct {
		name  string
		codec Codec
		src   []byte
		ok    bool
	}{
		{"gzip", Gzip, gz, true},
		{"gzip, bytes behind it", Gzip, join(gz, []byte{1, 2, 3}), true},
		{"gzip, zeros behind it", Gzip, join(gz, make([]byte, 30)), true},
		{"gzip, two members", Gzip, join(gzipOf(t, half), gzipOf(t, rest)), true},
		{"gzip, garbage", Gzip, garbage, false},
		{"gzip, empty", Gzip, nil, false},
		{"gzip, cut in the trailer", Gzip, gz[:len(gz)-3], false},
		{"gzip, no trailer", Gzip, gz[:len(gz)-8], false},
		{"gzip, wrong checksum", Gzip, edit(gz, -6, 1), false},

		{"snappy", Snappy, x, true},
		{"snappy, bare block", Snappy, s2.EncodeSnappy(nil, data), true},
		{"snappy, two chunks", Snappy, join(snappyHeader[:], snappyChunk(half), snappyChunk(rest)), true},
		{"snappy, two streams", Snappy, join(snappyHeader[:], snappyChunk(half), snappyHeader[:], snappyChunk(rest)), true},
		{"snappy, three bytes behind it", Snappy, join(x, []byte{1, 2, 3}), true},
		{"snappy, version 0", Snappy, join(version0, snappyChunk(data)), true},
		{"snappy, version 0 in a second stream", Snappy, join(snappyHeader[:], snappyChunk(half), version0, snappyChunk(rest)), false},
		{"snappy, four bytes behind it", Snappy, join(x, []byte{1, 2, 3, 4}), false},
		{"snappy, empty chunk behind it", Snappy, join(x, make([]byte, 4)), false},
		{"snappy, empty", Snappy, nil, false},
		{"snappy, cut in the header", Snappy, snappyHeader[:12], false},
		{"snappy, cut", Snappy, x[:len(x)-1], false},
		{"snappy, garbage", Snappy, garbage, false},
		{"snappy, block that promises 4 GB", Snappy, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0}, false},

		{"lz4", LZ4, own, true},
		{"lz4, content checksum", LZ4, lz4Of(t, data), true},
		{"lz4, wrong content checksum", LZ4, edit(lz4Of(t, data), -1, 1), true},
		{"lz4, block checksum", LZ4, blockSum, true},
		{"lz4, content size", LZ4, lz4Of(t, data, lz4.SizeOption(uint64(len(data)))), true},
		{"lz4, bytes behind it", LZ4, join(noSum, []byte{1, 2, 3, 4, 5}), true},
		{"lz4, wrong block checksum", LZ4, edit(blockSum, -5, 1), false},
		{"lz4, no end mark", LZ4, noSum[:len(noSum)-4], false},
		{"lz4, empty", LZ4, nil, false},
		{"lz4, garbage", LZ4, garbage, false},
		{"lz4, dependent blocks", LZ4, edit(own, 4, lz4FlagIndependent), false},
		{"lz4, version 2", LZ4, edit(own, 4, 0xC0), false},
		{"lz4, wrong descriptor checksum", LZ4, edit(own, 6, 1), false},
		{"lz4, block size 3", LZ4, edit(own, 5, 0x70), false},
		{"lz4, block larger than its size", LZ4, edit(own, 9, 0x10), false},

		{"zstd", Zstd, zs, true},
		{"zstd, two frames", Zstd, join(zstdOf(t, half), zstdOf(t, rest)), true},
		{"zstd, skippable frame before", Zstd, join(skippable, zs), true},
		{"zstd, skippable frame behind", Zstd, join(zs, skippable), true},
		{"zstd, cut", Zstd, zs[:len(zs)-1], false},
		{"zstd, bytes behind it", Zstd, join(zs, []byte{1, 2, 3}), false},
		{"zstd, one byte behind it", Zstd, join(zs, []byte{1}), false},
		{"zstd, garbage", Zstd, garbage, false},
		{"zstd, wrong checksum", Zstd, edit(zs, -1, 1), false},
	} {
		got, err := unpack(c.codec, c.src, MagicV2, 1<<20)
		switch {
		case c.ok && (err != nil || !bytes.Equal(got, data)):
			t.Errorf("%s: %q, %v", c.name, got, err)
		case !c.ok && !errors.Is(err, ErrCorrupt):
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

// TestFramesBehindAnLZ4FrameAreNotRead and no error either: Apache stops there.
func TestFramesBehindAnLZ4FrameAreNotRead(t *testing.T) {
	frame := pack(t, Compression{Codec: LZ4}, []byte("one"), 10)
	if got, err := unpack(LZ4, join(frame, frame), MagicV2, 100); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDecodersNeedTheMemoryOfAChunk(t *testing.T) {
	const size = 64 << 20
	zeros := make([]byte, 1<<20)
	for _, c := range codecs[1:] {
		var out output
		e, err := newEncoder(Compression{Codec: c, Level: 1}, &out)
		if err != nil {
			t.Fatal(err)
		}
		for range size / len(zeros) {
			if _, err := e.Write(zeros); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		dec, err := newDecoder(c, out.b, MagicV2)
		if err != nil {
			t.Fatal(err)
		}
		total, largest := 0, 0
		for err == nil {
			var chunk []byte
			chunk, err = dec.next()
			total, largest = total+len(chunk), max(largest, len(chunk))
		}
		if !errors.Is(err, io.EOF) || total != size || largest > zstdRoom {
			t.Errorf("%s: %d bytes, %d at once, %v", c, total, largest, err)
		}
		dec.free()
	}
}

func TestUnpackStopsAtItsLimit(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	for _, c := range codecs[1:] {
		packed := pack(t, Compression{Codec: c}, data, len(data))
		if _, err := unpack(c, packed, MagicV2, len(data)-1); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", c, err)
		}
		if got, err := unpack(c, packed, MagicV2, len(data)); err != nil || len(got) != len(data) {
			t.Errorf("%s: %d bytes, %v", c, len(got), err)
		}
	}
}

func TestZstdWindowsUpToApachesLimit(t *testing.T) {
	// A frame header that names a window, and one raw block "hello".
	frame := func(exponent byte) []byte {
		return []byte{0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3, 5<<3 | 1, 0, 0, 'h', 'e', 'l', 'l', 'o'}
	}
	for exponent, c := range map[byte]struct{ wide, ok bool }{11: {false, true}, 13: {false, true}, 14: {true, true}, 17: {true, true}, 18: {true, false}, 31: {true, false}} {
		src := frame(exponent)
		if hasWideWindow(Zstd, src) != c.wide {
			t.Errorf("window 2^%d: wide is %v", 10+exponent, !c.wide)
		}
		got, err := unpack(Zstd, src, MagicV2, 100)
		if c.ok != (err == nil) || c.ok && string(got) != "hello" {
			t.Errorf("window 2^%d: %q, %v", 10+exponent, got, err)
		}
	}
}

func TestFramesThatNameTheirSizeHaveAWindowOfIt(t *testing.T) {
	for size, wide := range map[uint32]bool{8 << 20: false, 8<<20 + 1: true} {
		header := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 2<<6 | 1<<5}, size)
		if hasWideWindow(Zstd, append(header, 1, 0, 0)) != wide {
			t.Errorf("%d bytes: wide is %v", size, !wide)
		}
	}
}

// allocated is how many bytes run takes from the heap.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestSnappyBlockThatPromisesTooMuchTakesNoMemory(t *testing.T) {
	block := append(binary.AppendUvarint(nil, 512<<20), make([]byte, 100)...)
	if n := allocated(func() {
		if _, err := unpack(Snappy, block, MagicV2, 1<<30); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	}); n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
}

func TestCodecNames(t *testing.T) {
	for _, c := range codecs {
		if !c.Valid() {
			t.Errorf("%s is not valid", c)
		}
	}
	if got := fmt.Sprint(None, Gzip, Snappy, LZ4, Zstd, Codec(5)); got != "none gzip snappy lz4 zstd unknown(5)" || Codec(5).Valid() {
		t.Errorf("names are %s", got)
	}
	if _, err := newDecoder(5, nil, MagicV2); !errors.Is(err, ErrBadCodec) {
		t.Error(err)
	}
}

func TestXXH32(t *testing.T) {
	for text, want := range map[string]uint32{"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff, "Nobody inspects the spammish repetition": 0xe2293b2f} {
		if got := xxh32([]byte(text)); got != want {
			t.Errorf("%q: %08x, want %08x", text, got, want)
		}
	}
}

package client

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/internal/cli/argparse"
)

// payloadMaker makes the records of a performance test, the same with the same
// seed.
type payloadMaker struct {
	random    *mathrand.Rand
	size      int
	parts     []string // of a payload file; each record is one
	monotonic bool
	keyRange  int64
	keys      string // "none", "range", "random"
}

func payloadOf(tool *argparse.Tool, args *argparse.Args) (*payloadMaker, error) {
	seed, _ := args.Int("--random-seed")
	m := &payloadMaker{random: mathrand.New(mathrand.NewPCG(uint64(seed), 0)), monotonic: args.Has("--payload-monotonic")}
	size, given := args.Int("--record-size")
	if given && size <= 0 {
		return nil, tool.Complain("--record-size should be greater than zero.")
	}
	m.size = int(size)
	m.keys, _ = args.Value("--key-distribution")
	m.keyRange, given = args.Int("--record-key-range")
	switch {
	case m.keys != "none" && !given:
		return nil, tool.Complain("--record-key-range is required when --key-distribution is '%s'.", m.keys)
	case m.keys == "none" && given:
		return nil, tool.Complain("--record-key-range requires --key-distribution to be 'range' or 'random'.")
	case given && m.keyRange <= 0:
		return nil, tool.Complain("--record-key-range should be greater than zero.")
	}
	file, given := args.Value("--payload-file")
	if !given {
		return m, nil
	}
	delimiter, _ := args.Value("--payload-delimiter")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return nil, plain("File does not exist or empty file provided.")
	}
	m.parts = strings.Split(strings.TrimSuffix(string(text), "\n"), strings.ReplaceAll(delimiter, `\n`, "\n"))
	return m, nil
}

// record makes the record of a number.
func (m *payloadMaker) record(topic string, number int64) *kgo.Record {
	r := &kgo.Record{Topic: topic}
	switch m.keys {
	case "range":
		r.Key = strconv.AppendInt(nil, number%m.keyRange, 10)
	case "random":
		r.Key = strconv.AppendInt(nil, m.random.Int64N(m.keyRange), 10)
	}
	switch {
	case m.monotonic:
		r.Value = strconv.AppendInt(nil, number, 10)
	case m.parts != nil:
		r.Value = []byte(m.parts[m.random.IntN(len(m.parts))])
	default:
		r.Value = letters(m.random, m.size)
	}
	return r
}

// largest is the size of the largest value.
func (m *payloadMaker) largest() int64 {
	most := m.size
	for _, part := range m.parts {
		most = max(most, len(part))
	}
	return int64(most)
}

// letters are random capital letters, as Apache's tests send them.
func letters(random *mathrand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte('A' + random.IntN(26))
	}
	return b
}

// randomUUIDText is a random id as java.util.UUID writes it.
func randomUUIDText() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

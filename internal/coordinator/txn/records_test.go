package txn

import (
	"encoding/hex"
	"strings"
	"testing"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/machine"
)

func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRecordsAreApaches has values that Apache Kafka's own classes wrote, but for
// states, which are made up there.
func TestRecordsAreApaches(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{
			"0000 000000012a05f201 00ca 00011173 05 00000002 00047337c3a9 00000002 00011179 0001117a 0005733132c3a9 00000002 0001117e 0001117f 000000012a05f210 000000012a05f211",
			"CompleteAbort producer 5000000001 epoch 202 previous -1 timeout 70003 partitions [s12é-70014 s12é-70015 s7é-70009 s7é-70010] client 0",
		},
		{
			"0000 000000012a05f201 00ca 00011173 00 ffffffff 000000012a05f205 000000012a05f206",
			"Empty producer 5000000001 epoch 202 previous -1 timeout 70003 partitions [] client 0",
		},
		{
			"0001 000000012a05f201 00cc 00011176 02 03 06733130c3a9 03 0001117c 0001117d 00 06733135c3a9 03 00011181 00011182 00 000000012a05f213 000000012a05f214 04 0008 000000012a05f202 0108 000000012a05f203 0202 00dd 0302 00cd",
			"PrepareCommit producer 5000000001 epoch 204 previous 5000000002 next 5000000003 timeout 70006 partitions [s10é-70012 s10é-70013 s15é-70017 s15é-70018] client 221",
		},
	} {
		raw := bytesOf(t, c.value)
		got, err := read("x", raw)
		if err != nil {
			t.Errorf("%s: %v", c.value, err)
			continue
		}
		if text := got.describe(); !strings.HasPrefix(text, c.want+" updated") {
			t.Errorf("%s\nis %s", c.value, text)
		}
		again, err := read("x", got.value(int16(raw[1])))
		if err != nil || again.describe() != got.describe() || again.nextEpoch != got.nextEpoch {
			t.Errorf("%s\ncomes back as %s, %v", c.value, again.describe(), err)
		}
	}
	if key := keyOf("s1é"); hex.EncodeToString(key) != "0000"+"00047331c3a9" {
		t.Errorf("key %x", key)
	}
}

func TestRecordsThatCannotBeReadAreErrors(t *testing.T) {
	good := (&transaction{id: "a", producer: 1, previous: -1, next: -1, nextEpoch: -1, partitions: noPartitions()}).value(1)
	r := newRig(defaults())
	for name, rec := range map[string]machine.Record{
		"no key":      {Value: good},
		"half a key":  {Key: keyOf("abc")[:5], Value: good},
		"version 2":   {Key: keyOf("a"), Value: []byte{0, 2, 0}},
		"no version":  {Key: keyOf("a"), Value: []byte{0}},
		"half":        {Key: keyOf("a"), Value: good[:20]},
		"state 7":     {Key: keyOf("a"), Value: append(append(append([]byte{}, good[:16]...), 7), good[17:]...)},
		"state below": {Key: keyOf("a"), Value: append(append(append([]byte{}, good[:16]...), 0xff), good[17:]...)},
	} {
		if err := r.Replay(machine.Replayed{Record: rec}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// What a later release may write is passed over, and so is the end of an id that is
	// not known.
	for _, rec := range []machine.Record{{Key: []byte{0, 9, 1}, Value: good}, {Key: keyOf("nobody")}} {
		if err := r.Replay(machine.Replayed{Record: rec}); err != nil {
			t.Error(err)
		}
	}
	if n := r.ids.Len(); n != 0 {
		t.Errorf("%d ids", n)
	}
}

// FuzzRead reads any value: it is refused, or what is read of it comes back.
func FuzzRead(f *testing.F) {
	for _, version := range []int16{0, 1} {
		for state := range stateNames {
			t := &transaction{id: "a", producer: 1, previous: 2, next: 3, nextEpoch: 4, epoch: 5, state: State(state), partitions: noPartitions()}
			t.partitions.Set(nil, partitions("t-0")[0], struct{}{})
			f.Add(t.value(version))
		}
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got, err := read("a", value)
		if err != nil {
			return
		}
		again, err := read("a", got.value(int16(value[1])))
		if err != nil || again.describe() != got.describe() {
			t.Fatalf("%s comes back as %s, %v", got.describe(), again.describe(), err)
		}
		c := New(Options{Registry: timeline.NewRegistry(), Settings: defaults(), TransactionVersion: func() int16 { return 2 }, Send: func(Markers) {}})
		c.put("a", got)
		c.put("a", nil)
		if total, _ := c.total.Get(struct{}{}); total != 0 || c.open.Len() != 0 {
			t.Fatalf("%d bytes, %d open", total, c.open.Len())
		}
	})
}

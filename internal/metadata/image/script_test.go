package image

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// TestReplayScripts runs the dialogues of testdata/scripts. "batch" replays one batch
// of the records in its input, a line each: the type and the fields that are not at
// their default. It prints the deltas that may be shown. "show" prints the records of
// the current image.
func TestReplayScripts(t *testing.T) {
	script.RunDir(t, "testdata/scripts", func(t *testing.T) func(script.Command) string {
		s := NewStream(Empty())
		return func(c script.Command) string {
			switch c.Name {
			case "batch":
				return batchCommand(s, c.Input)
			case "show":
				mv := kafka.MetadataVersion(c.Int("mv", int64(s.Shown().Features.MetadataVersion)))
				return showCommand(s.Shown(), mv)
			}
			t.Fatalf("command %s", c.Name)
			return ""
		}
	})
}

func batchCommand(s *Stream, input string) string {
	b := Batch{BaseOffset: s.Reached().Offset + 1, Epoch: 1, Timestamp: 1000}
	for line := range strings.Lines(input) {
		b.Records = append(b.Records, parseRecord(line))
	}
	b.LastOffset = b.BaseOffset + kafka.Offset(len(b.Records)) - 1
	deltas, err := s.Apply(b)
	if err != nil {
		return "error: " + err.Error()
	}
	var out strings.Builder
	for _, d := range deltas {
		fmt.Fprintf(&out, "image at %d%s\n", d.New.Position.Offset, map[bool]string{false: " inside a batch"}[d.New.Position.Aligned])
		printDelta(&out, d)
	}
	if s.InTransaction() {
		out.WriteString("in a transaction\n")
	}
	return out.String()
}

func printDelta(out *strings.Builder, d *Delta) {
	for _, name := range d.Features {
		fmt.Fprintf(out, "feature %s: %d -> %d\n", name, d.Old.Features.Level(name), d.New.Features.Level(name))
	}
	for _, id := range d.Brokers {
		fmt.Fprintf(out, "broker %d: %s\n", id, brokerText(d.New.Cluster.Broker(id)))
	}
	for _, id := range d.Controllers {
		_, ok := d.New.Cluster.Controllers.Get(id)
		fmt.Fprintf(out, "controller %d: %v\n", id, ok)
	}
	for i := range d.Topics {
		c := &d.Topics[i]
		verb := "changed"
		if c.Old == nil {
			verb = "created"
		} else if c.New == nil {
			verb = "deleted"
		}
		fmt.Fprintf(out, "topic %s id %d: %s\n", c.Topic().Name, c.Topic().ID[15], verb)
		for p := range c.Partitions() {
			fmt.Fprintf(out, "  %d: %s\n", p.Number, partitionText(p.New))
		}
	}
	for _, r := range d.Configs {
		fmt.Fprintf(out, "config %d/%s:", r.Type, r.Name)
		for k, v := range d.New.Configs.Of(r).All() {
			fmt.Fprintf(out, " %s=%s", k, v)
		}
		out.WriteString("\n")
	}
	printAccess(out, d)
}

func printAccess(out *strings.Builder, d *Delta) {
	for _, k := range d.Quotas {
		fmt.Fprintf(out, "quota %s", k)
		if q, ok := d.New.Quotas.Get(k); ok {
			for key, v := range q.Values.All() {
				fmt.Fprintf(out, " %s=%v", key, v)
			}
		}
		out.WriteString("\n")
	}
	for _, id := range d.ACLs {
		_, ok := d.New.ACLs.Get(id)
		fmt.Fprintf(out, "acl %d: %v\n", id[15], ok)
	}
	for _, k := range d.SCRAM {
		_, ok := d.New.SCRAM.Get(k)
		fmt.Fprintf(out, "scram %d/%s: %v\n", k.Mechanism, k.User, ok)
	}
	for _, id := range d.Tokens {
		_, ok := d.New.Tokens.Get(id)
		fmt.Fprintf(out, "token %s: %v\n", id, ok)
	}
	if d.ProducerIDs {
		fmt.Fprintf(out, "next producer id %d\n", d.New.NextProducerID)
	}
}

func brokerText(b *Broker) string {
	if b == nil {
		return "gone"
	}
	text := fmt.Sprintf("epoch=%d fenced=%v shutdown=%v dirs=%s", b.Epoch, b.Fenced, b.InControlledShutdown, uuidText(b.Directories))
	if b.Cordoned != nil {
		text += " cordoned=" + uuidText(b.Cordoned)
	}
	return text
}

func uuidText(ids []kafka.UUID) string {
	var parts []string
	for _, id := range ids {
		parts = append(parts, strconv.Itoa(int(id[15])))
	}
	return strings.Join(parts, ",")
}

func partitionText(p *Partition) string {
	if p == nil {
		return "gone"
	}
	text := fmt.Sprintf("replicas=%v isr=%v leader=%d/%d epoch=%d", p.Replicas, p.ISR, p.Leader, p.LeaderEpoch, p.PartitionEpoch)
	text += listText("adding", p.Adding()) + listText("removing", p.Removing()) + listText("elr", p.ELR()) + listText("lastKnown", p.LastKnownELR())
	if p.directories != nil {
		text += " dirs=" + uuidText(p.directories)
	}
	if p.RecoveryState != kafka.Recovered {
		text += " recovering"
	}
	return text
}

func listText(name string, list []kafka.BrokerID) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(" %s=%v", name, list)
}

func showCommand(img *Image, mv kafka.MetadataVersion) string {
	var out []byte
	err := img.Records(mv, func(group []metarec.Versioned) error {
		for _, r := range group {
			out = append(metarec.AppendJSON(out, r.Message, r.Version), '\n')
		}
		return nil
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return string(out)
}

// recordTypes are the messages by the name of their Go type without "Record".
func recordTypes() map[string]metarec.Message {
	out := map[string]metarec.Message{}
	for _, m := range []metarec.Message{
		metarec.NewRegisterBrokerRecord(), metarec.NewUnregisterBrokerRecord(), metarec.NewTopicRecord(), metarec.NewPartitionRecord(),
		metarec.NewConfigRecord(), metarec.NewPartitionChangeRecord(), metarec.NewFenceBrokerRecord(), metarec.NewUnfenceBrokerRecord(),
		metarec.NewRemoveTopicRecord(), metarec.NewDelegationTokenRecord(), metarec.NewUserScramCredentialRecord(), metarec.NewFeatureLevelRecord(),
		metarec.NewClientQuotaRecord(), metarec.NewProducerIdsRecord(), metarec.NewBrokerRegistrationChangeRecord(), metarec.NewAccessControlEntryRecord(),
		metarec.NewRemoveAccessControlEntryRecord(), metarec.NewNoOpRecord(), metarec.NewZkMigrationStateRecord(), metarec.NewRemoveUserScramCredentialRecord(),
		metarec.NewBeginTransactionRecord(), metarec.NewEndTransactionRecord(), metarec.NewAbortTransactionRecord(), metarec.NewRemoveDelegationTokenRecord(),
		metarec.NewRegisterControllerRecord(), metarec.NewClearElrRecord(), metarec.NewUnregisterControllerRecord(),
	} {
		out[strings.TrimSuffix(reflect.TypeOf(m).Elem().Name(), "Record")] = m
	}
	return out
}

// parseRecord reads "Type Field=value ...". Ids are small numbers, lists are joined by
// commas, "[]" is an empty list and "null" is null.
func parseRecord(line string) metarec.Message {
	words := strings.Fields(line)
	m, ok := recordTypes()[words[0]]
	if !ok {
		panic("record type " + words[0])
	}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		f := reflect.ValueOf(m).Elem().FieldByName(name)
		if !f.IsValid() {
			panic("field " + w)
		}
		setField(f, value)
	}
	return m
}

func setField(f reflect.Value, value string) {
	switch {
	case f.Type() == reflect.TypeFor[kafka.UUID]():
		f.Index(15).SetUint(uint64(number(value)))
	case f.Type() == reflect.TypeFor[[]metarec.QuotaEntity]():
		for part := range strings.SplitSeq(value, ",") {
			kind, name, named := strings.Cut(part, ":")
			e := metarec.QuotaEntity{EntityType: kind}
			if named {
				e.EntityName = &name
			}
			f.Set(reflect.Append(f, reflect.ValueOf(e)))
		}
	case f.Kind() == reflect.Pointer:
		if value != "null" {
			f.Set(reflect.ValueOf(&value))
		}
	case f.Kind() == reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		for part := range strings.SplitSeq(strings.Trim(value, "[]"), ",") {
			if part != "" {
				e := reflect.New(f.Type().Elem()).Elem()
				setField(e, part)
				f.Set(reflect.Append(f, e))
			}
		}
	case f.Kind() == reflect.Bool:
		f.SetBool(value == "true")
	case f.Kind() == reflect.String:
		f.SetString(value)
	case f.Kind() == reflect.Float64:
		f.SetFloat(float64(number(value)))
	default:
		f.SetInt(number(value))
	}
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

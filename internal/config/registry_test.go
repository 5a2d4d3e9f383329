package config

import (
	"bufio"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// readTSV returns the rows of a table that Apache Kafka 4.4.0's own classes
// wrote, by the names in its first line.
func readTSV(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var head []string
	var rows []map[string]string
	for s := bufio.NewScanner(f); s.Scan(); {
		cells := strings.Split(s.Text(), "\t")
		if head == nil {
			head = cells
			continue
		}
		row := map[string]string{}
		for i, cell := range cells {
			row[head[i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

func defaultText(k *Key) string {
	switch k.Default {
	case null:
		return "null"
	case required:
		return "REQUIRED"
	case "":
		if k.Type == List {
			return "[]"
		}
		return `""`
	}
	return k.Default
}

func linksText(k *Key) string {
	var out []string
	for _, l := range k.Links {
		if l.Factor != 1 {
			l.Name += "(x" + strconv.FormatInt(l.Factor, 10) + ")"
		}
		out = append(out, l.Name)
	}
	return strings.Join(out, ",")
}

func TestRegistryIsApaches(t *testing.T) {
	importance := map[Importance]string{High: "high", Medium: "medium", Low: "low"}
	update := map[Update]string{ReadOnly: "read-only", PerBroker: "per-broker", ClusterWide: "cluster-wide"}
	for file, set := range map[string]*Set{
		"broker.tsv": BrokerKeys(), "topic.tsv": TopicKeys(), "group.tsv": GroupKeys(),
		"client-metrics.tsv": ClientMetricsKeys(), "quota-broker.tsv": newSet(dynamicOnlyKeys()),
	} {
		rows := readTSV(t, file)
		if len(rows) != len(set.Keys()) {
			t.Errorf("%s: %d keys, Apache has %d", file, len(set.Keys()), len(rows))
		}
		for _, row := range rows {
			k := set.Lookup(row["name"])
			if k == nil {
				t.Errorf("%s: key %s is missing", file, row["name"])
				continue
			}
			got := map[string]string{"name": k.Name, "type": strings.ToLower(k.Type.String()), "default": defaultText(k), "valid": "", "importance": importance[k.Importance], "internal": ""}
			if k.Check != nil {
				got["valid"] = k.Check.String()
			}
			if k.Internal {
				got["internal"] = "internal"
			}
			if _, ok := row["update"]; ok {
				got["update"] = update[k.Update]
				delete(row, "synonyms")
			} else if _, ok := row["synonyms"]; ok {
				got["synonyms"] = linksText(k)
			}
			if !reflect.DeepEqual(got, row) {
				t.Errorf("%s: %s\n got %v\nwant %v", file, k.Name, got, row)
			}
		}
	}
}

func TestEveryDefaultPassesItsOwnCheck(t *testing.T) {
	for _, set := range []*Set{BrokerKeys(), OtherKeys(), TopicKeys(), GroupKeys(), ClientMetricsKeys()} {
		for _, k := range set.Keys() {
			if !k.HasDefault() {
				continue
			}
			v, err := k.parse(k.Default)
			if err != nil {
				t.Errorf("%s: %v", k.Name, err)
				continue
			}
			if text := formatValue(v); *text != k.Default {
				t.Errorf("%s: default %q is shown as %q", k.Name, k.Default, *text)
			}
		}
	}
}

func TestEveryLinkIsABrokerKey(t *testing.T) {
	for _, set := range []*Set{TopicKeys(), GroupKeys()} {
		for _, k := range set.Keys() {
			for _, l := range k.Links {
				if BrokerKeys().Lookup(l.Name) == nil {
					t.Errorf("%s: no broker key %s", k.Name, l.Name)
				}
			}
		}
	}
}

// derived are the honoured keys that a field without a tag is worked out from.
var derived = map[string]bool{
	"process.roles": true, "broker.id": true, "log.dir": true, "log.dirs": true, "metadata.log.dir": true,
	"listeners": true, "advertised.listeners": true, "controller.listener.names": true, "inter.broker.listener.name": true,
	"security.inter.broker.protocol": true, "listener.security.protocol.map": true, "max.connections.per.ip.overrides": true,
	"controller.quorum.voters": true, "controller.quorum.bootstrap.servers": true, "config.providers": true,
	"metadata.log.segment.bytes": true, "internal.metadata.log.segment.bytes": true, "barnabas.admin.listener": true,
	"cleanup.policy": true, "message.timestamp.type": true, "internal.segment.bytes": true,
}

// tags returns the key of each tagged field under typ, with the field's type.
func tags(typ reflect.Type, into map[string]reflect.Type) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if key, ok := f.Tag.Lookup("key"); ok {
			into[key] = f.Type
		} else if f.Type.Kind() == reflect.Struct {
			tags(f.Type, into)
		}
	}
}

func TestEveryHonouredKeyHasAField(t *testing.T) {
	broker, topic := map[string]reflect.Type{}, map[string]reflect.Type{}
	tags(reflect.TypeFor[Broker](), broker)
	tags(reflect.TypeFor[Topic](), topic)
	linked := map[string]bool{}
	for _, set := range []*Set{TopicKeys(), GroupKeys()} {
		for _, k := range set.Keys() {
			for _, l := range k.Links {
				linked[l.Name] = true
			}
		}
	}
	for _, l := range groupLimits {
		linked[l.min], linked[l.max] = true, true
	}
	for _, set := range []*Set{BrokerKeys(), OtherKeys()} {
		for _, k := range set.Keys() {
			if _, tagged := broker[k.Name]; k.Status == Honoured && !tagged && !derived[k.Name] && !linked[k.Name] {
				t.Errorf("%s is honoured and no field holds it", k.Name)
			}
		}
	}
	for _, k := range TopicKeys().Keys() {
		if _, tagged := topic[k.Name]; k.Status == Honoured && !tagged && !derived[k.Name] {
			t.Errorf("%s is honoured and no field holds it", k.Name)
		}
	}
	for key, typ := range broker {
		checkField(t, lookupNode(key), key, typ)
	}
	for key, typ := range topic {
		checkField(t, TopicKeys().Lookup(key), key, typ)
	}
}

// checkField holds a field's type against its key's, so that fill cannot panic
// or cut a number short.
func checkField(t *testing.T, k *Key, key string, typ reflect.Type) {
	t.Helper()
	if k == nil {
		t.Errorf("tag %s is no key", key)
		return
	}
	want := map[Type][]reflect.Kind{
		Boolean: {reflect.Bool}, String: {reflect.String}, Int: {reflect.Int, reflect.Int32, reflect.Int64}, Short: {reflect.Int},
		Long: {reflect.Int64}, Double: {reflect.Float64}, List: {reflect.Slice},
	}[k.Type]
	for _, kind := range want {
		if typ.Kind() == kind {
			return
		}
	}
	t.Errorf("%s of type %s has a field of type %s", key, k.Type, typ)
}

func TestDurationsSaturate(t *testing.T) {
	for _, c := range []struct {
		key  string
		n    int64
		want time.Duration
	}{
		{"a.ms", 1500, 1500 * time.Millisecond}, {"a.seconds", 3, 3 * time.Second}, {"a.hours", 2, 2 * time.Hour}, {"a.minutes", 2, 2 * time.Minute},
		{"a.delay.millis", 7, 7 * time.Millisecond}, {"a.ms", -1, Forever}, {"a.ms", 1<<63 - 1, Forever}, {"a.ms", 0, 0},
	} {
		if got := duration(c.key, c.n); got != c.want {
			t.Errorf("%s = %d: %v, want %v", c.key, c.n, got, c.want)
		}
	}
}

func TestEveryKeySaysWhatItIsFor(t *testing.T) {
	used := map[string]bool{}
	for _, set := range []*Set{BrokerKeys(), OtherKeys(), TopicKeys(), GroupKeys(), ClientMetricsKeys()} {
		for _, k := range set.Keys() {
			used[k.Name] = true
			if text := k.Doc(); len(text) < 15 || len(text) > 400 || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q", k.Name, text)
			}
		}
	}
	for name := range docs() {
		if !used[name] {
			t.Errorf("docs/keys.txt tells of %s, which is no key", name)
		}
	}
}

package client

import (
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
)

// shortForms are the options that name a type and an entity at once.
var shortForms = []struct{ option, plural string }{
	{"topic", "topics"}, {"client", "clients"}, {"user", "users"}, {"broker", "brokers"}, {"broker-logger", "broker-loggers"},
	{"ip", "ips"}, {"client-metrics", "client-metrics"}, {"group", "groups"},
}

var defaultForms = []struct{ option, plural string }{
	{"client-defaults", "clients"}, {"user-defaults", "users"}, {"broker-defaults", "brokers"}, {"ip-defaults", "ips"},
}

// configuredEntity reads what is to be described or altered; errors have Apache's
// texts.
func configuredEntity(set *options.Set, action string) (entity, error) {
	var e entity
	if !set.Has("bootstrap-server") && !set.Has("bootstrap-controller") {
		return e, plain("Either --bootstrap-server or --bootstrap-controller must be specified.")
	}
	if set.Has("bootstrap-server") && set.Has("bootstrap-controller") {
		return e, plain("Only one of --bootstrap-server or --bootstrap-controller can be specified")
	}
	types, names := set.All("entity-type"), set.All("entity-name")
	if set.Has("entity-default") {
		names = append(names, "")
	}
	for _, f := range shortForms {
		if set.Has(f.option) {
			types, names = append(types, f.plural), append(names, set.Get(f.option))
		}
	}
	for _, f := range defaultForms {
		if set.Has(f.option) {
			types, names = append(types, f.plural), append(names, "")
		}
	}
	if len(types) == 0 {
		return e, plain("At least one entity type must be specified")
	}
	if err := checkEntityTypes(set, types); err != nil {
		return e, err
	}
	e.kind = kindOf(types[0])
	if len(names) > 0 {
		e.name, e.named = names[0], true
	}
	return e, checkEntityName(set, action, e)
}

func kindOf(plural string) entityKind {
	i := slices.IndexFunc(entityKinds, func(k entityKind) bool { return k.plural == plural })
	if i < 0 {
		return entityKind{}
	}
	return entityKinds[i]
}

func checkEntityTypes(set *options.Set, types []string) error {
	var all []string
	for _, k := range entityKinds {
		all = append(all, k.plural)
	}
	for i, t := range types {
		if kindOf(t).plural == "" {
			return plain("Invalid entity type %s, the entity type must be one of %s with a --bootstrap-server or --bootstrap-controller argument", t, strings.Join(all, ", "))
		}
		if slices.Contains(types[:i], t) {
			return plain("Duplicate entity type(s) specified: %s", t)
		}
	}
	if len(types) > 1 {
		pair := slices.Clone(types)
		if slices.Sort(pair); !slices.Equal(pair, []string{"clients", "users"}) {
			return plain("Only 'users' and 'clients' entity types may be specified together")
		}
	}
	return nil
}

func checkEntityName(set *options.Set, action string, e entity) error {
	number := e.kind.resource == kmsg.ConfigResourceTypeBroker || e.kind.resource == kmsg.ConfigResourceTypeBrokerLogger
	if number && e.name != "" {
		if _, err := strconv.ParseInt(e.name, 10, 32); err != nil {
			return plain("The entity name for %s must be a valid integer broker id, but it is: %s", e.kind.plural, e.name)
		}
	}
	if e.kind.plural == "ips" && e.name != "" && net.ParseIP(e.name) == nil {
		if _, err := net.LookupHost(e.name); err != nil {
			return plain("The entity name for ips must be a valid IP or resolvable host, but it is: %s", e.name)
		}
	}
	if action == "describe" {
		if e.named && e.name == "" && set.Has("entity-default") && e.kind.resource != 0 && e.kind.resource != kmsg.ConfigResourceTypeBroker {
			return plain("--entity-default must not be specified with --describe of %s", e.kind.plural)
		}
		if e.kind.resource == kmsg.ConfigResourceTypeBrokerLogger && !e.named {
			return plain("An entity name must be specified with --describe of %s", e.kind.plural)
		}
		return nil
	}
	switch {
	case !e.named && (e.kind.resource == kmsg.ConfigResourceTypeBroker || e.kind.resource == 0):
		return plain("An entity-name or default entity must be specified with --alter of users, clients, brokers or ips")
	case !e.named:
		return plain("An entity name must be specified with --alter of %s", e.kind.plural)
	case e.name == "" && e.kind.resource != 0 && e.kind.resource != kmsg.ConfigResourceTypeBroker:
		return plain("An entity name must be specified with --alter of %s", e.kind.plural)
	case set.Has("add-config") && set.Has("add-config-file"):
		return plain("Only one of --add-config or --add-config-file must be specified")
	case !set.Has("add-config") && !set.Has("add-config-file") && !set.Has("delete-config"):
		return plain("At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter")
	}
	return nil
}

// configOp is what is to become of a key: a value to set, or nil to delete it.
type configOp struct {
	key   string
	value *string
}

// splitOutside splits at commas that stand outside of brackets.
func splitOutside(text string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']' && depth > 0:
			depth--
		case r == ',' && depth == 0:
			out, from = append(out, text[from:i]), i+1
		}
	}
	return append(out, text[from:])
}

var assignment = regexp.MustCompile(`\s*=\s*`)

// configOps reads --add-config, --add-config-file and --delete-config.
func configOps(set *options.Set) ([]configOp, error) {
	values := map[string]string{}
	var keys []string
	add := func(key, value string) {
		if _, again := values[key]; !again {
			keys = append(keys, key)
		}
		values[key] = value
	}
	if set.Has("add-config-file") {
		props, err := readProperties(set.Get("add-config-file"), nil)
		if err != nil {
			return nil, err
		}
		for key, value := range props {
			add(key, value)
		}
	}
	if text := set.Get("add-config"); text != "" {
		for _, pair := range splitOutside(text) {
			parts := assignment.Split(pair, 2)
			if len(parts) != 2 {
				return nil, plain(`Invalid entity config: all configs to be added must be in the format "key=val" or  "key=[val1,val2]" to group values which contain commas.`)
			}
			add(strings.TrimSpace(parts[0]), strings.Trim(strings.TrimSpace(parts[1]), "[]"))
		}
	}
	var out []configOp
	slices.Sort(keys)
	for _, key := range keys {
		value := values[key]
		out = append(out, configOp{key, &value})
	}
	if text := set.Get("delete-config"); text != "" {
		for key := range strings.SplitSeq(text, ",") {
			out = append(out, configOp{strings.TrimSpace(key), nil})
		}
	}
	return out, nil
}

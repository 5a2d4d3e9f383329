package config

// Key is what is known of one configuration key.
type Key struct {
	Name       string
	Type       Type
	Default    string // as text; null and required are no text
	Check      Check  // nil: any value of the type
	Importance Importance
	Update     Update
	Status     Status
	Internal   bool // hidden from DescribeConfigs and the documentation

	// Links are the broker keys that a topic's or group's value falls back to,
	// strongest first.
	Links []Link
}

// Link names a broker key that gives a topic's or group's value.
type Link struct {
	Name   string
	Factor int64 // from the broker key's unit to ours: minutes to milliseconds
}

const (
	null     = "\x00null"     // the default of a key that may be unset
	required = "\x00required" // the default of a key that must be set

	public   = false
	internal = true
)

// HasDefault says whether there is a value when none is set.
func (k *Key) HasDefault() bool { return k.Default != null && k.Default != required }

// Required says whether the key must be set.
func (k *Key) Required() bool { return k.Default == required }

// Sensitive says whether the value is never shown.
func (k *Key) Sensitive() bool { return k.Type == Password }

// Type is a key's type, by the protocol's numbers (ConfigType).
type Type int8

// The types.
const (
	Boolean  Type = 1
	String   Type = 2
	Int      Type = 3
	Short    Type = 4
	Long     Type = 5
	Double   Type = 6
	List     Type = 7
	Class    Type = 8
	Password Type = 9
)

// String is the name that Apache's error texts have.
func (t Type) String() string {
	names := [...]string{"UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"}
	if int(t) < len(names) && t > 0 {
		return names[t]
	}
	return names[0]
}

// Importance ranks keys in the documentation.
type Importance uint8

// The ranks.
const (
	High Importance = iota
	Medium
	Low
)

// Update says whether a running node takes a new value.
type Update uint8

// The ways.
const (
	ReadOnly    Update = iota // at the next start
	PerBroker                 // for one broker
	ClusterWide               // for one broker or as the default of all
)

// Status says what this release does with a key that is set.
type Status uint8

// The statuses. All but Honoured and the refused are accepted with one warning.
const (
	Honoured Status = iota
	meaningless
	needsNodes
	needsShareGroups
	needsStreamsGroups
	needsTwoPhaseCommit
	needsTiering
	needsQuotas
	needsSecurity
	refusedSecurity
	refusedPolicy
	refusedTiering
)

// Refused says whether a node does not start when the key is set to something
// else than its default.
func (s Status) Refused() bool { return s >= refusedSecurity }

// Reason says why a key that is set has no effect, or why it is refused.
func (s Status) Reason() string {
	switch s {
	case meaningless:
		return "there is no thread pool, queue, delay or JVM here that it could set"
	case needsNodes:
		return "this release runs clusters of one node"
	case needsShareGroups:
		return "share groups are not part of this release"
	case needsStreamsGroups:
		return "streams groups are not part of this release"
	case needsTwoPhaseCommit:
		return "commits of two phases (KIP-939) are not part of this release; they are unstable in Apache Kafka 4.4"
	case needsTiering, refusedTiering:
		return "tiered storage is not part of this release"
	case needsQuotas:
		return "quotas are not part of this release"
	case needsSecurity:
		return "TLS, SASL and delegation tokens are not part of this release"
	case refusedSecurity:
		return "TLS, SASL and authorization are not part of this release, and without them this key would promise a protection that is not there"
	case refusedPolicy:
		return "a Java class cannot be loaded, and the rule that it keeps would silently be gone"
	}
	return ""
}

// linkedKey is a row of the tables of topic and group keys.
type linkedKey struct {
	name     string
	typ      Type
	def      string
	check    Check
	links    []Link
	rank     Importance
	status   Status
	internal bool
}

// from is the link to a broker key of the same unit.
func from(name string) []Link { return []Link{{name, 1}} }

func link(rows []linkedKey) []Key {
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{r.name, r.typ, r.def, r.check, r.rank, ClusterWide, r.status, r.internal, r.links}
	}
	return keys
}

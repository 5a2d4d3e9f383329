package config

// layers holds the values that a Broker was resolved from, strongest first.
type layers struct {
	dynamicBroker  map[string]string // of this node, from the metadata log
	dynamicDefault map[string]string // of the cluster, from the metadata log
	static         map[string]string // file, environment, --override
}

// Dynamic is the part of the metadata log's configuration that concerns a node:
// the config resources broker "<id>" and broker "".
type Dynamic struct {
	Broker  map[string]string
	Default map[string]string
}

// Source says where a value comes from, by the protocol's numbers (ConfigSource).
type Source int8

// The sources.
const (
	SourceDynamicTopic         Source = 1
	SourceDynamicBroker        Source = 2
	SourceDynamicDefaultBroker Source = 3
	SourceStaticBroker         Source = 4
	SourceDefault              Source = 5
	SourceDynamicLogger        Source = 6
	SourceClientMetrics        Source = 7
	SourceGroup                Source = 8
)

// Entry is one resolved key as CreateTopics and DescribeConfigs answer it.
type Entry struct {
	Name      string
	Value     *string // nil is null, or hidden because it is sensitive
	Source    Source
	Type      Type
	ReadOnly  bool
	Sensitive bool
	Synonyms  []Synonym // strongest first; the first is the one in force
}

// Synonym is one candidate for a key's value.
type Synonym struct {
	Name   string
	Value  *string
	Source Source
}

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

// Package config holds Kafka's configuration: every key with its type, default,
// checks and status, the sources that values come from, and their typed forms.
//
//	b, warnings, err := config.Load(config.Options{File: path, Environ: os.Environ()})
//	b, problems := b.With(config.Dynamic{...})   // dynamic broker configs of the metadata log
//	t, err := b.Topic(overrides)                 // one topic, typed
//	entries := b.TopicSources(overrides)         // the same with sources, for CreateTopics
//	entries := b.DescribeTopic(overrides)        // for DescribeConfigs, as DescribeBroker
//	err := b.ValidateTopic(wanted, existing)     // what a client asks to set, as
//	err := b.ValidateDynamic(level, wanted)      // ValidateGroup, ValidateClientMetrics
//
// It does not know what a value is for, nor does it watch files. A Broker is
// immutable and may be shared; With makes a new one. The package starts no
// goroutine and writes nothing; Load reads the configuration file and the files
// that config providers name.
//
// # Sources
//
// Later goes before earlier: the file, the environment (KAFKA_FOO_BAR is
// foo.bar, then BARNABAS_FOO_BAR), --override, and on a running node the cluster
// default and the node's own entry in the metadata log. Without a file the
// product's defaults stand below all of these.
//
// # Statuses
//
// A key is honoured, or has no effect in this release and costs one warning when
// it is set, or is refused: a key whose silent absence would open a door or lose
// a rule stops the node unless it is at its default.
//
// # Invariants
//
//  1. The registry equals Apache's: names, types, defaults, checks, importance,
//     update modes, links of topics to broker keys (testdata/*.tsv).
//  2. Errors have Apache's texts, with the place of the setting before them
//     (testdata/*_rules.txt; the deliberate differences are named in the test).
//  3. Every honoured key has a field with its name as tag, or is one of the few
//     that a field is worked out from; fill cannot fail on a parsed value.
//  4. No setting is passed over in silence.
//
// # Files
//
//	key.go registry.go          what is known of a key; the sets of keys
//	keys_*.go                   the tables
//	check.go value.go           rules for values; text to value and back, as Java does
//	source.go provider.go       settings with their origin; config providers
//	load.go layers.go           the sources put together; the dynamic layer
//	dynamic.go                  what a running node may be given
//	group.go client_metrics.go  groups and client-metrics resources: sources, validation
//	docs.go docs/               what each key is for, in words
//	effect.go                   settings that have no effect
//	broker.go fill.go           the typed node; tags to fields
//	build.go network.go listener.go numbers.go
//	                            fields and rules that span several keys
//	topic.go topic_resolve.go   the typed topic; its validation
//	topic_sources.go broker_sources.go
//	                            answers about topics and the node, with sources
//	properties/                 the file format
package config

// Package config holds Kafka's configuration: every key with its type, default,
// checks and status, the sources that values come from, and their typed forms.
//
//	b, warnings, err := config.Load(config.Options{File: path, Environ: os.Environ()})
//	b, problems := b.With(config.Dynamic{...})       // dynamic broker configs of the metadata log
//	t, err := b.Topic(overrides)                     // one topic, typed
//	entries := b.TopicSources(overrides)             // the same with sources, for answers
//	err := b.ValidateTopic(wanted, existing)         // what a client asks to set; Apache's texts
//
// A Broker is immutable and may be shared. The package keeps no state, starts no
// goroutine and writes no file; Load reads the configuration file and those that
// config providers name.
package config

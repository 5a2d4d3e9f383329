package kafkatest

import (
	"log/slog"

	"barnabas/internal/base/vfs"
)

// Option says how a node differs from one without options.
type Option func(*options)

type options struct {
	overrides []string // "key=value", the later wins
	topics    []topic
	dir       string // "" is memory
	memory    *vfs.Mem
	log       *slog.Logger // nil is discarded by Open and kept for failures by Start
}

// Topic has a topic made before the node is handed out. Configs are pairs such as
// "cleanup.policy=compact".
func Topic(name string, partitions int, configs ...string) Option {
	return func(o *options) { o.topics = append(o.topics, topic{name, partitions, configs}) }
}

// Config sets a configuration key of the broker, as in server.properties.
func Config(key, value string) Option {
	return func(o *options) { o.overrides = append(o.overrides, key+"="+value) }
}

// Dir keeps the data in a folder, in Kafka's formats, in place of memory. The folder
// is formatted if it is new; data of an earlier node in it is served.
func Dir(path string) Option {
	return func(o *options) { o.dir = path }
}

// Logger receives the node's log.
func Logger(log *slog.Logger) Option {
	return func(o *options) { o.log = log }
}

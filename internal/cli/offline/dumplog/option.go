package dumplog

import "barnabas/internal/cli/options"

const about = "This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly corrupt log segment."

const (
	decoders      = "org.apache.kafka.tools.api."
	stringDecoder = decoders + "StringDecoder"
)

// Options are the options of kafka-dump-log.
func Options() *options.Set {
	return options.New(
		options.Option{Name: "cluster-metadata-decoder", Help: "If set, log data will be parsed as cluster metadata records."},
		options.Option{Name: "deep-iteration", Help: "If set, uses deep instead of shallow iteration. Automatically set if print-data-log is enabled."},
		options.Option{Name: "files", Argument: options.Required, Value: "String: file1, file2, ...", Help: "REQUIRED: The comma separated list of data and index log files to be dumped."},
		options.Option{Name: "index-sanity-check", Help: "If set, just checks the index sanity without printing its content. This is the same check that is executed on broker startup to determine if an index needs rebuilding or not."},
		options.Option{Name: "key-decoder-class", Argument: options.Optional, Value: "String", Default: stringDecoder, Help: "If set, used to decode the keys: the String, Integer or Long decoder of " + decoders},
		options.Option{Name: "max-bytes", Argument: options.Required, Value: "Integer: size", Default: "2147483647", Help: "Limit the amount of total batches read in bytes avoiding reading the whole .log file(s)."},
		options.Option{Name: "max-message-size", Argument: options.Required, Value: "Integer: size", Default: "5242880", Help: "Size of largest message."},
		options.Option{Name: "offsets-decoder", Help: "If set, log data will be parsed as offset data from the __consumer_offsets topic."},
		options.Option{Name: "print-data-log", Help: "If set, printing the messages content when dumping data logs. Automatically set if any decoder option is specified."},
		options.Option{Name: "remote-log-metadata-decoder", Help: "Not supported by this release."},
		options.Option{Name: "share-group-state-decoder", Help: "Not supported by this release."},
		options.Option{Name: "skip-record-metadata", Help: "Skip metadata when printing records. This flag also skips control records."},
		options.Option{Name: "transaction-log-decoder", Help: "If set, log data will be parsed as transaction metadata from the __transaction_state topic."},
		options.Option{Name: "value-decoder-class", Argument: options.Optional, Value: "String", Default: stringDecoder, Help: "If set, used to decode the messages: the String, Integer or Long decoder of " + decoders},
		options.Option{Name: "verify-index-only", Help: "If set, just verify the index log without printing its content."},
	)
}

// Package cli is the front door: it looks at how the program was called and hands
// over to the command. The same binary serves "barnabas topics ..." and, under
// Kafka's names by a link, "kafka-topics.sh ..." and "kafka-topics ...".
//
//	run/        the server
//	client/     tools that talk to a cluster
//	offline/    tools that read and write folders
//	options/    command lines as Kafka's tools read them that stand on joptsimple
//	argparse/   and those that stand on argparse4j
//	internaltopics/  records of internal topics as JSON, for dump-log and console-consumer
//	completion/ for bash, zsh and fish, from the same tables
//	progress/   a line on a terminal while a tool takes long
//	levels/     feature levels of releases, for the tools storage and features
package cli

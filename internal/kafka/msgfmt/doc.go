// Package msgfmt holds the primitives of Kafka's message format on which the
// generated record codecs stand: big-endian numbers, strings, bytes and arrays in
// their plain and compact forms, sections of tagged fields, and JSON as Apache
// Kafka's converters print it. It knows no message.
//
// Reader and Writer carry a sticky error: generated code calls them in a row and
// asks once at the end. After an error a Reader gives zero values and a Writer
// adds nothing that matters.
//
// Invariants:
//
//  1. A Reader never allocates more than a small multiple of the bytes that are
//     left: a count is checked against them (times the least size of an element)
//     before memory is taken, and no array has more than MaxElements elements.
//  2. What a Reader returns shares no memory with its input.
//  3. Unknown tagged fields are kept in order of arrival and written back among
//     the known ones in order of tag, as Apache Kafka does.
//
// Files:
//
//	reader.go  decoding
//	writer.go  encoding
//	tags.go    tagged fields, both ways
//	json.go    JSON as Jackson writes it
package msgfmt

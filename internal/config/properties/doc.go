// Package properties reads and writes the text format of java.util.Properties,
// byte for byte as Java does it, and keeps line numbers for messages.
//
// It knows nothing of keys and expands nothing: ${...} is text here.
//
// The format: one "key=value" a line; '=', ':' or blanks part them; a line that
// begins with '#' or '!' is a comment; a backslash at the end of a line goes on
// in the next, whose leading blanks are dropped; \t \n \f \r and \uXXXX are
// escapes, any other escaped character is itself. The bytes are ISO-8859-1.
//
// Files:
//
//	parse.go  Parse
//	store.go  Store, and the order in which Java writes
package properties

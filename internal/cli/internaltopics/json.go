package internaltopics

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// UnknownTypeError is a type of record that this release does not know.
type UnknownTypeError int16

func (e UnknownTypeError) Error() string { return fmt.Sprintf("unknown record type %d", int16(e)) }

// Marshal is JSON as Apache's tools print it, without escapes for HTML.
func Marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("BUG: JSON of a record: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

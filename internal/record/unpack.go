package record

// Unpack unpacks a whole stream that is no record batch, such as a client's
// telemetry, to at most limit bytes: ErrTooLarge beyond.
func Unpack(codec Codec, packed []byte, limit int) ([]byte, error) {
	const newest = 2
	return unpack(codec, packed, newest, limit)
}

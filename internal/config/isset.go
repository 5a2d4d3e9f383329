package config

// IsSet says whether the user gave a value for a broker key, statically or in the
// metadata log; where it is false the default holds.
func (b *Broker) IsSet(key string) bool {
	_, _, ok := b.layers.lookup(key)
	return ok
}

package image

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/base/immut"
	"barnabas/internal/metadata/metarec"
)

// QuotaKey is the canonical form of the entity of a quota. It is only good as a key.
type QuotaKey string

// Quota is what is set for one entity: users, client ids, addresses, or a combination.
type Quota struct {
	// Entity is in order of type.
	Entity []metarec.QuotaEntity
	// Values are the limits by quota key.
	Values immut.Map[string, float64]
}

// QuotaKeyOf returns the key of an entity whose parts come in any order.
func QuotaKeyOf(entity []metarec.QuotaEntity) QuotaKey {
	var b strings.Builder
	for _, e := range sortedEntity(entity) {
		b.WriteString(strconv.Quote(e.EntityType))
		if e.EntityName != nil {
			b.WriteString("=" + strconv.Quote(*e.EntityName))
		}
		b.WriteByte(',')
	}
	return QuotaKey(b.String())
}

// sortedEntity returns the parts in order of type; of two parts of one type the last
// counts.
func sortedEntity(entity []metarec.QuotaEntity) []metarec.QuotaEntity {
	out := make([]metarec.QuotaEntity, 0, len(entity))
	for _, e := range entity {
		i, found := slices.BinarySearchFunc(out, e, func(a, b metarec.QuotaEntity) int { return cmp.Compare(a.EntityType, b.EntityType) })
		if found {
			out[i] = e
		} else {
			out = slices.Insert(out, i, e)
		}
	}
	return out
}

// SCRAMKey names a credential.
type SCRAMKey struct {
	Mechanism int8 // 1 SHA-256, 2 SHA-512
	User      string
}

func compareSCRAMKey(a, b SCRAMKey) int {
	return cmp.Or(cmp.Compare(a.Mechanism, b.Mechanism), cmp.Compare(a.User, b.User))
}

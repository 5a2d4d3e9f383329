package image

import (
	"cmp"
	"fmt"

	"barnabas/internal/base/immut"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

func (b *Builder) replayFeature(r *metarec.FeatureLevelRecord) error {
	switch {
	case r.Name == kafka.FeatureMetadataVersion:
		mv := kafka.MetadataVersion(r.FeatureLevel)
		if !mv.Known() {
			return fmt.Errorf("metadata.version level %d is not supported: this release knows %d to %d; a cluster below level %d must be upgraded to it by an older release first",
				r.FeatureLevel, kafka.MinMetadataVersion, kafka.LatestMetadataVersion, kafka.MinMetadataVersion)
		}
		b.img.Features.MetadataVersion = mv
	case r.Name == kafka.FeatureKRaftVersion:
		return nil // its level is told by control records
	case r.FeatureLevel == 0:
		b.img.Features.Levels.Delete(b.owner, r.Name)
	default:
		b.img.Features.Levels.Set(b.owner, r.Name, r.FeatureLevel)
	}
	b.changes.features.add(r.Name)
	return nil
}

func (b *Builder) replayConfig(r *metarec.ConfigRecord) {
	resource := ConfigResource{Type: ResourceType(r.ResourceType), Name: r.ResourceName}
	values, ok := b.img.Configs.byResource.Get(resource)
	if !ok {
		values = immut.New[string, string](cmp.Compare[string])
	}
	if r.Value != nil {
		values.Set(b.owner, r.Name, *r.Value)
	} else {
		values.Delete(b.owner, r.Name)
	}
	if values.Len() > 0 {
		b.img.Configs.byResource.Set(b.owner, resource, values)
	} else {
		b.img.Configs.byResource.Delete(b.owner, resource)
	}
	b.changes.configs.add(resource)
}

func (b *Builder) replayQuota(r *metarec.ClientQuotaRecord) {
	key := QuotaKeyOf(r.Entity)
	next := &Quota{Entity: sortedEntity(r.Entity), Values: immut.New[string, float64](cmp.Compare[string])}
	if old, ok := b.img.Quotas.Get(key); ok {
		next.Values = old.Values
	}
	if r.Remove {
		next.Values.Delete(b.owner, r.Key)
	} else {
		next.Values.Set(b.owner, r.Key, r.Value)
	}
	if next.Values.Len() > 0 {
		b.img.Quotas.Set(b.owner, key, next)
	} else {
		b.img.Quotas.Delete(b.owner, key)
	}
	b.changes.quotas.add(key)
}

// replayAccess replays what says who may do what.
func (b *Builder) replayAccess(m metarec.Message) error {
	switch r := m.(type) {
	case *metarec.AccessControlEntryRecord:
		b.img.ACLs.Set(b.owner, r.ID, r)
		b.changes.acls.add(r.ID)
	case *metarec.RemoveAccessControlEntryRecord:
		if !b.img.ACLs.Delete(b.owner, r.ID) {
			return fmt.Errorf("there is no ACL with id %s to remove", r.ID)
		}
		b.changes.acls.add(r.ID)
	case *metarec.UserScramCredentialRecord:
		key := SCRAMKey{r.Mechanism, r.Name}
		b.img.SCRAM.Set(b.owner, key, r)
		b.changes.scram.add(key)
	case *metarec.RemoveUserScramCredentialRecord:
		key := SCRAMKey{r.Mechanism, r.Name}
		b.img.SCRAM.Delete(b.owner, key)
		b.changes.scram.add(key)
	case *metarec.DelegationTokenRecord:
		b.img.Tokens.Set(b.owner, r.TokenID, r)
		b.changes.tokens.add(r.TokenID)
	case *metarec.RemoveDelegationTokenRecord:
		b.img.Tokens.Delete(b.owner, r.TokenID)
		b.changes.tokens.add(r.TokenID)
	default:
		return fmt.Errorf("a record %s cannot stand here", m.Type())
	}
	return nil
}

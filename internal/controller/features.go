package controller

import (
	"slices"
	"strconv"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kinds of a change (class FeatureUpdate.UpgradeType).
const (
	upgrade         int8 = 1
	safeDowngrade   int8 = 2
	unsafeDowngrade int8 = 3
)

// featureUpdate is one wanted level.
type featureUpdate struct {
	name  string
	level int16
	kind  int8
}

// UpdateFeatures serves UpdateFeatures v0-v2: all levels are set, or none.
//
//	v0 AllowDowngrade
//	v1 UpgradeType and ValidateOnly in its place (KIP-778)
//	v2 no results for single features (KIP-1022)
func (c *Controller) UpdateFeatures(ctx Context, req *kmsg.UpdateFeaturesRequest, done func(*kmsg.UpdateFeaturesResponse)) {
	answer := req.ResponseKind().(*kmsg.UpdateFeaturesResponse)
	c.submit(operation{
		name:     "update features",
		deadline: ctx.deadline(milliseconds(req.TimeoutMillis)),
		decide: func(a *active) (decision, *refusal) {
			records, refused := a.updateFeatures(featureUpdates(req))
			if refused != nil {
				return decision{}, refuse(refused.code, "The update failed for all features since the following feature had an error: %s", refused.message)
			}
			for _, u := range req.FeatureUpdates {
				r := kmsg.NewUpdateFeaturesResponseResult()
				r.Feature, r.ErrorMessage = u.Feature, kmsg.StringPtr(kafka.ErrNone.String()) // as Apache has it
				answer.Results = append(answer.Results, r)
			}
			d := decision{answer: func() { done(answer) }}
			if req.Version == 0 || !req.ValidateOnly {
				d.records = records
				d.applied = func(a *active, _ kafka.Offset) { c.registerSelf(a) }
			}
			return d, nil
		},
		refuse: func(r refusal) {
			answer.Results = nil
			answer.ErrorCode, answer.ErrorMessage = int16(r.code), r.text()
			done(answer)
		},
	})
}

func featureUpdates(req *kmsg.UpdateFeaturesRequest) []featureUpdate {
	var out []featureUpdate
	for _, u := range req.FeatureUpdates {
		kind := u.UpgradeType
		if req.Version == 0 {
			kind = upgrade
			if u.AllowDowngrade {
				kind = safeDowngrade
			}
		}
		out = append(out, featureUpdate{u.Feature, u.MaxVersionLevel, kind})
	}
	return out
}

// updateFeatures checks all changes, and returns their records.
func (a *active) updateFeatures(updates []featureUpdate) (records []metarec.Message, refused *refusal) {
	proposed := kafka.MetadataVersion(0)
	for _, u := range updates {
		if u.name == kafka.FeatureMetadataVersion {
			proposed = kafka.MetadataVersion(u.level)
		}
	}
	if proposed == 0 {
		proposed = a.version
	}
	for _, u := range updates {
		if refused := a.checkUpdate(u, proposed); refused != nil {
			return nil, refused
		}
		if u.name == kafka.FeatureKRaftVersion {
			continue // told by control records, and it is at this level
		}
		if u.name == kafka.FeatureELR && u.level > 0 {
			records = append(records, a.elrRecords()...)
		}
		r := metarec.NewFeatureLevelRecord()
		r.Name, r.FeatureLevel = u.name, u.level
		records = append(records, r)
	}
	return records, nil
}

// checkUpdate holds one change against what this controller and all nodes support,
// and against what it changes; proposed is the metadata.version there will be.
func (a *active) checkUpdate(u featureUpdate, proposed kafka.MetadataVersion) *refusal {
	no := func(format string, args ...any) *refusal {
		reason := refuse(kafka.ErrInvalidUpdateVersion, format, args...)
		return refuse(kafka.ErrInvalidUpdateVersion, "Invalid update version %d for feature %s. %s", u.level, u.name, reason.message)
	}
	current := a.finalizedLevel(u.name)
	switch {
	case u.kind < upgrade || u.kind > unsafeDowngrade:
		return no("The controller does not support the given upgrade type.")
	case u.level < 0:
		return no("A feature version cannot be less than 0.")
	}
	if reason := a.unsupported(u); reason != "" {
		return no("%s", reason)
	}
	switch {
	case u.level < current && u.kind == upgrade:
		return no("Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade.")
	case u.level > current && u.kind != upgrade:
		return no("Can't downgrade to a newer version.")
	case u.name == kafka.FeatureMetadataVersion:
		return a.checkMetadataVersion(u)
	case u.name == kafka.FeatureKRaftVersion && u.level < current:
		return no("Can't downgrade the version of this feature.")
	case u.name == kafka.FeatureKRaftVersion && u.level > current:
		return no("This release does not move voters from controller.quorum.voters into the log.")
	case u.name == kafka.FeatureKRaftVersion:
		return nil
	}
	features := kafka.Features()
	at := slices.IndexFunc(features, func(f kafka.Feature) bool { return f.Name == u.name })
	if at < 0 {
		return no("Feature %s not found.", u.name)
	}
	if need := features[at].Needs[u.level]; proposed < need {
		return no("%s could not be set to %d because it depends on %s level %d", u.name, u.level, kafka.FeatureMetadataVersion, need)
	}
	return nil
}

func (a *active) finalizedLevel(name string) int16 {
	switch name {
	case kafka.FeatureMetadataVersion:
		return int16(a.version)
	case kafka.FeatureKRaftVersion:
		return a.o.KRaftVersion()
	}
	return a.image.Features.Level(name)
}

// unsupported says who does not support the level, "" for nobody. A feature that a
// node does not name is one that it supports at level 0.
func (a *active) unsupported(u featureUpdate) string {
	if reason := levelReason(u, "Local controller", a.o.ID, a.o.Self.Features); reason != "" {
		return reason
	}
	for id, b := range a.image.Cluster.Brokers.All() {
		if reason := levelReason(u, "Broker", id, b.Features); reason != "" {
			return reason
		}
	}
	for id, r := range a.image.Cluster.Controllers.All() {
		if reason := levelReason(u, "Controller", id, r.Features); reason != "" {
			return reason
		}
	}
	return ""
}

func levelReason(u featureUpdate, who string, id kafka.BrokerID, features []metarec.SupportedFeature) string {
	low, high := int16(0), int16(0)
	for _, f := range features {
		if f.Name == u.name {
			low, high = f.MinSupportedVersion, f.MaxSupportedVersion
		}
	}
	node := who + " " + strconv.Itoa(int(id))
	switch {
	case u.level >= low && u.level <= high:
		return ""
	case high == 0:
		return node + " does not support this feature."
	}
	return node + " only supports versions " + strconv.Itoa(int(low)) + "-" + strconv.Itoa(int(high))
}

// checkMetadataVersion refuses to go below a level whose records may stand in the
// log already.
func (a *active) checkMetadataVersion(u featureUpdate) *refusal {
	to := kafka.MetadataVersion(u.level)
	if to >= a.version || !kafka.MetadataChanged(to, a.version) {
		return nil
	}
	reason := "Refusing to perform the requested downgrade because it might delete metadata information."
	if u.kind == unsafeDowngrade {
		reason = "Unsafe metadata downgrade is not supported in this version."
	}
	return refuse(kafka.ErrInvalidUpdateVersion, "Unsupported metadata.version downgrade from %d to %d. %s", a.version, to, reason)
}

// elrRecords make min.insync.replicas a value of the cluster, since with ELR it is
// one of no node: the default is set if it is not, and those of nodes go.
func (a *active) elrRecords() []metarec.Message {
	var out []metarec.Message
	put := func(node string, value *string) {
		r := metarec.NewConfigRecord()
		r.ResourceType, r.ResourceName, r.Name, r.Value = int8(image.BrokerResource), node, minInsyncReplicas, value
		out = append(out, r)
	}
	if _, ok := a.image.Configs.Of(image.ConfigResource{Type: image.BrokerResource}).Get(minInsyncReplicas); !ok {
		value := strconv.Itoa(a.staticMinISR())
		put("", &value)
	}
	for id := range a.image.Cluster.Brokers.All() {
		node := strconv.Itoa(int(id))
		if _, ok := a.image.Configs.Of(image.ConfigResource{Type: image.BrokerResource, Name: node}).Get(minInsyncReplicas); ok {
			put(node, nil)
		}
	}
	return out
}

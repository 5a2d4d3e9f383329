package wire

import (
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of ApiVersions that change what is said (KIP-511, KAFKA-17492,
// KIP-1242).
const (
	apiVersionsFlexible  = 3 // client software, features
	apiVersionsZeroLevel = 4 // supported features from level 0 on
	apiVersionsIdentity  = 5 // the client says whom it expects
)

// FeatureRange is a feature with the levels that this node supports.
type FeatureRange struct {
	Name     string
	Min, Max int16
}

// FeatureLevel is a feature with the level that the cluster has.
type FeatureLevel struct {
	Name  string
	Level int16
}

// VersionRange is a request with the versions that another node serves.
type VersionRange struct {
	Key      int16
	Min, Max int16
}

// ApiVersions is what an answer to the request ApiVersions is made of.
type ApiVersions struct {
	Served *Served
	Scope  Scope
	// Controller, if not nil, is what the active controller serves: requests that
	// need it are announced in the versions that both know.
	Controller []VersionRange

	ClusterID string
	NodeID    kafka.BrokerID

	Supported      []FeatureRange // in the order in which they are answered
	Finalized      []FeatureLevel // those at level 0 are left out
	FinalizedEpoch int64          // offset of the metadata image, -1 if there is none
}

// Answer answers a request that came with the given version in its header, which
// need not be one that is served.
func (a *ApiVersions) Answer(version int16, req *kmsg.ApiVersionsRequest) *kmsg.ApiVersionsResponse {
	resp := kmsg.NewPtrApiVersionsResponse()
	own := row(int16(kmsg.ApiVersions))
	if !own.Serves(version) {
		// The client can read version 0 and finds there which ones to use.
		resp.ErrorCode = int16(kafka.ErrUnsupportedVersion)
		resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{announce(own, own.AnnouncedMin, own.Max)}
		return resp
	}
	resp.SetVersion(version)
	if code := a.check(version, req); code != kafka.ErrNone {
		resp.ErrorCode = int16(code)
		return resp
	}
	for i := range a.Served.list {
		api := &a.Served.list[i]
		if lo, hi, ok := a.announced(api); ok {
			resp.ApiKeys = append(resp.ApiKeys, announce(api, lo, hi))
		}
	}
	if version >= apiVersionsFlexible {
		a.features(version, resp)
	}
	return resp
}

func announce(api *API, lo, hi int16) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = int16(api.Key), lo, hi
	return k
}

// check says what is wrong with the request.
func (a *ApiVersions) check(version int16, req *kmsg.ApiVersionsRequest) kafka.ErrorCode {
	if version >= apiVersionsFlexible && !(softwareName(req.ClientSoftwareName) && softwareName(req.ClientSoftwareVersion)) {
		return kafka.ErrInvalidRequest
	}
	if version < apiVersionsIdentity {
		return kafka.ErrNone
	}
	hasCluster, hasNode := req.ClusterID != nil, req.NodeID != int32(kafka.NoBroker)
	switch {
	case hasCluster != hasNode:
		return kafka.ErrInvalidRequest
	case hasCluster && a.Scope&Broker != 0 && (*req.ClusterID != a.ClusterID || req.NodeID != int32(a.NodeID)):
		return kafka.ErrRebootstrapRequired
	}
	return kafka.ErrNone
}

// softwareName says whether s is letters, digits, dots and hyphens, with a letter
// or digit at both ends.
func softwareName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		inner := i > 0 && i < len(s)-1 && (c == '.' || c == '-')
		if !alnum && !inner {
			return false
		}
	}
	return s != ""
}

// announced is the range of versions that a client is told, if any.
func (a *ApiVersions) announced(api *API) (lo, hi int16, ok bool) {
	if api.Scope&a.Scope == 0 {
		return 0, 0, false
	}
	lo, hi = api.AnnouncedMin, api.Max
	if !api.NeedsController || a.Scope&Broker == 0 || a.Controller == nil {
		return lo, hi, true
	}
	for _, c := range a.Controller {
		if c.Key == int16(api.Key) {
			lo, hi = max(lo, c.Min), min(hi, c.Max)
			return lo, hi, lo <= hi
		}
	}
	return 0, 0, false
}

func (a *ApiVersions) features(version int16, resp *kmsg.ApiVersionsResponse) {
	for _, f := range a.Supported {
		if f.Min == 0 && version < apiVersionsZeroLevel {
			continue // clients of that time reject a level 0 (KAFKA-17492)
		}
		s := kmsg.NewApiVersionsResponseSupportedFeature()
		s.Name, s.MinVersion, s.MaxVersion = f.Name, f.Min, f.Max
		resp.SupportedFeatures = append(resp.SupportedFeatures, s)
	}
	for _, f := range a.Finalized {
		if f.Level == 0 {
			continue
		}
		s := kmsg.NewApiVersionsResponseFinalizedFeature()
		s.Name, s.MinVersionLevel, s.MaxVersionLevel = f.Name, f.Level, f.Level
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, s)
	}
	resp.FinalizedFeaturesEpoch = a.FinalizedEpoch
}

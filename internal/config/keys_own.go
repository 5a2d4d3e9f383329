package config

// ownKeys are keys of Barnabas.
func ownKeys() []Key {
	return []Key{
		{"barnabas.admin.listener", String, defaultAdminListener, nil, Medium, ReadOnly, Honoured, public, nil},
	}
}

// defaultAdminListener is loopback: metrics, health and profiles are not for
// everyone.
const defaultAdminListener = "127.0.0.1:9095"

// pluginKeys are keys of Apache's configuration files that its plugins read, so
// that KafkaConfig does not declare them.
func pluginKeys() []Key {
	return []Key{
		{"super.users", String, null, nil, Medium, ReadOnly, refusedSecurity, public, nil},
		{"allow.everyone.if.no.acl.found", Boolean, "false", nil, Medium, ReadOnly, refusedSecurity, public, nil},
		{"metrics.jmx.include", String, null, nil, Low, ReadOnly, meaningless, public, nil},
		{"metrics.jmx.exclude", String, null, nil, Low, ReadOnly, meaningless, public, nil},
	}
}

// dynamicOnlyKeys can be set on a running broker only and are shown only then
// (class QuotaConfig).
func dynamicOnlyKeys() []Key {
	const unlimited = "9223372036854775807"
	return []Key{
		{"follower.replication.throttled.rate", Long, unlimited, atLeast(0), Medium, ClusterWide, needsQuotas, public, nil},
		{"leader.replication.throttled.rate", Long, unlimited, atLeast(0), Medium, ClusterWide, needsQuotas, public, nil},
		{"replica.alter.log.dirs.io.max.bytes.per.second", Long, unlimited, atLeast(0), Medium, ClusterWide, needsQuotas, public, nil},
	}
}

// clientMetricsKeys are the keys of a client-metrics resource (class
// ClientMetricsConfigs).
func clientMetricsKeys() []Key {
	return []Key{
		{"interval.ms", Int, "300000", nil, Medium, ClusterWide, Honoured, public, nil},
		{"match", List, "", nil, Medium, ClusterWide, Honoured, public, nil},
		{"metrics", List, "", nil, Medium, ClusterWide, Honoured, public, nil},
	}
}

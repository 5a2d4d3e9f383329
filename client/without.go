package client

import "math"

// Why a property that Kafka's clients know has no effect.
const (
	noMetrics   = "there are no metrics of a Java client"
	onlyBytes   = "records are bytes here"
	otherwise   = "this client goes about it in its own way"
	noSecurity  = "security.protocol is PLAINTEXT"
	noShareYet  = "share groups are not supported"
	noProviders = "there are no Java classes here"
)

// withoutEffect are the properties that are known, whose values are checked, and which
// mean nothing: those of security are read by nobody where nothing is secured, as in
// Kafka's clients.
var withoutEffect = map[string]translator{
	"metric.reporters":                                  {kinds: all, option: checked(anything), without: noMetrics},
	"metrics.num.samples":                               {kinds: all, option: checked(whole(1, math.MaxInt32)), without: noMetrics},
	"metrics.recording.level":                           {kinds: all, option: checked(word("INFO", "DEBUG", "TRACE")), without: noMetrics},
	"metrics.sample.window.ms":                          {kinds: all, option: checked(long(0)), without: noMetrics},
	"security.providers":                                {kinds: all, option: checked(anything), without: noProviders},
	"key.serializer":                                    {kinds: producer, option: checked(anything), without: onlyBytes},
	"value.serializer":                                  {kinds: producer, option: checked(anything), without: onlyBytes},
	"key.deserializer":                                  {kinds: consumer, option: checked(anything), without: onlyBytes},
	"value.deserializer":                                {kinds: consumer, option: checked(anything), without: onlyBytes},
	"share.acknowledgement.mode":                        {kinds: consumer, option: checked(word("implicit", "explicit")), without: noShareYet},
	"share.acquire.mode":                                {kinds: consumer, option: checked(word("batch_optimized", "record_limit")), without: noShareYet},
	"bootstrap.resolve.timeout.ms":                      {kinds: all, option: checked(long(0)), without: otherwise},
	"reconnect.backoff.ms":                              {kinds: all, option: checked(long(0)), without: otherwise},
	"reconnect.backoff.max.ms":                          {kinds: all, option: checked(long(0)), without: otherwise},
	"socket.connection.setup.timeout.max.ms":            {kinds: all, option: checked(long(math.MinInt64)), without: otherwise},
	"metadata.cluster.check.enable":                     {kinds: all, option: checked(boolean), without: otherwise},
	"metadata.recovery.strategy":                        {kinds: all, option: checked(word("rebootstrap", "none")), without: otherwise},
	"metadata.recovery.rebootstrap.trigger.ms":          {kinds: all, option: checked(long(0)), without: otherwise},
	"metadata.max.idle.ms":                              {kinds: producer, option: checked(long(5000)), without: otherwise},
	"partitioner.availability.timeout.ms":               {kinds: producer, option: checked(long(0)), without: otherwise},
	"buffer.memory.allocation.strategy":                 {kinds: producer, option: checked(word("full", "incremental")), without: otherwise},
	"internal.throw.on.fetch.stable.offset.unsupported": {kinds: consumer, option: checked(boolean), without: otherwise},

	"sasl.client.callback.handler.class":                  unsecured(anything),
	"sasl.jaas.config":                                    unsecured(anything),
	"sasl.kerberos.kinit.cmd":                             unsecured(anything),
	"sasl.kerberos.min.time.before.relogin":               unsecured(long(math.MinInt64)),
	"sasl.kerberos.service.name":                          unsecured(anything),
	"sasl.kerberos.ticket.renew.jitter":                   unsecured(decimal),
	"sasl.kerberos.ticket.renew.window.factor":            unsecured(decimal),
	"sasl.login.callback.handler.class":                   unsecured(anything),
	"sasl.login.class":                                    unsecured(anything),
	"sasl.login.connect.timeout.ms":                       unsecured(whole(math.MinInt32, math.MaxInt32)),
	"sasl.login.read.timeout.ms":                          unsecured(whole(math.MinInt32, math.MaxInt32)),
	"sasl.login.refresh.buffer.seconds":                   unsecured(whole(0, 3600)),
	"sasl.login.refresh.min.period.seconds":               unsecured(whole(0, 900)),
	"sasl.login.refresh.window.factor":                    unsecured(decimal),
	"sasl.login.refresh.window.jitter":                    unsecured(decimal),
	"sasl.login.retry.backoff.max.ms":                     unsecured(long(math.MinInt64)),
	"sasl.login.retry.backoff.ms":                         unsecured(long(math.MinInt64)),
	"sasl.mechanism":                                      unsecured(anything),
	"sasl.oauthbearer.allow.unverified.audience":          unsecured(boolean),
	"sasl.oauthbearer.allow.unverified.issuer":            unsecured(boolean),
	"sasl.oauthbearer.assertion.algorithm":                unsecured(word("ES256", "RS256")),
	"sasl.oauthbearer.assertion.claim.aud":                unsecured(anything),
	"sasl.oauthbearer.assertion.claim.exp.seconds":        unsecured(whole(0, 86400)),
	"sasl.oauthbearer.assertion.claim.iss":                unsecured(anything),
	"sasl.oauthbearer.assertion.claim.jti.include":        unsecured(boolean),
	"sasl.oauthbearer.assertion.claim.nbf.seconds":        unsecured(whole(0, 3600)),
	"sasl.oauthbearer.assertion.claim.sub":                unsecured(anything),
	"sasl.oauthbearer.assertion.file":                     unsecured(anything),
	"sasl.oauthbearer.assertion.private.key.file":         unsecured(anything),
	"sasl.oauthbearer.assertion.private.key.passphrase":   unsecured(anything),
	"sasl.oauthbearer.assertion.template.file":            unsecured(anything),
	"sasl.oauthbearer.client.credentials.client.id":       unsecured(anything),
	"sasl.oauthbearer.client.credentials.client.secret":   unsecured(anything),
	"sasl.oauthbearer.clock.skew.seconds":                 unsecured(whole(math.MinInt32, math.MaxInt32)),
	"sasl.oauthbearer.expected.audience":                  unsecured(anything),
	"sasl.oauthbearer.expected.issuer":                    unsecured(anything),
	"sasl.oauthbearer.header.urlencode":                   unsecured(boolean),
	"sasl.oauthbearer.jwks.endpoint.refresh.ms":           unsecured(long(math.MinInt64)),
	"sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": unsecured(long(math.MinInt64)),
	"sasl.oauthbearer.jwks.endpoint.retry.backoff.ms":     unsecured(long(math.MinInt64)),
	"sasl.oauthbearer.jwks.endpoint.url":                  unsecured(anything),
	"sasl.oauthbearer.jwt.retriever.class":                unsecured(anything),
	"sasl.oauthbearer.jwt.validator.class":                unsecured(anything),
	"sasl.oauthbearer.scope":                              unsecured(anything),
	"sasl.oauthbearer.scope.claim.name":                   unsecured(anything),
	"sasl.oauthbearer.sub.claim.name":                     unsecured(anything),
	"sasl.oauthbearer.token.endpoint.url":                 unsecured(anything),
	"ssl.cipher.suites":                                   unsecured(anything),
	"ssl.enabled.protocols":                               unsecured(anything),
	"ssl.endpoint.identification.algorithm":               unsecured(anything),
	"ssl.engine.factory.class":                            unsecured(anything),
	"ssl.key.password":                                    unsecured(anything),
	"ssl.keymanager.algorithm":                            unsecured(anything),
	"ssl.keystore.certificate.chain":                      unsecured(anything),
	"ssl.keystore.key":                                    unsecured(anything),
	"ssl.keystore.location":                               unsecured(anything),
	"ssl.keystore.password":                               unsecured(anything),
	"ssl.keystore.type":                                   unsecured(anything),
	"ssl.protocol":                                        unsecured(anything),
	"ssl.provider":                                        unsecured(anything),
	"ssl.secure.random.implementation":                    unsecured(anything),
	"ssl.trustmanager.algorithm":                          unsecured(anything),
	"ssl.truststore.certificates":                         unsecured(anything),
	"ssl.truststore.location":                             unsecured(anything),
	"ssl.truststore.password":                             unsecured(anything),
	"ssl.truststore.type":                                 unsecured(anything),
}

func unsecured[T any](parse func(string) (T, error)) translator {
	return translator{kinds: all, option: checked(parse), without: noSecurity}
}

module barnabas/test/oracle

go 1.26.0

require (
	barnabas/test/kit v0.0.0
	github.com/twmb/franz-go/pkg/kmsg v1.15.1
)

replace (
	barnabas => ../..
	barnabas/test/kit => ../kit
)

module barnabas/bench

go 1.26.0

require (
	barnabas/test/kit v0.0.0
	github.com/twmb/franz-go/pkg/kmsg v1.15.1
	golang.org/x/sys v0.50.0
)

replace barnabas/test/kit => ../test/kit

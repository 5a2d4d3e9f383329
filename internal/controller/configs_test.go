package controller

import (
	"fmt"
	"strings"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func alterOne(cl *cluster, changes ...ConfigChange) []ConfigAnswer {
	var out []ConfigAnswer
	cl.c.AlterConfigs(Context{}, changes, AlterConfigsOptions{}, func(a []ConfigAnswer) { out = a })
	return out
}

// TestValuesAndRequestsHaveALimit: a value also where it grows item by item.
func TestValuesAndRequestsHaveALimit(t *testing.T) {
	cl := newCluster(t)
	defer cl.c.Close()
	cl.lead()
	set := func(op kmsg.IncrementalAlterConfigOp, value string) kafka.ErrorCode {
		change := ConfigChange{Type: kmsg.ConfigResourceTypeBroker, Name: "1", Ops: []ConfigOp{{"metric.reporters", op, &value}}}
		return alterOne(cl, change)[0].Code
	}
	if code := set(opSet, strings.Repeat("x", maxConfigValue)); code != kafka.ErrNone {
		t.Errorf("the longest value: %s", code)
	}
	if code := set(opAppend, "y"); code != kafka.ErrInvalidConfig {
		t.Errorf("a longer one: %s", code)
	}
	var many []ConfigChange
	for i := range maxRecords + 1 {
		many = append(many, ConfigChange{Type: kmsg.ConfigResourceTypeGroupConfig, Name: fmt.Sprint(i)})
	}
	if answers := alterOne(cl, many...); answers[0].Code != kafka.ErrPolicyViolation || answers[maxRecords].Code != kafka.ErrPolicyViolation {
		t.Errorf("too many at once: %s", answers[0].Code)
	}
}

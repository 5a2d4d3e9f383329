package api

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/base/loglevel"
	"barnabas/internal/config"
	"barnabas/internal/controller"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// loggerEntries are the loggers of this node with their levels (KIP-412).
func (o *Options) loggerEntries(name string) ([]config.Entry, kafka.ErrorCode, string) {
	if name == "" {
		return nil, kafka.ErrInvalidRequest, "Broker id must not be empty"
	}
	switch id, err := strconv.ParseInt(name, 10, 32); {
	case err != nil:
		return nil, kafka.ErrInvalidRequest, fmt.Sprintf("Broker id must be an integer, but it is: %s", name)
	case kafka.BrokerID(id) != o.NodeID:
		return nil, kafka.ErrInvalidRequest, fmt.Sprintf("Unexpected broker id, expected %d but received %s", o.NodeID, name)
	}
	levels := o.Loggers.Levels()
	out := make([]config.Entry, 0, len(levels))
	for _, logger := range slices.Sorted(maps.Keys(levels)) {
		level := levels[logger]
		out = append(out, config.Entry{Name: logger, Value: &level, Source: config.SourceLogger})
	}
	return out, kafka.ErrNone, ""
}

// alterLoggers sets levels of this node's loggers, all of them or none.
func (o *Options) alterLoggers(change *controller.ConfigChange, validateOnly bool) *controller.ConfigAnswer {
	id, err := strconv.ParseInt(change.Name, 10, 32)
	if err != nil {
		return configRefusal(kafka.ErrInvalidRequest, "Node id must be an integer, but it is: %s", change.Name)
	}
	if kafka.BrokerID(id) != o.NodeID {
		return configRefusal(kafka.ErrInvalidRequest, "Unexpected node id. Expected %d, but received %s", o.NodeID, change.Name)
	}
	for _, op := range change.Ops {
		if refused := o.checkLogger(op); refused != nil {
			return refused
		}
	}
	if validateOnly {
		return &controller.ConfigAnswer{}
	}
	for _, op := range change.Ops {
		if op.Op == configOpDelete {
			o.Loggers.Reset(op.Name)
			continue
		}
		level, _ := loglevel.Parse(*op.Value)
		o.Loggers.Set(op.Name, level)
	}
	return &controller.ConfigAnswer{}
}

func (o *Options) checkLogger(op controller.ConfigOp) *controller.ConfigAnswer {
	switch op.Op {
	case configOpSet:
		switch {
		case op.Value == nil:
			return configRefusal(kafka.ErrInvalidRequest, "Null value not supported for : %s", op.Name)
		case !o.Loggers.Has(op.Name):
			return configRefusal(kafka.ErrInvalidConfig, "Logger %s does not exist!", op.Name)
		}
		if _, ok := loglevel.Parse(*op.Value); !ok {
			return configRefusal(kafka.ErrInvalidConfig, "Cannot set the log level of %s to %s as it is not a supported log level. Valid log levels are %s",
				op.Name, *op.Value, strings.Join(loglevel.Names(), ", "))
		}
		return nil
	case configOpDelete:
		switch {
		case op.Name == loglevel.Root:
			return configRefusal(kafka.ErrInvalidRequest, "Removing the log level of the root logger is not allowed")
		case !o.Loggers.Has(op.Name):
			return configRefusal(kafka.ErrInvalidConfig, "Logger %s does not exist!", op.Name)
		}
		return nil
	case kmsg.IncrementalAlterConfigOpAppend:
		return configRefusal(kafka.ErrInvalidRequest, "APPEND operation is not allowed for the BROKER_LOGGER resource")
	case kmsg.IncrementalAlterConfigOpSubtract:
		return configRefusal(kafka.ErrInvalidRequest, "SUBTRACT operation is not allowed for the BROKER_LOGGER resource")
	}
	return configRefusal(kafka.ErrInvalidRequest, "Unknown operation type %d is not allowed for the BROKER_LOGGER resource", op.Op)
}

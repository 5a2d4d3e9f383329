package controller

import (
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
)

// checkMinISRChange: with eligible leader replicas, min.insync.replicas of brokers
// is the same for all, and set.
func (a *active) checkMinISRChange(resource image.ConfigResource, existing, wanted map[string]string, named []string) *refusal {
	_, was := existing[minInsyncReplicas]
	_, is := wanted[minInsyncReplicas]
	touched := slices.Contains(named, minInsyncReplicas) || was && !is
	switch {
	case resource.Type != image.BrokerResource || !touched || !a.image.Features.ELREnabled():
		return nil
	case resource.Name != "":
		return refuse(kafka.ErrInvalidConfig, "Broker-level min.insync.replicas cannot be altered while ELR is enabled.")
	case !is:
		return refuse(kafka.ErrInvalidConfig, "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")
	}
	return nil
}

const cordonedLogDirs = "cordoned.log.dirs"

// checkCordonChange: which directories a broker has, only that broker knows, so
// that a controller lets go of some and takes no others (KIP-1066).
func (a *active) checkCordonChange(resource image.ConfigResource, existing, wanted map[string]string) *refusal {
	value, set := wanted[cordonedLogDirs]
	before := existing[cordonedLogDirs]
	if resource.Type != image.BrokerResource || !set || value == before {
		return nil
	}
	if a.version < kafka.MetadataVersionCordonedDirs {
		return refuse(kafka.ErrInvalidConfig, "%s needs metadata.version %v or higher, the cluster has %v.", cordonedLogDirs, kafka.MetadataVersionCordonedDirs, a.version)
	}
	was := strings.Split(before, ",")
	for _, dir := range strings.Split(value, ",") {
		if dir != "" && before != "*" && !slices.Contains(was, dir) {
			return refuse(kafka.ErrInvalidConfig, "When updating cordoned.log.dirs via controllers,  the new value must be a subset of the current configuration value.")
		}
	}
	return nil
}

// validateConfig checks a resource's name and all of its values (class
// ControllerConfigurationValidator). Those of brokers are checked by brokers.
func (a *active) validateConfig(resource image.ConfigResource, wanted, existing map[string]string) *refusal {
	switch resource.Type {
	case image.TopicResource:
		return a.validateTopicConfig(resource.Name, wanted, existing)
	case image.BrokerResource:
		return validateBrokerName(resource.Name)
	case image.ClientMetricsResource:
		if resource.Name == "" {
			return refuse(kafka.ErrInvalidRequest, "Subscription name can't be empty")
		}
		if code, err := config.ValidateClientMetrics(wanted); err != nil {
			return refuse(code, "%s", err)
		}
		return nil
	case image.GroupResource:
		if resource.Name == "" {
			return refuse(kafka.ErrInvalidRequest, "Default group resources are not allowed.")
		}
		c, _ := a.resolved()
		if err := c.ValidateGroup(wanted); err != nil {
			return refuse(kafka.ErrInvalidConfig, "%s", err)
		}
		return nil
	}
	return refuse(kafka.ErrInvalidRequest, "Unknown resource type %d", resource.Type)
}

func (a *active) validateTopicConfig(topic string, wanted, existing map[string]string) *refusal {
	if topic == "" {
		return refuse(kafka.ErrInvalidRequest, "Default topic resources are not allowed.")
	}
	if err := kafka.CheckTopicName(topic); err != nil {
		return refuse(kafka.ErrInvalidTopicException, "%s", err)
	}
	values := make(map[string]*string, len(wanted))
	for name, value := range wanted {
		values[name] = &value
	}
	c, _ := a.resolved()
	if err := c.ValidateTopic(values, existing); err != nil {
		return refuse(kafka.ErrInvalidConfig, "%s", err)
	}
	return nil
}

func validateBrokerName(name string) *refusal {
	if name == "" {
		return nil
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return refuse(kafka.ErrInvalidRequest, "Unable to parse broker name as a base 10 number.")
	case id < 0:
		return refuse(kafka.ErrInvalidRequest, "Invalid negative broker ID.")
	}
	return nil
}

// checkResourceExists refuses topics and nodes that are not there. Groups and
// client-metrics resources come into being by being configured.
func (a *active) checkResourceExists(resource image.ConfigResource) *refusal {
	switch {
	case resource.Type == image.TopicResource && a.image.Topics.ByName(resource.Name) == nil:
		return refuse(kafka.ErrUnknownTopicOrPartition, "The topic '%s' does not exist.", resource.Name)
	case resource.Type == image.BrokerResource && resource.Name != "":
		id, _ := strconv.Atoi(resource.Name) // it was read before
		if _, controller := a.image.Cluster.Controllers.Get(kafka.BrokerID(id)); !controller && a.image.Cluster.Broker(kafka.BrokerID(id)) == nil {
			return refuse(kafka.ErrBrokerIDNotRegistered, "No node with id %d found.", id)
		}
	}
	return nil
}

package security

import (
	"net/netip"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Client is whom an authorizer judges.
type Client struct {
	Principal string // "User:ANONYMOUS"
	Address   netip.Addr
}

// ClusterName is the name of the only resource of type cluster.
const ClusterName = "kafka-cluster"

// Authorizer decides. It is called on the request path, by many at once, and must
// not wait.
type Authorizer interface {
	// Allows says whether the client may do op with the resource.
	Allows(c Client, op kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool
}

// AllowAll is the authorizer of a node without authorizer.class.name.
type AllowAll struct{}

// Allows is always true.
func (AllowAll) Allows(Client, kmsg.ACLOperation, kmsg.ACLResourceType, string) bool { return true }

// DenyAll refuses everything. Tests use it to find requests that do not ask.
type DenyAll struct{}

// Allows is always false.
func (DenyAll) Allows(Client, kmsg.ACLOperation, kmsg.ACLResourceType, string) bool { return false }

// topicOperations and the like are what can be done with a resource
// (class AclEntry, supportedOperations).
var (
	topicOperations = []kmsg.ACLOperation{kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationCreate, kmsg.ACLOperationDelete,
		kmsg.ACLOperationAlter, kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs, kmsg.ACLOperationAlterConfigs}
	groupOperations = []kmsg.ACLOperation{kmsg.ACLOperationRead, kmsg.ACLOperationDelete, kmsg.ACLOperationDescribe,
		kmsg.ACLOperationDescribeConfigs, kmsg.ACLOperationAlterConfigs}
	clusterOperations = []kmsg.ACLOperation{kmsg.ACLOperationCreate, kmsg.ACLOperationAlter, kmsg.ACLOperationDescribe,
		kmsg.ACLOperationClusterAction, kmsg.ACLOperationDescribeConfigs, kmsg.ACLOperationAlterConfigs, kmsg.ACLOperationIdempotentWrite}
)

// AuthorizedOperations is the bit field of what the client may do with a topic, a
// group or the cluster: bit n stands for operation n (KIP-430).
func AuthorizedOperations(a Authorizer, c Client, resource kmsg.ACLResourceType, name string) int32 {
	operations := topicOperations
	switch resource {
	case kmsg.ACLResourceTypeCluster:
		operations = clusterOperations
	case kmsg.ACLResourceTypeGroup:
		operations = groupOperations
	}
	var bits int32
	for _, op := range operations {
		if a.Allows(c, op, resource, name) {
			bits |= 1 << op
		}
	}
	return bits
}

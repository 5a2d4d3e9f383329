package client

// GroupMetadata is a consumer's place in its group (ConsumerGroupMetadata).
type GroupMetadata struct {
	GroupID string
	// GenerationID is the generation of a classic group, the member's epoch in one of
	// group.protocol=consumer, and -1 for a consumer that is in no group.
	GenerationID int32
	MemberID     string
	InstanceID   string // group.instance.id
}

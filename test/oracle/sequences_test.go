package oracle

import "slices"

// sequences lists all of them, by subject.
func sequences() []sequence {
	return slices.Concat(
		apiVersionsSequences,
		metadataSequences,
		produceSequences,
		batchSequences,
		codecSequences,
		producerSequences,
		timeSequences,
		fetchSequences,
		sessionSequences,
		topicSequences,
		logSequences,
		groupSequences,
		offsetSequences,
		consumerGroupSequences,
		clusterSequences,
		protocolSequences,
		controllerSequences,
		featureSequences,
		configSequences,
		adminSequences,
		randomSequences(),
		// They make both create topics of their own.
		coordinatorSequences,
		transactionSequences,
	)
}

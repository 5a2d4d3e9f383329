package quorum

import "barnabas/internal/kafka"

type kafkaOffset = kafka.Offset

package why

import "barnabas/internal/kafka"

// Facts is what is to be known of a replica. Times are in milliseconds since 1970.
type Facts struct {
	State     string `json:"state"` // online, opening or offline
	Directory string `json:"directory,omitempty"`

	LogStart         kafka.Offset `json:"logStartOffset"`
	HighWatermark    kafka.Offset `json:"highWatermark"`
	LastStableOffset kafka.Offset `json:"lastStableOffset"`
	LogEnd           kafka.Offset `json:"logEndOffset"`
	Bytes            int64        `json:"bytes"`
	Segments         int          `json:"segments"`
	Oldest           Segment      `json:"oldestSegment"`
	Active           Segment      `json:"activeSegment"`
	// RollsAt is when the first append after it begins a new segment by
	// segment.ms; 0 if the active segment is empty.
	RollsAt kafka.TimestampMs `json:"rollsAt,omitempty"`

	Delete         bool  `json:"delete"`
	Compact        bool  `json:"compact"`
	RetentionMs    int64 `json:"retentionMs"`    // -1: no limit
	RetentionBytes int64 `json:"retentionBytes"` // -1: no limit
	SegmentBytes   int64 `json:"segmentBytes"`

	// NextCheck is when retention looks next, every CheckEveryMs.
	NextCheck    kafka.TimestampMs `json:"nextCheck"`
	CheckEveryMs int64             `json:"checkEveryMs"`
	// Failure is why retention could not look at the log; "": it could.
	Failure   string            `json:"failure,omitempty"`
	FailureAt kafka.TimestampMs `json:"failureAt,omitempty"`
	// WaitingFiles are files of segments that are out of the log and stay on disk
	// until WaitingUntil, by file.delete.delay.ms.
	WaitingFiles int               `json:"waitingFiles,omitempty"`
	WaitingUntil kafka.TimestampMs `json:"waitingUntil,omitempty"`

	Cleaning *Cleaning `json:"cleaning,omitempty"` // nil: it is not compacted
}

// Segment is one segment of a log.
type Segment struct {
	Base  kafka.Offset `json:"baseOffset"`
	End   kafka.Offset `json:"endOffset"` // the next segment's base, or the log's end
	Bytes int64        `json:"bytes"`
	// LargestTimestamp is that of its records, or of its file where they have none.
	LargestTimestamp kafka.TimestampMs `json:"largestTimestamp"`
}

// Cleaning is how far compaction has come with a log.
type Cleaning struct {
	FirstDirty       kafka.Offset      `json:"firstDirtyOffset"`
	FirstUncleanable kafka.Offset      `json:"firstUncleanableOffset"`
	DirtyRatio       float64           `json:"dirtyRatio"`
	MinRatio         float64           `json:"minCleanableDirtyRatio"`
	MinLagMs         int64             `json:"minCompactionLagMs"`
	Due              bool              `json:"due"`
	Busy             bool              `json:"busy"`
	Disabled         bool              `json:"disabled"`
	Aside            string            `json:"setAside,omitempty"`
	LastEnd          kafka.TimestampMs `json:"lastEnd,omitempty"`
}

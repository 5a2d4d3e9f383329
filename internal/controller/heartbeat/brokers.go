package heartbeat

import (
	"math"

	"barnabas/internal/kafka"
)

// State is what the controller has told a broker to be.
type State uint8

// The states. ShutdownNow is only ever a next state.
const (
	Fenced State = iota
	Unfenced
	ControlledShutdown
	ShutdownNow
)

// String is Apache's name (enum BrokerControlState).
func (s State) String() string {
	return [...]string{"FENCED", "UNFENCED", "CONTROLLED_SHUTDOWN", "SHUTDOWN_NOW"}[s]
}

// Fenced says whether a broker in this state is fenced.
func (s State) Fenced() bool { return s == Fenced || s == ShutdownNow }

// noOffset is below every offset: not in controlled shutdown, metadata unknown.
const noOffset kafka.Offset = -1

// Brokers is the heartbeat state of all registered brokers.
type Brokers struct {
	byID map[kafka.BrokerID]*broker
}

type broker struct {
	fenced         bool
	metadataOffset kafka.Offset // as the last heartbeat told
	// shutdownOffset is the offset that active brokers must reach before this
	// one may go; noOffset outside controlled shutdown.
	shutdownOffset kafka.Offset
}

// NewBrokers returns a state without brokers.
func NewBrokers() *Brokers { return &Brokers{byID: map[kafka.BrokerID]*broker{}} }

// Register takes note of a broker, or of a change of its fencing. A new
// incarnation is removed first.
func (b *Brokers) Register(id kafka.BrokerID, fenced bool) {
	s := b.byID[id]
	if s == nil {
		s = &broker{metadataOffset: noOffset, shutdownOffset: noOffset}
		b.byID[id] = s
	}
	b.Touch(id, fenced, s.metadataOffset)
}

// Remove forgets a broker.
func (b *Brokers) Remove(id kafka.BrokerID) { delete(b.byID, id) }

// Touch takes note of what a broker is and how far its metadata is. The broker
// is registered.
func (b *Brokers) Touch(id kafka.BrokerID, fenced bool, metadataOffset kafka.Offset) {
	s := b.byID[id]
	s.fenced, s.metadataOffset = fenced, metadataOffset
	if fenced {
		s.shutdownOffset = noOffset // invariant 1
	}
}

// BeginShutdown marks an unfenced broker as in controlled shutdown until the
// active brokers reach offset. A broker that is already in it keeps its offset.
func (b *Brokers) BeginShutdown(id kafka.BrokerID, offset kafka.Offset) {
	if s := b.byID[id]; s.shutdownOffset == noOffset {
		s.shutdownOffset = offset
	}
}

// ShuttingDown says whether the broker is in controlled shutdown.
func (b *Brokers) ShuttingDown(id kafka.BrokerID) bool {
	s := b.byID[id]
	return s != nil && s.shutdownOffset != noOffset
}

// Heartbeat is what a broker says of itself and wants.
type Heartbeat struct {
	WantFence      bool
	WantShutdown   bool
	MetadataOffset kafka.Offset
}

// Facts are what the owner knows of the broker when its heartbeat is judged.
type Facts struct {
	// Registered is the offset of the broker's registration record.
	Registered kafka.Offset
	// Departing says that the broker's registration has entered controlled
	// shutdown; only a new registration takes that back.
	Departing bool
	// Leads says whether the broker leads any partition; asked only if needed.
	Leads func() bool
}

// Next judges a heartbeat: what the broker is and what it is to be. It changes
// nothing. The broker is registered.
func (b *Brokers) Next(id kafka.BrokerID, h Heartbeat, f Facts) (current, next State) {
	s := b.byID[id]
	switch {
	case s.shutdownOffset != noOffset:
		if f.Leads() || s.shutdownOffset > b.lowestActiveOffset() {
			return ControlledShutdown, ControlledShutdown
		}
		return ControlledShutdown, ShutdownNow
	case s.fenced:
		return Fenced, nextOfFenced(h, f)
	default:
		return Unfenced, nextOfUnfenced(h, f)
	}
}

func nextOfFenced(h Heartbeat, f Facts) State {
	switch {
	case h.WantShutdown:
		return ShutdownNow
	case !h.WantFence && !f.Departing && h.MetadataOffset >= f.Registered:
		return Unfenced // invariant 2
	}
	return Fenced
}

func nextOfUnfenced(h Heartbeat, f Facts) State {
	switch {
	case h.WantFence && h.WantShutdown:
		return ShutdownNow
	case h.WantFence:
		return Fenced
	case h.WantShutdown && f.Leads():
		return ControlledShutdown
	case h.WantShutdown:
		return ShutdownNow
	}
	return Unfenced
}

// lowestActiveOffset is the metadata offset that every active broker has; all
// offsets when none is active.
func (b *Brokers) lowestActiveOffset() kafka.Offset {
	lowest := kafka.Offset(math.MaxInt64)
	for _, s := range b.byID {
		if !s.fenced && s.shutdownOffset == noOffset {
			lowest = min(lowest, s.metadataOffset)
		}
	}
	return lowest
}

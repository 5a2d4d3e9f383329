package telemetry

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// Bounds; see the package.
const (
	maxClients      = 16384
	maxClientSeries = 256
	maxSeries       = 20000
	unpackFactor    = 8
	maxUnpacked     = 16 << 20
	silentIntervals = 3
)

// Options are what a Manager needs.
type Options struct {
	// Resources are the client-metrics resources as they are now.
	Resources func() []Resource
	// MaxBytes is telemetry.max.bytes as it is now.
	MaxBytes func() int
	// NewID gives a client its id.
	NewID func() (kafka.UUID, error)
}

// Manager knows clients and what they have pushed. It is safe for use by many
// goroutines.
type Manager struct {
	options Options

	mu      sync.Mutex
	clients map[kafka.UUID]*list.Element // guarded by mu; of *client
	recent  *list.List                   // guarded by mu; who was heard of last stands first
	series  int                          // guarded by mu
	dropped int64                        // guarded by mu; numbers beyond a bound
	pushes  int64                        // guarded by mu
}

// client is what is known of one client.
type client struct {
	Client
	subscription Subscription
	asked        time.Time // of the last GetTelemetrySubscriptions that was answered
	pushed       time.Time // of the last push that was taken
	last         bool      // that push said that it is the last
	mayAskAgain  bool      // a push was refused so that the client has to ask
	values       map[seriesKey]float64
}

type seriesKey struct{ metric, attributes string }

// New returns a Manager that knows nobody.
func New(o Options) *Manager {
	return &Manager{options: o, clients: map[kafka.UUID]*list.Element{}, recent: list.New()}
}

// Subscribe says what the client is asked for (GetTelemetrySubscriptions). A client
// without an id, or with a reserved one, is given one.
func (m *Manager) Subscribe(now time.Time, c Client) (Subscription, kafka.ErrorCode) {
	if c.InstanceID.Reserved() {
		id, err := m.options.NewID()
		if err != nil {
			return Subscription{}, kafka.ErrUnknownServerError
		}
		c.InstanceID = id
	}
	resources := m.options.Resources()
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.knownLocked(c, resources)
	lastHeard := k.asked
	if k.pushed.After(lastHeard) {
		lastHeard = k.pushed
	}
	if now.Sub(lastHeard) < k.subscription.Interval && !k.mayAskAgain {
		return Subscription{}, kafka.ErrThrottlingQuotaExceeded
	}
	k.asked, k.mayAskAgain = now, false
	return k.subscription, kafka.ErrNone
}

// knownLocked is what is known of the client, with its subscription as it is now.
func (m *Manager) knownLocked(c Client, resources []Resource) *client {
	at, ok := m.clients[c.InstanceID]
	if !ok {
		if m.recent.Len() >= maxClients {
			m.forgetLocked(m.recent.Back())
		}
		at = m.recent.PushFront(&client{values: map[seriesKey]float64{}})
		m.clients[c.InstanceID] = at
	}
	m.recent.MoveToFront(at)
	k := at.Value.(*client)
	k.Client = c
	if s := subscribe(resources, &c); s.ID != k.subscription.ID {
		// Whoever is asked for something else may come at once.
		k.subscription, k.mayAskAgain = s, true
	}
	return k
}

func (m *Manager) forgetLocked(at *list.Element) {
	k := m.recent.Remove(at).(*client)
	delete(m.clients, k.InstanceID)
	m.series -= len(k.values)
}

// Push is what a client pushes.
type Push struct {
	SubscriptionID int32
	Terminating    bool
	Compression    int8
	Metrics        []byte // read only until Push returns
}

// Push takes a client's metrics (PushTelemetry).
func (m *Manager) Push(now time.Time, c Client, p Push) kafka.ErrorCode {
	if c.InstanceID.Reserved() {
		return kafka.ErrInvalidRequest
	}
	resources, limit := m.options.Resources(), m.options.MaxBytes()
	if code := m.accept(now, c, p, resources, limit); code != kafka.ErrNone {
		return code
	}
	points, err := unpackPoints(p, limit)
	if err != nil {
		return kafka.ErrInvalidRecord
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pushes++
	if at, ok := m.clients[c.InstanceID]; ok {
		m.makeRoomLocked(now, len(points))
		m.keepLocked(at.Value.(*client), points)
	}
	return kafka.ErrNone
}

// accept says whether the push may come, and notes that it came.
func (m *Manager) accept(now time.Time, c Client, p Push, resources []Resource, limit int) kafka.ErrorCode {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.knownLocked(c, resources)
	inTime := k.asked.After(k.pushed) || now.Sub(k.pushed) >= k.subscription.Interval
	if k.last {
		return kafka.ErrInvalidRequest
	}
	if inTime {
		k.pushed = now
	}
	switch {
	case !inTime && !p.Terminating:
		return kafka.ErrThrottlingQuotaExceeded
	case p.SubscriptionID != k.subscription.ID:
		k.mayAskAgain = true
		return kafka.ErrUnknownSubscriptionID
	case !slices.Contains(AcceptedCompression, p.Compression) && p.Compression != int8(record.None):
		k.mayAskAgain = true
		return kafka.ErrUnsupportedCompressionType
	case len(p.Metrics) > limit:
		return kafka.ErrTelemetryTooLarge
	}
	k.last = p.Terminating
	return kafka.ErrNone
}

// AcceptedCompression lists the codecs, the best first, as Apache Kafka does.
var AcceptedCompression = []int8{int8(record.Zstd), int8(record.LZ4), int8(record.Gzip), int8(record.Snappy)}

func unpackPoints(p Push, limit int) ([]point, error) {
	if len(p.Metrics) == 0 {
		return nil, nil
	}
	message := p.Metrics
	if codec := record.Codec(p.Compression); codec != record.None {
		var err error
		if message, err = record.Unpack(codec, message, min(unpackFactor*limit, maxUnpacked)); err != nil {
			return nil, err
		}
	}
	var points []point
	err := readMetrics(message, func(at point) {
		if len(points) <= maxClientSeries {
			points = append(points, at)
		}
	})
	return points, err
}

// silent says whether the client has not pushed for so long that it is not told of.
func (k *client) silent(now time.Time) bool {
	return now.Sub(k.pushed) > silentIntervals*k.subscription.Interval
}

// makeRoomLocked drops the series of silent clients where there may be no room for n
// more: each process that starts anew is a new client, and would be kept out by those
// that are gone.
func (m *Manager) makeRoomLocked(now time.Time, n int) {
	if m.series+n <= maxSeries {
		return
	}
	for _, at := range m.clients {
		if k := at.Value.(*client); k.silent(now) {
			m.series -= len(k.values)
			clear(k.values)
		}
	}
}

// keepLocked notes numbers; those beyond a bound are dropped.
func (m *Manager) keepLocked(k *client, points []point) {
	for _, p := range points {
		key := seriesKey{p.metric, p.attributes}
		old, known := k.values[key]
		if !known {
			if len(k.values) >= maxClientSeries || m.series >= maxSeries {
				m.dropped++
				continue
			}
			m.series++
		}
		if p.delta {
			p.value += old
		}
		k.values[key] = p.value
	}
}

// Series is a number that a client has pushed.
type Series struct {
	Client             Client
	Metric, Attributes string
	Value              float64
}

// Each tells the numbers of the clients that were heard of lately.
func (m *Manager) Each(now time.Time, tell func(Series)) {
	for _, s := range m.told(now) {
		tell(s)
	}
}

func (m *Manager) told(now time.Time) []Series {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Series
	for at := m.recent.Front(); at != nil; at = at.Next() {
		k := at.Value.(*client)
		if k.silent(now) {
			continue
		}
		told := k.Client
		told.ID = bounded(told.ID)
		for key, value := range k.values {
			out = append(out, Series{told, key.metric, key.attributes, value})
		}
	}
	return out
}

// Stats are counts since the start, and what is kept now.
type Stats struct {
	Clients, Series int
	Pushes, Dropped int64
}

// Stats are for those who watch.
func (m *Manager) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Stats{Clients: m.recent.Len(), Series: m.series, Pushes: m.pushes, Dropped: m.dropped}
}

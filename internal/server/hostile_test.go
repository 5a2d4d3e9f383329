package server

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"barnabas/internal/base/budget"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestFramesThatCloseTheConnection(t *testing.T) {
	s := start(t, echoAll, func(o *Options) { o.MaxFrame = 1 << 20 })
	unknown := frame(1, metadata())
	binary.BigEndian.PutUint16(unknown[4:], 400)
	version := frame(1, metadata())
	binary.BigEndian.PutUint16(version[6:], 77)
	short := frame(1, produce(100))
	binary.BigEndian.PutUint32(short, uint32(len(short)-10-4))
	tooMany := kmsg.NewPtrOffsetFetchRequest()
	tooMany.Version = 8
	tooMany.Groups = []kmsg.OffsetFetchRequestGroup{{Topics: []kmsg.OffsetFetchRequestGroupTopic{{Partitions: make([]int32, 1_000_001)}}}}
	for _, c := range []struct {
		what, line string
		bytes      []byte
	}{
		{"empty frame", "header of 0 bytes", []byte{0, 0, 0, 0}},
		{"negative length", "frame of -1 bytes", []byte{0xff, 0xff, 0xff, 0xff}},
		{"too large", "frame of 1048577 bytes, 1048576 are allowed", []byte{0, 0x10, 0, 1}},
		{"unknown key", "unknown or unserved request key: 400", unknown},
		{"unknown version", "Metadata 77, served are 0 to 13", version},
		{"body too short", "malformed", short},
	} {
		good := s.dial(t)
		good.send(append(frame(5, metadata()), c.bytes...))
		if id, _ := good.receive(); id != 5 {
			t.Errorf("%s: the request before it got answer %d", c.what, id)
		}
		good.closed()
		eventually(t, c.what+": a line", func() bool { return strings.Contains(s.log.String(), c.line) })
	}
	if n := s.Stats().Refused.Load(); n != 6 {
		t.Errorf("%d refusals are counted", n)
	}

	large := start(t, echoAll, nil)
	c := large.dial(t)
	go func() { _, _ = c.Write(frame(1, tooMany)) }()
	c.closed()
	eventually(t, "a line", func() bool { return strings.Contains(large.log.String(), "1000001 in partitionIndexes") })
}

// TestFrameThatCostsFarMoreThanItsSizeIsRefused: no array and no section of tags is
// too large, but decoding 12 MB would take 720.
func TestFrameThatCostsFarMoreThanItsSizeIsRefused(t *testing.T) {
	hostile := func(topics int) []byte {
		m := kmsg.NewPtrMetadataRequest()
		m.Version = 12
		for range topics {
			topic := kmsg.NewMetadataRequestTopic()
			for tag := range uint32(10_000) {
				topic.UnknownTags.Set(100+tag, nil)
			}
			m.Topics = append(m.Topics, topic)
		}
		return frame(1, m)
	}
	s := start(t, echoAll, nil)
	before := heapInUse()
	c, bytes := s.dial(t), hostile(400)
	go func() { _, _ = c.Write(bytes) }()
	c.closed()
	eventually(t, "a line", func() bool { return strings.Contains(s.log.String(), "bytes of memory") })
	if used := heapInUse() - before; used > 200<<20 {
		t.Errorf("it took %d MiB", used>>20)
	}
	c = s.dial(t)
	c.send(hostile(2))
	if id, _ := c.receive(); id != 1 {
		t.Errorf("a smaller one got answer %d", id)
	}
	for _, c := range []struct {
		charge int64
		size   int
		budget int64
		want   bool
	}{
		{90 << 20, 1 << 20, 256 << 20, false}, // fits the budget
		{90 << 20, 1 << 20, 16 << 20, false},  // served alone
		{600 << 20, 1 << 20, 256 << 20, true},
		{600 << 20, 1 << 20, 700 << 20, false},
		{600 << 20, 100 << 20, 16 << 20, false}, // large, but so is the frame
	} {
		if got := tooCostly(c.charge, c.size, c.budget); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestBadFrameInARunLetsTheOthersBeServed: a run ends before it.
func TestBadFrameInARunLetsTheOthersBeServed(t *testing.T) {
	s := start(t, echoAll, nil)
	bad := frame(3, produce(10))
	bad[len(bad)-20] ^= 0xff
	binary.BigEndian.PutUint16(bad[6:], 99)
	c := s.dial(t)
	c.send(append(append(frame(1, produce(10)), frame(2, produce(10))...), bad...))
	for want := int32(1); want <= 2; want++ {
		if id, _ := c.receive(); id != want {
			t.Errorf("answer to %d, want %d", id, want)
		}
	}
	c.closed()
}

// TestMutatedFramesHarmNobody sends requests with random damage, while a healthy
// client beside them must not notice.
func TestMutatedFramesHarmNobody(t *testing.T) {
	s := start(t, func(_ *Conn, run []*Request) {
		for _, r := range run {
			if len(r.Msg.AppendTo(nil)) > r.Size+100 { // touches all of it
				t.Errorf("%s grew", r.API.Name)
			}
			echo(r)
		}
	}, nil)
	stop := make(chan struct{})
	var healthy sync.WaitGroup
	healthy.Go(func() {
		c := s.dial(t)
		f := frame(1, produce(2000))
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := c.SetDeadline(time.Now().Add(patience30s)); err != nil {
				t.Error(err)
			}
			if _, err := c.Write(f); err != nil {
				t.Errorf("healthy client: %v", err)
				return
			}
			if _, _, err := c.tryReceive(); err != nil {
				t.Errorf("healthy client: %v", err)
				return
			}
		}
	})
	const frames = 10_000
	var attackers sync.WaitGroup
	var after atomicInt
	for seed := range uint64(4) {
		attackers.Go(func() { attack(t, s, rand.New(rand.NewPCG(seed, 9)), frames/4, &after) })
	}
	attackers.Wait()
	close(stop)
	healthy.Wait()
	if grown := heapInUse() - after.load(); grown > 64<<20 {
		t.Errorf("memory grew by %d MiB after the first tenth", grown>>20)
	}
}

// atomicInt keeps the first number that is stored.
type atomicInt struct {
	once sync.Once
	n    int64
}

func (a *atomicInt) first(n int64) { a.once.Do(func() { a.n = n }) }

func (a *atomicInt) load() int64 { return a.n }

func attack(t *testing.T, s *testServer, r *rand.Rand, n int, after *atomicInt) {
	seeds := seedFrames()
	var conn net.Conn
	for i := range n {
		if i == n/10 {
			after.first(heapInUse())
		}
		if conn == nil {
			c, err := net.Dial("tcp", s.Addr("TEST").String())
			if err != nil {
				t.Error(err)
				return
			}
			conn = c
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
		if _, err := conn.Write(mutate(r, seeds[r.IntN(len(seeds))])); err != nil || r.IntN(8) == 0 {
			_ = conn.Close()
			conn = nil
		}
	}
	if conn != nil {
		_ = conn.Close()
	}
}

func seedFrames() [][]byte {
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version = 5
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: "m", MemberAssignment: []byte{1, 2, 3}}}
	fetch := kmsg.NewPtrFetchRequest()
	fetch.Version = 12
	fetch.Topics = []kmsg.FetchRequestTopic{{Topic: "t", Partitions: make([]kmsg.FetchRequestTopicPartition, 3)}}
	fetch.UnknownTags.Set(9, []byte{1})
	versions := kmsg.NewPtrApiVersionsRequest()
	versions.Version = 3
	topics := kmsg.NewPtrMetadataRequest()
	topics.Version = 12
	topics.Topics = make([]kmsg.MetadataRequestTopic, 20)
	var list [][]byte
	for i, m := range []kmsg.Request{produce(300), fetch, metadata(), versions, topics, sync} {
		list = append(list, frame(int32(i), m))
	}
	return list
}

// mutate damages a frame; most of the time its length stays right, so that the
// damage is met by the decoder.
func mutate(r *rand.Rand, seed []byte) []byte {
	f := append([]byte(nil), seed...)
	for range 1 + r.IntN(4) {
		at := 4 + r.IntN(len(f)-4)
		switch r.IntN(5) {
		case 0:
			f[at] ^= 1 << r.IntN(8)
		case 1:
			f[at] = byte(r.Uint32())
		case 2:
			f[at] = [...]byte{0, 0xff, 0x7f, 0x80}[r.IntN(4)]
		case 3: // cut
			if len(f) > 20 {
				f = f[:len(f)-r.IntN(len(f)-15)]
			}
		case 4: // repeat a part
			f = append(f, f[at:]...)
		}
	}
	binary.BigEndian.PutUint32(f, uint32(len(f)-4))
	if r.IntN(20) == 0 {
		binary.BigEndian.PutUint32(f, r.Uint32())
	}
	return f
}

// TestSlowReaderStopsBeingRead: a client that does not read its answers is not
// read from any more, is not held in memory beyond the limits, and gets all of
// them when it reads again.
func TestSlowReaderStopsBeingRead(t *testing.T) {
	answer := make([]byte, 64<<10)
	s := start(t, func(_ *Conn, run []*Request) {
		for _, r := range run {
			r.Reply(Piece{Bytes: answer})
		}
	}, nil)
	c := s.dial(t)
	const requests = 2000 // 128 MB of answers
	go func() {
		f := frame(1, metadata())
		for range requests {
			if _, err := c.Write(f); err != nil {
				return
			}
		}
	}()
	st := &s.Stats().Requests[3].Count
	last := int64(-1)
	eventually(t, "the server stops reading", func() bool {
		n := st.Load()
		time.Sleep(20 * time.Millisecond)
		stands := n == last && n > 0
		last = n
		return stands
	})
	if last > 1000 {
		t.Errorf("%d requests were served for a client that does not read", last)
	}
	for range requests {
		if _, body := c.receive(); len(body) != len(answer)+1 {
			t.Fatalf("answer of %d bytes", len(body))
		}
	}
}

// TestAsyncAnswersToASlowReader: they are completed while the connection's
// goroutine sits in a read, so another one has to wait for the socket.
func TestAsyncAnswersToASlowReader(t *testing.T) {
	parked := make(chan *Request, 300)
	s := start(t, func(_ *Conn, run []*Request) {
		for _, r := range run {
			r.Ordered()
			parked <- r
		}
	}, nil)
	c := s.dial(t)
	const requests = 100
	for i := range int32(requests) {
		c.send(frame(i, produce(1)))
	}
	var list []*Request
	for range requests {
		list = append(list, <-parked)
	}
	eventually(t, "the goroutine to read", func() bool {
		conn := list[0].Conn()
		conn.mu.Lock()
		defer conn.mu.Unlock()
		return conn.parked
	})
	for _, r := range list {
		r.Reply(Piece{Bytes: make([]byte, 256<<10)})
	}
	c.send(frame(requests, produce(1))) // is served once there is room
	for i := range int32(requests) {
		if id, body := c.receive(); id != i || len(body) != 256<<10+1 {
			t.Fatalf("answer to %d of %d bytes, want %d", id, len(body), i)
		}
	}
	echo(<-parked)
	if id, _ := c.receive(); id != requests {
		t.Errorf("answer to %d", id)
	}
}

func TestWriteWithoutProgressEndsTheConnection(t *testing.T) {
	s := start(t, func(_ *Conn, run []*Request) { run[0].Reply(Piece{Bytes: make([]byte, 32<<20)}) }, func(o *Options) {
		o.IdleTimeout = 100 * time.Millisecond
	})
	c := s.dial(t)
	c.send(frame(1, metadata()))
	eventually(t, "the connection ends", func() bool {
		l := s.Stats().Listeners[0]
		return l.Accepted.Load() == 1 && l.Open.Load() == 0
	})
}

func TestIdleConnectionEndsAndABusyOneDoesNot(t *testing.T) {
	parked := make(chan *Request, 1)
	s := start(t, func(_ *Conn, run []*Request) { parked <- run[0] }, func(o *Options) { o.IdleTimeout = 500 * time.Millisecond })
	busy := s.dial(t)
	busy.send(frame(1, metadata()))
	r := <-parked
	idle, partial := s.dial(t), s.dial(t)
	partial.send(frame(1, metadata())[:9])
	idle.closed()
	partial.closed()
	// One that came after the busy one's last byte has idled all its time, and more
	// than once: the janitor has seen the busy one beyond the limit.
	late := s.dial(t)
	late.closed()
	echo(r)
	busy.receive()
}

// TestMemoryFollowsTheBytesThatArrived: connections that name large frames and
// send little of them hold little.
func TestMemoryFollowsTheBytesThatArrived(t *testing.T) {
	limit := budget.New(8 << 20)
	s := start(t, echoAll, func(o *Options) { o.Budget = limit })
	const slow = 500
	for i := range slow {
		c := s.dial(t)
		c.send(append([]byte{0x06, 0, 0, 0}, make([]byte, i)...)) // 100 MB are named
	}
	eventually(t, "all are read", func() bool { return s.Stats().Listeners[0].BytesIn.Load() == slow*4+slow*(slow-1)/2 })
	eventually(t, "they hold what they sent", func() bool { return limit.Used() <= slow*(4+slow) })
	c := s.dial(t)
	c.send(frame(1, produce(1<<20)))
	c.receive()
}

func TestRequestLargerThanTheBudgetIsServed(t *testing.T) {
	limit := budget.New(1 << 20)
	s := start(t, echoAll, func(o *Options) { o.Budget = limit })
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c := s.dial(t)
			for range 3 {
				c.send(frame(1, produce(1<<20*(i+1))))
				c.receive()
			}
		})
	}
	all.Wait()
	if s.Stats().MemoryWaits.Load() == 0 {
		t.Error("nobody waited")
	}
}

// TestStalledFrameThatHoldsUpOthersEnds: a connection that was let over the limit
// and sends nothing more is closed.
func TestStalledFrameThatHoldsUpOthersEnds(t *testing.T) {
	limit := budget.New(200 << 10)
	s := start(t, echoAll, func(o *Options) {
		o.Budget = limit
		o.StallTimeout = 200 * time.Millisecond
	})
	whole := frame(1, produce(1<<20))
	stalled := s.dial(t)
	stalled.send(whole[:600<<10])
	other := s.dial(t)
	eventually(t, "the frame takes what there is", func() bool { return limit.Used() > limit.Limit() })
	other.send(whole)
	other.receive()
	stalled.closed()
}

// TestLongPollHoldsNoBuffer: while a request waits for its answer, the connection
// needs no more than the request.
func TestLongPollHoldsNoBuffer(t *testing.T) {
	limit := budget.New(64 << 20)
	parked := make(chan *Request, 50)
	s := start(t, func(_ *Conn, run []*Request) { parked <- run[0] }, func(o *Options) { o.Budget = limit })
	var list []*Request
	for range 50 {
		s.dial(t).send(frame(1, metadata()))
		list = append(list, <-parked)
	}
	eventually(t, "buffers are given back", func() bool { return limit.Used() < 50*4096 })
	for _, r := range list {
		echo(r)
	}
}

// tokenAuthenticator takes SaslAuthenticate with the right token.
type tokenAuthenticator struct{}

func (tokenAuthenticator) Authenticate(c *Conn, r *Request) {
	if m, ok := r.Msg.(*kmsg.SASLAuthenticateRequest); ok {
		if string(m.SASLAuthBytes) != "token" {
			r.Abort(errors.New("bad token"))
			return
		}
		c.Authenticated("User:alice")
	}
	r.ReplyMessage(r.Msg.ResponseKind())
}

func TestBeforeAuthenticationLittleIsAllowed(t *testing.T) {
	s := start(t, func(c *Conn, run []*Request) {
		if run[0].Header.Key == 3 && c.Principal() != "User:alice" {
			t.Errorf("principal %q", c.Principal())
		}
		echoAll(c, run)
	}, func(o *Options) { o.Listeners[0].Authenticator = tokenAuthenticator{} })
	auth := func(token string) kmsg.Request {
		m := kmsg.NewPtrSASLAuthenticateRequest()
		m.Version, m.SASLAuthBytes = 2, []byte(token)
		return m
	}
	versions := kmsg.NewPtrApiVersionsRequest()
	versions.Version = 3
	handshake := kmsg.NewPtrSASLHandshakeRequest()

	c := s.dial(t)
	for i, m := range []kmsg.Request{versions, handshake, auth("token"), metadata()} {
		c.send(frame(int32(i), m))
		c.receive()
	}
	c = s.dial(t)
	c.send(frame(1, metadata()))
	c.closed()
	c = s.dial(t)
	c.send(frame(1, auth("wrong")))
	c.closed()
	versions.ClientSoftwareName = strings.Repeat("x", 8<<10)
	c = s.dial(t)
	c.send(frame(1, versions)) // more than 8 KiB
	c.closed()
	c = s.dial(t)
	go func() { _, _ = c.Write(frame(1, auth(strings.Repeat("x", 600<<10)))) }()
	c.closed()
}

// FuzzStream sends arbitrary bytes to a server with a short budget.
func FuzzStream(f *testing.F) {
	for _, s := range seedFrames() {
		f.Add(s)
		f.Add(append(append([]byte(nil), s...), s...))
	}
	s := start(f, echoAll, func(o *Options) {
		o.MaxFrame = 1 << 20
		o.Budget = budget.New(1 << 20)
	})
	f.Fuzz(func(t *testing.T, stream []byte) {
		c := s.dial(t)
		c.send(stream)
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			return // closed by the server already
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				t.Error("the connection hangs")
			}
		}
		_ = c.Close()
	})
}

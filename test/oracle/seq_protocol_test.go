package oracle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// protocolSequences are frames, headers and bodies that are not as they should be,
// and every request in every version with nothing in it.
var protocolSequences = []sequence{
	{"protocol/unknown-keys", func(s *Session) {
		for _, key := range []int16{-1, -32768, 4, 5, 6, 7, 95, 96, 1000, 32767} {
			for _, version := range []int16{0, 1} {
				s.Conn("a").Raw(fmt.Sprintf("key %d version %d", key, version), append(requestHeader(key, version, 1, "x"), make([]byte, 20)...))
			}
		}
	}},
	{"protocol/keys-of-the-other-listener", func(s *Session) {
		for _, k := range []kmsg.Key{kmsg.Vote, kmsg.BeginQuorumEpoch, kmsg.EndQuorumEpoch, kmsg.AlterPartition, kmsg.Envelope, kmsg.FetchSnapshot,
			kmsg.BrokerRegistration, kmsg.BrokerHeartbeat, kmsg.AllocateProducerIDs, kmsg.ControllerRegistration, kmsg.AssignReplicasToDirs, kmsg.UpdateRaftVoter} {
			s.Conn("a").Send(At(served(k).max, kmsg.RequestForKey(int16(k))))
		}
		for _, k := range []kmsg.Key{kmsg.Produce, kmsg.ListOffsets, kmsg.Metadata, kmsg.InitProducerID, kmsg.OffsetForLeaderEpoch,
			kmsg.DescribeProducers, kmsg.DescribeTopicPartitions} {
			s.Controller("controller").Send(At(served(k).max, kmsg.RequestForKey(int16(k))))
		}
	}},
	{"protocol/versions-out-of-range", func(s *Session) {
		for _, k := range brokerKeys {
			for _, version := range []int16{k.min - 1, k.max + 1, 32767, -32768} {
				if k.Key == kmsg.ApiVersions {
					continue
				}
				s.Conn("a").Raw(fmt.Sprintf("%s version %d", k.Name(), version), append(requestHeader(int16(k.Key), version, 1, "x"), make([]byte, 30)...))
			}
		}
		for _, k := range controllerKeys {
			if k.Key != kmsg.ApiVersions {
				s.Controller("controller").Raw(fmt.Sprintf("%s version %d", k.Name(), k.max+1),
					append(requestHeader(int16(k.Key), k.max+1, 1, "x"), make([]byte, 30)...))
			}
		}
	}},
	{"protocol/every-request-empty", func(s *Session) {
		c := s.Conn("a")
		c.producerID() // the broker has ids
		for _, k := range brokerKeys {
			for version := k.min; version <= k.max && k.Key != kmsg.ApiVersions; version++ {
				c.Send(emptyRequest(k, version))
			}
		}
	}},
	{"protocol/every-request-empty-to-the-controller", func(s *Session) {
		c := s.Controller("controller")
		for _, k := range controllerKeys {
			for version := k.min; version <= k.max && k.Key != kmsg.ApiVersions; version++ {
				c.Send(emptyRequest(k, version))
			}
		}
	}},
	{"protocol/every-request-short", func(s *Session) {
		for _, k := range brokerKeys {
			if k.Key == kmsg.ApiVersions || k.Key == kmsg.Metadata {
				continue // Metadata's last field may be missing in version 0, see below
			}
			for _, version := range []int16{k.min, k.max} {
				body := emptyRequest(k, version).AppendTo(nil)
				s.Conn("a").Body("a byte less", emptyRequest(k, version), body[:len(body)-1])
				s.Conn("a").Body("nothing", emptyRequest(k, version), nil)
			}
		}
		for version := int16(0); version <= 13; version++ {
			body := metadata(version).AppendTo(nil)
			s.Conn("a").Body("a byte less", metadata(version), body[:len(body)-1])
		}
	}},
	{"protocol/every-request-long", func(s *Session) {
		c := s.Conn("a")
		for _, k := range brokerKeys {
			for _, version := range []int16{k.min, k.max} {
				if k.Key == kmsg.ApiVersions {
					continue
				}
				c.Body("bytes behind it", emptyRequest(k, version), append(emptyRequest(k, version).AppendTo(nil), 1, 2, 3))
			}
		}
	}},
	{"protocol/frames", func(s *Session) {
		for size := range 12 {
			s.Conn("a").Raw(fmt.Sprintf("%d bytes of zeros", size), make([]byte, size))
		}
		good := append(requestHeader(int16(kmsg.Metadata), 1, 7, "x"), 0, 0, 0, 0)
		for _, length := range []int32{-1, math.MinInt32, 104857601, math.MaxInt32} {
			s.Conn("a").Bytes(fmt.Sprintf("a frame of length %d", length), append(binary.BigEndian.AppendUint32(nil, uint32(length)), good...))
		}
	}},
	{"protocol/frames-to-the-controller", func(s *Session) {
		for size := range 12 {
			s.Controller("c").Raw(fmt.Sprintf("%d bytes of zeros", size), make([]byte, size))
		}
		for _, length := range []int32{-1, math.MinInt32, 104857601, math.MaxInt32} {
			s.Controller("c").Bytes(fmt.Sprintf("a frame of length %d", length), append(binary.BigEndian.AppendUint32(nil, uint32(length)), make([]byte, 20)...))
		}
		for _, key := range []int16{-1, 4, 5, 6, 7, 95, 1000} {
			s.Controller("c").Raw(fmt.Sprintf("key %d", key), append(requestHeader(key, 0, 1, "x"), make([]byte, 20)...))
		}
		for _, n := range []int{1_000_000, 1_000_001} {
			names := append(binary.AppendUvarint(nil, uint64(n)+1), bytes.Repeat([]byte{1}, n)...)
			s.Controller("c").Body(fmt.Sprintf("%d empty names", n), deleteTopics(5), append(names, 0, 0, 0x75, 0x30, 0))
		}
		for _, n := range []int{10_000, 10_001} {
			s.Controller("c").Body(fmt.Sprintf("%d tags", n), describeCluster(2, 2, false, false), append([]byte{0, 2, 0}, manyTags(n)...))
			s.Controller("c").frameWith(fmt.Sprintf("%d tags in the header", n), describeCluster(2, 2, false, false),
				append(requestHeader(int16(kmsg.DescribeCluster), 2, 1, "x"), manyTags(n)...))
		}
		for _, k := range controllerKeys {
			if k.Key == kmsg.ApiVersions {
				continue
			}
			body := emptyRequest(k, k.max).AppendTo(nil)
			s.Controller("c").Body("a byte less", emptyRequest(k, k.max), body[:len(body)-1])
			s.Controller("c").Body("bytes behind it", emptyRequest(k, k.max), append(body[:len(body):len(body)], 1, 2, 3))
		}
	}},
	{"protocol/frames-in-pieces", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		frame := c.frame(metadata(9, t.name))
		for _, b := range frame[:len(frame)-1] {
			if !c.write([]byte{b}) {
				c.ended()
			}
			time.Sleep(time.Millisecond)
		}
		c.step("a request byte by byte")
		c.write(frame[len(frame)-1:])
		body, ok := c.read()
		if ok {
			c.s.out.printf("answered with %d bytes", len(body))
		}
	}},
	{"protocol/correlation-ids", func(s *Session) {
		c := s.Conn("a")
		for _, id := range []int32{0, -1, math.MaxInt32, math.MinInt32} {
			for _, version := range []int16{1, 9} {
				h := requestHeader(int16(kmsg.DescribeProducers), 0, id, "x")
				c.Raw(fmt.Sprintf("correlation id %d, %d", id, version), append(h, 0, 1, 0))
			}
		}
	}},
	{"protocol/client-ids", func(s *Session) {
		t := s.Conn("a").topic("t", 1)
		for what, id := range ordered[[]byte](
			"none", []byte{0xff, 0xff},
			"length -2", []byte{0xff, 0xfe},
			"empty", []byte{0, 0},
			"not UTF-8", []byte{0, 2, 0xff, 0xfe},
			"with a zero", []byte{0, 3, 'a', 0, 'b'},
			"long", append([]byte{0x7f, 0xff}, bytes.Repeat([]byte("x"), 32767)...),
			"beyond the frame", []byte{0, 200, 'a'},
		) {
			for _, version := range []int16{7, 9} {
				h := binary.BigEndian.AppendUint16(nil, uint16(kmsg.Metadata))
				h = binary.BigEndian.AppendUint16(h, uint16(version))
				h = append(binary.BigEndian.AppendUint32(h, 1), id...)
				if version >= 9 {
					h = append(h, 0)
				}
				s.Conn("b").frameWith(what, metadata(version, t.name), h)
			}
		}
	}},
	{"protocol/header-tags", func(s *Session) {
		t := s.Conn("a").topic("t", 1)
		for what, tags := range ordered[[]byte](
			"none", []byte{0},
			"one", []byte{1, 5, 3, 1, 2, 3},
			"empty", []byte{1, 5, 0},
			"two in wrong order", []byte{2, 9, 0, 5, 0},
			"twice the same", []byte{2, 5, 0, 5, 0},
			"beyond the frame", []byte{1, 5, 0xff, 0xff, 0x7f},
			"10,000", manyTags(10_000),
			"10,001", manyTags(10_001),
			"a count of 5 bytes", []byte{0x80, 0x80, 0x80, 0x80, 0},
			"a count of 6 bytes", []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0},
			"a negative count", []byte{0xff, 0xff, 0xff, 0xff, 0x0f},
		) {
			s.Conn("b").frameWith(what, metadata(9, t.name), append(requestHeader(int16(kmsg.Metadata), 9, 1, "x"), tags...))
		}
	}},
	{"protocol/body-tags", func(s *Session) {
		t := timesTopic(s.Conn("a"), "t")
		r := fetch(17, at(t, 0, 0))
		body := r.AppendTo(nil)
		body = body[:len(body)-1] // its own tags
		for what, tags := range ordered[[]byte](
			"none", []byte{0},
			"unknown", []byte{1, 60, 2, 7, 7},
			"unknown, in wrong order", []byte{2, 70, 0, 60, 0},
			"unknown, twice", []byte{2, 60, 0, 60, 0},
			"known", []byte{1, 0, 2, 2, 'x'},
			"known, with a byte more", []byte{1, 0, 3, 2, 'x', 9},
			"known, with a byte less", []byte{1, 0, 1, 2, 'x'},
			"known, twice", []byte{2, 0, 2, 2, 'x', 0, 2, 2, 'y'},
			"beyond the body", []byte{1, 60, 100, 1},
			"10,000", manyTags(10_000),
			"10,001", manyTags(10_001),
		) {
			s.Conn("b").Body(what, r, append(bytes.Clone(body), tags...))
		}
		old := fetch(14, at(t, 0, 0))
		body = old.AppendTo(nil)
		replicaState := append([]byte{1, 1, 13}, make([]byte, 13)...)
		s.Conn("b").Body("a tag of a later version", old, append(body[:len(body)-1], replicaState...))
	}},
	{"protocol/counts", func(s *Session) {
		for _, n := range []int{1_000_000, 1_000_001} {
			old := binary.BigEndian.AppendUint32(nil, uint32(n))
			s.Conn("a").Body(fmt.Sprintf("%d names", n), metadata(1), append(old, make([]byte, 2*n)...))
			flexible := binary.AppendUvarint(nil, uint64(n)+1)
			flexible = append(flexible, bytes.Repeat([]byte{1, 0}, n)...)
			s.Conn("a").Body(fmt.Sprintf("%d names", n), metadata(9), append(flexible, 0, 0, 0, 0))
		}
		for _, n := range []uint32{1_000_000, 1_000_001, math.MaxInt32, 0xfffffffe, 0x80000000} {
			s.Conn("a").Body(fmt.Sprintf("count %d without names", int32(n)), metadata(1), binary.BigEndian.AppendUint32(nil, n))
			s.Conn("a").Body(fmt.Sprintf("count %d without names", int32(n)), metadata(9), append(binary.AppendUvarint(nil, uint64(n)+1), 0, 0, 0, 0))
		}
	}},
	{"protocol/null", func(s *Session) {
		null, none := []byte{0xff, 0xff, 0xff, 0xff}, []byte{0}
		s.Conn("a").Body("null topics", metadata(0), null)
		s.Conn("a").Body("null topics", metadata(1), null)
		s.Conn("a").Body("null topics", createTopics(2), append(bytes.Clone(null), 0, 0, 0, 1, 0))
		s.Conn("a").Body("null topics", createTopics(7), append(bytes.Clone(none), 0, 0, 0, 1, 0, 0))
		s.Conn("a").Body("null names", deleteTopics(1), append(bytes.Clone(null), 0, 0, 0, 1))
		s.Conn("a").Body("null topics", listOffsetsRequest(1, ""), append(bytes.Clone(null), null...))
		s.Conn("a").Body("a null name", metadata(1), []byte{0, 0, 0, 1, 0xff, 0xff})
		s.Conn("a").Body("a null name", metadata(9), []byte{2, 0, 0, 0, 0, 0, 0})
		s.Conn("a").Body("a name of length -2", metadata(1), []byte{0, 0, 0, 1, 0xff, 0xfe})
		s.Conn("a").Body("a null topic", describeTopicPartitions(1), []byte{0, 0, 0, 0, 1, 0xff, 0})
	}},
	{"protocol/lengths", func(s *Session) {
		name := func(length ...byte) []byte {
			return append(append([]byte{2}, length...), 'x', 0, 0, 0, 0, 0)
		}
		for what, body := range ordered[[]byte](
			"1 byte", name(2),
			"2 bytes", name(0x82, 0),
			"5 bytes", name(0x82, 0x80, 0x80, 0x80, 0),
			"6 bytes", name(0x82, 0x80, 0x80, 0x80, 0x80, 0),
			"2^31", name(0x80, 0x80, 0x80, 0x80, 0x08),
			"2^32-1", name(0xff, 0xff, 0xff, 0xff, 0x0f),
			"too long", name(100),
		) {
			s.Conn("a").Body("length of a name: "+what, metadata(9), body)
		}
	}},
	{"protocol/booleans", func(s *Session) {
		c := s.Conn("a")
		for _, b := range []byte{0, 1, 2, 255} {
			c.Body(fmt.Sprint(b), describeCluster(2, 1, true, true), []byte{b, 1, b, 0})
		}
	}},
	{"protocol/names-not-utf8", func(s *Session) {
		for _, version := range []int16{1, 9} {
			r := metadata(version, "\xff\xfe", "a\xc3", "\xed\xa0\x80")
			s.Conn("a").Send(r)
		}
		s.Conn("a").Send(describeTopicPartitions(10, "\xff"))
	}},
	{"protocol/several-in-one-write", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		c.Pipeline(metadata(1, t.name), metadata(9, t.name), listOffsetsRequest(7, t.name, 0), fetch(12, at(t, 0, 6)),
			describeProducers(t.name, 0), describeCluster(2, 1, false, false), createTopics(7, newTopic(s.Topic("u"), 1, 1, "retention.ms", "x")),
			initProducerID(4, nil, 5, -1), offsetForLeaderEpoch(4, t.name, 0, -1, 0), describeTopicPartitions(10, t.name))
	}},
	{"protocol/bad-one-behind-good-ones", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		all := append(c.frame(metadata(9, t.name)), c.frame(listOffsetsRequest(7, t.name, 0))...)
		bad := requestHeader(999, 0, 77, "x")
		all = append(append(binary.BigEndian.AppendUint32(all, uint32(len(bad))), bad...), c.frame(metadata(9, t.name))...)
		c.write(all)
		for i, r := range []kmsg.Request{metadata(9, t.name), listOffsetsRequest(7, t.name, 0), metadata(9, t.name)} {
			c.step("answer")
			c.receive(r, int32(i)+c.correlation-2, true)
		}
	}},
}

// span is a request with the versions that both servers serve.
type span struct {
	kmsg.Key
	min, max int16
}

// brokerKeys are the requests that Barnabas serves to clients.
var brokerKeys = []span{
	{kmsg.Produce, 3, 13}, {kmsg.Fetch, 4, 18}, {kmsg.ListOffsets, 1, 11}, {kmsg.Metadata, 0, 13}, {kmsg.ApiVersions, 0, 5},
	{kmsg.CreateTopics, 2, 7}, {kmsg.DeleteTopics, 1, 6}, {kmsg.InitProducerID, 0, 5}, {kmsg.OffsetForLeaderEpoch, 2, 4},
	{kmsg.DescribeConfigs, 1, 4}, {kmsg.CreatePartitions, 0, 3}, {kmsg.DescribeCluster, 0, 2}, {kmsg.DescribeProducers, 0, 0},
	{kmsg.UnregisterBroker, 0, 0}, {kmsg.DescribeTopicPartitions, 0, 0},
}

// controllerKeys are those of the controller listener.
var controllerKeys = []span{
	{kmsg.ApiVersions, 0, 5}, {kmsg.CreateTopics, 2, 7}, {kmsg.DeleteTopics, 1, 6}, {kmsg.CreatePartitions, 0, 3}, {kmsg.AlterPartition, 2, 3},
	{kmsg.DescribeCluster, 0, 2}, {kmsg.BrokerRegistration, 0, 4}, {kmsg.BrokerHeartbeat, 0, 2}, {kmsg.UnregisterBroker, 0, 0},
	{kmsg.AllocateProducerIDs, 0, 0}, {kmsg.AssignReplicasToDirs, 0, 0},
}

func served(key kmsg.Key) span {
	if k, ok := find(brokerKeys, key); ok {
		return k
	}
	if k, ok := find(controllerKeys, key); ok {
		return k
	}
	return span{key, 0, 0}
}

func find(keys []span, key kmsg.Key) (span, bool) {
	at := slices.IndexFunc(keys, func(k span) bool { return k.Key == key })
	if at < 0 {
		return span{}, false
	}
	return keys[at], true
}

// emptyRequest is a request without anything in it.
func emptyRequest(k span, version int16) kmsg.Request {
	r := kmsg.RequestForKey(int16(k.Key))
	r.SetVersion(version)
	switch r := r.(type) {
	case *kmsg.ProduceRequest:
		r.Acks = 1
	case *kmsg.FetchRequest:
		r.ReplicaID, r.SessionEpoch = -1, -1
		r.ReplicaState.ID, r.ReplicaState.Epoch = -1, -1
	case *kmsg.MetadataRequest:
		r.Topics = []kmsg.MetadataRequestTopic{}
		if version == 0 { // where no topics are all topics
			return metadata(0, "a b")
		}
	case *kmsg.ApiVersionsRequest:
		r.ClusterID, r.NodeID = kmsg.StringPtr("x"), -1
	}
	return r
}

// frameWith sends req with the given header.
func (c *Conn) frameWith(what string, req kmsg.Request, header []byte) {
	c.Say("%s", what).step(describeRequest(req))
	c.correlation = 1
	body := req.AppendTo(nil)
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(header)+len(body)))
	c.receive(req, 1, c.write(append(append(frame, header...), body...)))
}

// manyTags is a section of n unknown tags without content.
func manyTags(n int) []byte {
	b := binary.AppendUvarint(nil, uint64(n))
	for i := range n {
		b = append(binary.AppendUvarint(b, uint64(100+i)), 0)
	}
	return b
}

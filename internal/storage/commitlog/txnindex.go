package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// AbortedTxn is a transaction that was aborted.
type AbortedTxn struct {
	ProducerID       kafka.ProducerID
	FirstOffset      kafka.Offset
	LastOffset       kafka.Offset // of its marker
	LastStableOffset kafka.Offset // at the moment of the marker
}

// txnEntrySize is the size of an entry of the transaction index: version i16, and
// the four fields of AbortedTxn.
const txnEntrySize = 34

func (t AbortedTxn) appendTo(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint16(b, 0)
	b = be.AppendUint64(b, uint64(t.ProducerID))
	b = be.AppendUint64(b, uint64(t.FirstOffset))
	b = be.AppendUint64(b, uint64(t.LastOffset))
	return be.AppendUint64(b, uint64(t.LastStableOffset))
}

var errBadTxnIndex = errors.New("bad transaction index")

func parseAbortedTxn(b []byte) (AbortedTxn, error) {
	be := binary.BigEndian
	if v := be.Uint16(b); v != 0 {
		return AbortedTxn{}, fmt.Errorf("%w: entry of version %d", errBadTxnIndex, v)
	}
	return AbortedTxn{
		ProducerID:       kafka.ProducerID(be.Uint64(b[2:])),
		FirstOffset:      kafka.Offset(be.Uint64(b[10:])),
		LastOffset:       kafka.Offset(be.Uint64(b[18:])),
		LastStableOffset: kafka.Offset(be.Uint64(b[26:])),
	}, nil
}

// eachAborted reads the entries of an index file in order until visit says false.
// A partial entry at the end is ignored.
func eachAborted(f vfs.File, page []byte, visit func(AbortedTxn) bool) error {
	page = page[:len(page)/txnEntrySize*txnEntrySize]
	for off := int64(0); ; {
		n, err := f.ReadAt(page, off)
		if err != nil && err != io.EOF {
			return err
		}
		for b := page[:n]; len(b) >= txnEntrySize; b = b[txnEntrySize:] {
			t, parseErr := parseAbortedTxn(b)
			if parseErr != nil {
				return parseErr
			}
			if !visit(t) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		off += int64(n)
	}
}

// addAborted appends to the transaction index of the active segment. Most
// segments never have one, so the file is made with its first entry.
func (l *Log) addAborted(t AbortedTxn) error {
	s := l.active()
	f, err := s.hold(l.env, l.dir, txnIndexSuffix, vfs.Create)
	if err != nil {
		return err
	}
	defer f.Release()
	size, err := f.Size()
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(t.appendTo(nil), size/txnEntrySize*txnEntrySize); err != nil {
		return err
	}
	s.hasTxnIndex.Store(true)
	return nil
}

// truncateTxnIndex drops the transactions whose marker is at or above o.
func (l *Log) truncateTxnIndex(s *segment, o kafka.Offset) error {
	if !s.hasTxnIndex.Load() {
		return nil
	}
	f, err := s.hold(l.env, l.dir, txnIndexSuffix, vfs.ReadWrite)
	if err != nil {
		return err
	}
	defer f.Release()
	b := l.env.getBlock()
	defer l.env.putBlock(b)
	var keep int64
	err = eachAborted(f, b[:], func(t AbortedTxn) bool {
		if t.LastOffset >= o {
			return false
		}
		keep += txnEntrySize
		return true
	})
	if err != nil {
		return err
	}
	return f.Truncate(keep)
}

// checkTxnIndex says whether the index of a segment can be one: its entries end
// in the segment or later. A missing file is a good one.
func checkTxnIndex(env *Env, dir string, s *segment) error {
	if !s.hasTxnIndex.Load() {
		return nil
	}
	f, err := env.FS.Open(filePath(dir, s.base, txnIndexSuffix), vfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	b := env.getBlock()
	defer env.putBlock(b)
	var wrong error
	err = eachAborted(f, b[:], func(t AbortedTxn) bool {
		if t.LastOffset < s.base {
			wrong = fmt.Errorf("%w: transaction ends at %d, below the segment", errBadTxnIndex, t.LastOffset)
		}
		return wrong == nil
	})
	return errors.Join(err, wrong, f.Close())
}

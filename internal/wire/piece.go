package wire

import "barnabas/internal/base/vfs"

// Piece is a part of an answer: bytes in memory, or a range of a file.
type Piece struct {
	Bytes []byte
	// File, if not nil, is held by the piece; whoever takes the piece releases it
	// once. Off and N are the range.
	File   *vfs.Shared
	Off, N int64
}

// Size is the number of bytes of a piece.
func (p *Piece) Size() int64 {
	if p.File != nil {
		return p.N
	}
	return int64(len(p.Bytes))
}

// Release gives back the file, if there is one.
func (p *Piece) Release() {
	if p.File != nil {
		p.File.Release()
		p.File = nil
	}
}

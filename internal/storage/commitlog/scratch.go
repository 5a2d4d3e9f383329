package commitlog

// block is a page for reading headers and index entries.
type block [pageBytes]byte

func (e *Env) getBlock() *block {
	if b, ok := e.blocks.Get().(*block); ok {
		return b
	}
	return new(block)
}

func (e *Env) putBlock(b *block) { e.blocks.Put(b) }

func (e *Env) getRun() *run {
	if r, ok := e.runs.Get().(*run); ok {
		return r
	}
	return new(run)
}

// putRun keeps the run's memory but nothing that it points to.
func (e *Env) putRun(r *run) {
	clear(r.iov)
	*r = run{iov: r.iov[:0], producers: r.producers[:0], begun: r.begun[:0]}
	e.runs.Put(r)
}

package timeline

import "cmp"

// Options bound what a [Recorder] keeps and writes. The zero value of a field means
// its default.
type Options struct {
	// Spans is the most intervals kept of all lanes together, default 1,000,000:
	// 3 to 6 bytes each once encoded. To record and encode a trace that reaches it takes
	// about 120 MB.
	Spans int
	// Lanes is the most goroutines with a lane of their own, default 20,000. Of more,
	// those that waited least to run are only counted, first of those that ended.
	Lanes int
	// Bytes is the most that the encoding takes, default 5 MB: as base64 in a page
	// a third more.
	Bytes int
}

func (o Options) withDefaults() Options {
	o.Spans = cmp.Or(o.Spans, 1_000_000)
	o.Lanes = max(1, min(cmp.Or(o.Lanes, 20_000), o.Spans/10))
	o.Bytes = cmp.Or(o.Bytes, 5_000_000)
	return o
}

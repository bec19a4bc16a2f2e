package requests

// SetLimit bounds what is kept.
func (t *Tracker) SetLimit(bytes int) { t.limit, t.sweepAt = bytes, bytes/2 }
